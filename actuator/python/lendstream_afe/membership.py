"""Which ranks train together, as ordered by the node process, or by the environment without one."""

import os
import signal
import sys
import threading
import traceback
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple

import torch
import torch.distributed as dist

from .data import Batching
from .group import Group
from .store import NodeStore
from .wire import Connection, Message


_FAREWELL_SECONDS = 10.0

# The node process watches the ranks. Without these PyTorch ends this process when NCCL misses another one.
_WATCHED_BY_OTHERS = {"TORCH_NCCL_ASYNC_ERROR_HANDLING": "0", "TORCH_NCCL_ENABLE_MONITORING": "0"}


@dataclass(frozen=True)
class Plan:
    """A membership epoch, seen by one of its ranks."""

    epoch: int
    kind: str  # start: no rank trains yet; change: between two steps; recover: after a rank was lost
    rank: int
    size: int
    newcomers: Tuple[int, ...] = ()  # ranks without samples in their first step, while they receive the state
    transfers: Tuple[Tuple[int, int], ...] = ()  # pairs of sender and receiver of the state
    batching: Optional[Batching] = None

    @staticmethod
    def of(message: Message) -> "Plan":
        batching = message.get("batching")
        return Plan(
            message["epoch"],
            message["kind"],
            message["rank"],
            message["size"],
            tuple(message["newcomers"]),
            tuple((sender, receiver) for sender, receiver in message["transfers"]),
            batching
            and Batching(batching["localBatch"], batching["accumulation"], batching["learningRateScale"]),
        )


@dataclass(frozen=True)
class Seat:
    """A rank's place in a group that is ready for use."""

    plan: Plan
    group: Group


@dataclass(frozen=True)
class Transition:
    """What all ranks are to do once all of them know of it: take their next seat, or leave."""

    epoch: int
    leave: bool = False
    checkpoint: bool = False


class NodeMembership:
    """Follows the node process: builds groups beside training, and breaks those that have lost a member."""

    def __init__(self, path: str, worker: str, token: str, backend: str, device: torch.device) -> None:
        self._worker, self._token = worker, token
        self._backend, self._device = backend, device
        self._changed = threading.Condition()
        self._phase = "starting"
        self._step = -1
        self._seat: Optional[Seat] = None
        self._built: Dict[int, Seat] = {}
        self._committed: Optional[Transition] = None
        self._aborted = 0
        self._done = 0
        self._passed = 0
        self._retired: List[Group] = []
        self._farewell = threading.Event()
        self._connection = Connection(path, self._hello, self._on_message)
        for name, value in _WATCHED_BY_OTHERS.items():
            os.environ.setdefault(name, value)
        self._connection.start()

    @property
    def stopping(self) -> bool:
        return False  # the node process starts a transition for it

    def join(self) -> Seat:
        """Reports that this worker is ready to train, and waits for the order."""
        self._enter("ready", -1)
        self._connection.send({"type": "ready"})
        return self._await_seat()

    def candidate(self) -> Optional[Transition]:
        with self._changed:
            return self._committed

    def passes(self, transition: Transition, step: int) -> None:
        """All ranks know of the transition, and this one needs no peer any more to complete its last step before it."""
        self._passed = transition.epoch
        self._connection.send({"type": "boundary", "epoch": transition.epoch, "step": step})

    def switch(self, transition: Transition, step: int) -> Seat:
        """Follows a transition when the step before it is complete. Does not return if this rank must leave."""
        with self._changed:
            retired = [self._seat.group] if self._seat is not None else []
            if self._done < transition.epoch:
                self._retired += retired
                retired = []
            self._seat = None
            self._step = step
            if self._committed is not None and self._committed.epoch <= transition.epoch:
                self._committed = None
            self._phase = "leaving" if transition.leave else "training"
            while transition.leave and self._done < transition.epoch:
                self._changed.wait()  # a peer may still need this rank for its last collective
            while not transition.leave and transition.epoch not in self._built and self._aborted < transition.epoch:
                self._changed.wait()
            self._seat = self._built.pop(transition.epoch, None)
        if transition.leave:
            _exit_now()
        _close_behind(retired)
        return self._seat or self.recover(step)

    def recover(self, step: int) -> Seat:
        """Waits for a group without those that were lost; ``step`` is the last completed, -1 without a usable state."""
        with self._changed:
            broken, self._seat = self._seat, None
            self._committed = None
        if broken is not None:
            broken.group.abort()
            _close_behind([broken.group])
        self._enter("broken", step)
        epoch = broken.plan.epoch if broken is not None else 0
        self._connection.send({"type": "broken", "epoch": epoch, "step": step})
        return self._await_seat()

    def completed(self, step: int) -> None:
        self._step = step

    def tell(self, message: Message) -> None:
        self._connection.send(message)

    def finish(self) -> None:
        """Training is over; waits until it is for all, for the last collective may not have ended everywhere."""
        self._connection.send({"type": "bye"})
        self._farewell.wait(_FAREWELL_SECONDS)

    def _on_farewell(self, _: Message) -> None:
        self._farewell.set()

    def _enter(self, phase: str, step: int) -> None:
        with self._changed:
            self._phase, self._step = phase, step

    def _await_seat(self) -> Seat:
        with self._changed:
            while True:
                committed = self._committed.epoch if self._committed else 0
                ready = [
                    each for each in self._built.values() if each.plan.kind != "change" or each.plan.epoch == committed
                ]
                if ready:
                    seat = self._built.pop(ready[0].plan.epoch)
                    self._committed = None
                    break
                self._changed.wait()
            self._seat, self._phase, self._passed = seat, "training", seat.plan.epoch
        self._connection.send({"type": "boundary", "epoch": seat.plan.epoch, "step": self._step})
        return seat

    def _hello(self) -> Message:
        with self._changed:
            return {
                "worker": self._worker,
                "token": self._token,
                "phase": self._phase,
                "step": self._step,
                "epoch": self._seat.plan.epoch if self._seat else 0,
                "passed": self._passed,
                "prepared": sorted(self._built),
            }

    def _on_message(self, message: Message) -> None:
        handle = getattr(self, "_on_" + message["type"], None)
        if handle is not None:  # a newer node process may send messages unknown to this version
            handle(message)

    def _on_prepare(self, message: Message) -> None:
        plan = Plan.of(message)
        with self._changed:
            # An epoch that this rank has entered or agreed to takes effect when its step is complete.
            needed = self._passed, self._committed.epoch if self._committed else 0
            outdated = [self._built.pop(epoch).group for epoch in list(self._built) if epoch not in needed]
        _close_behind(outdated)
        threading.Thread(target=self._build, args=(plan,), name="afe-build", daemon=True).start()

    def _build(self, plan: Plan) -> None:
        try:
            store = NodeStore(self._connection, plan.epoch)
            group = Group(self._backend, store, plan.rank, plan.size, self._device)
        except Exception as error:  # for any error the node process retries or continues without this rank
            self._connection.send({"type": "unprepared", "epoch": plan.epoch, "why": str(error)[:500]})
            return
        with self._changed:
            if plan.epoch <= self._aborted:
                group.abort()
                return
            self._built[plan.epoch] = Seat(plan, group)
            self._changed.notify_all()
        self._connection.send({"type": "prepared", "epoch": plan.epoch})

    def _on_commit(self, message: Message) -> None:
        with self._changed:
            if message["epoch"] > self._passed:
                self._committed = Transition(
                    message["epoch"], message.get("leave", False), message.get("checkpoint", False)
                )
            self._changed.notify_all()

    def _on_done(self, message: Message) -> None:
        """All ranks have entered the epoch: the previous group is no longer needed."""
        with self._changed:
            self._done = message["epoch"]
            retired, self._retired = self._retired, []
            self._changed.notify_all()
        _close_behind(retired)

    def _on_abort(self, message: Message) -> None:
        with self._changed:
            self._aborted = max(self._aborted, message["epoch"])
            seats = [self._built.pop(epoch) for epoch in list(self._built) if epoch <= self._aborted]
            if self._seat is not None and self._seat.plan.epoch <= self._aborted:
                seats.append(self._seat)
            if self._committed is not None and self._committed.epoch <= self._aborted:
                self._committed = None
            self._changed.notify_all()
            groups = [seat.group for seat in seats] + self._retired
            phase = self._phase
        for group in groups:
            group.abort()
        self._connection.send({"type": "aborted", "epoch": message["epoch"], "phase": phase})

    def _on_leave(self, _: Message) -> None:
        _exit_now()


class PlainMembership:
    """The ranks that the environment names, as torchrun sets it, for as long as the process lives.

    SIGTERM ends training after the current step, on all ranks, with a checkpoint. While it waits for the other ranks,
    which may be on machines that are late, SIGTERM ends the process at once.
    """

    def __init__(self, backend: str, device: torch.device, observer: Optional[Connection]) -> None:
        self.stopping = False
        self._backend, self._device = backend, device
        self._observer = observer

    def join(self) -> Seat:
        store: Any = dist.HashStore()
        rank, size = 0, 1
        if "RANK" in os.environ:
            store, rank, size = next(dist.rendezvous("env://"))
        self._group = Group(self._backend, dist.PrefixStore("lendstream", store), rank, size, self._device)
        self._store = store  # with static rendezvous it lives in rank 0, and must be kept
        signal.signal(signal.SIGTERM, self._stop)
        transfers = tuple((0, receiver) for receiver in range(1, size))
        return Seat(Plan(1, "start", rank, size, (), transfers, _batching_of_environment()), self._group)

    def candidate(self) -> Optional[Transition]:
        return None

    def passes(self, transition: Transition, step: int) -> None:
        raise AssertionError("without a node process there are no transitions")

    def switch(self, transition: Transition, step: int) -> Seat:
        raise AssertionError("without a node process there are no transitions")

    def recover(self, step: int) -> Seat:
        raise RuntimeError(f"a rank was lost after step {step}, and there is no node process to replace it")

    def completed(self, step: int) -> None:
        pass

    def tell(self, message: Message) -> None:
        if self._observer is not None:
            self._observer.send(message)

    def wait_for_all(self) -> None:
        self._group.sum(torch.zeros(1, device=self._device)).wait()

    def finish(self) -> None:
        self.wait_for_all()  # no rank leaves before the others have finished
        self.tell({"type": "bye"})

    def _stop(self, *_: Any) -> None:
        self.stopping = True


def of_environment(backend: str, device: torch.device) -> Any:
    """The membership set by environment variables of the node process; without them, the plain one."""
    path = os.environ.get("LENDSTREAM_AFE_SOCKET")
    if path is None:
        return PlainMembership(backend, device, None)
    worker, token = os.environ["LENDSTREAM_AFE_WORKER"], os.environ["LENDSTREAM_AFE_TOKEN"]
    if os.environ["LENDSTREAM_AFE_MODE"] == "elastic":
        return NodeMembership(path, worker, token, backend, device)
    observer = None
    first_here = "LENDSTREAM_AFE_SPEAKER" in os.environ and os.environ.get("LOCAL_RANK", "0") == "0"
    if first_here or os.environ.get("RANK", "0") == "0":
        observer = Connection(path, lambda: {"worker": worker, "token": token, "phase": "observed"}, lambda _: None)
        observer.start()
    return PlainMembership(backend, device, observer)


def _batching_of_environment() -> Optional[Batching]:
    if "LENDSTREAM_LOCAL_BATCH" not in os.environ:
        return None
    return Batching(
        int(os.environ["LENDSTREAM_LOCAL_BATCH"]),
        int(os.environ["LENDSTREAM_ACCUMULATION"]),
        float(os.environ["LENDSTREAM_LEARNING_RATE_SCALE"]),
    )


def _close_behind(groups: List[Group]) -> None:
    def close() -> None:
        for group in groups:
            try:
                group.close()
            except Exception:
                traceback.print_exc()

    if groups:
        threading.Thread(target=close, name="afe-close", daemon=True).start()


def _exit_now() -> None:
    """Without the interpreter's end, which takes long and, with threads inside a collective, may hang."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
