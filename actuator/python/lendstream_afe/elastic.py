"""The training loop of a script that may grow, shrink and lose ranks while it runs."""

import os
import statistics
import time
from collections import deque
from typing import Any, Callable, Deque, Iterator, List, Optional, Sequence

import torch
from torch.utils.data import DataLoader, default_collate

from . import membership as memberships
from .data import Batching, Loader, Order, micro_batches, shares
from .gradients import Gradients
from .membership import Seat, Transition
from .state import Checkpoints, Sending, TrainingState

_MEASURE_EVERY = 10
_MEDIAN_OF = 21


class Elastic:
    """Wraps model, optimiser and data of a training script; iterate over it for the steps.

    ::

        job = Elastic(model, optimizer, dataset, epochs=10, local_batch=32)
        for step in job:
            for inputs, targets in step:
                step.backward(loss_function(model(inputs), targets))
            step.finish()

    :param data: a data set, or a data loader whose data set, batch size and collation function are used
    :param epochs: how often every sample is processed
    :param local_batch: samples that one replica computes at once, until the scheduler changes it
    :param accumulation: number of such batches before gradients are summed
    :param initial_batch: samples of a step for which the learning rate was tuned; by default those of one replica
    :param seed: seed of the order of samples
    :param scheduler: scheduler of the learning rate; it is stepped here, once a step
    :param scaler: a gradient scaler for mixed precision
    :param rehearse: computes the loss of a collated batch; a worker that will join a running job calls it before,
        to finish one-time work first. The optimiser is exercised too, with gradients and rate zero.
    :param checkpoint: file for the state, written in the background by rank 0, read when a job starts
    """

    def __init__(
        self,
        model: torch.nn.Module,
        optimizer: Any,
        data: Any,
        *,
        epochs: int,
        local_batch: Optional[int] = None,
        accumulation: int = 1,
        initial_batch: Optional[int] = None,
        seed: int = 0,
        scheduler: Optional[Any] = None,
        scaler: Optional[Any] = None,
        rehearse: Optional[Callable[[Any], torch.Tensor]] = None,
        checkpoint: Optional[str] = None,
        checkpoint_seconds: float = 60.0,
        report_seconds: float = 1.0,
    ) -> None:
        collate: Callable[[List[Any]], Any] = default_collate
        if isinstance(data, DataLoader):
            local_batch, collate, data = local_batch or data.batch_size, data.collate_fn, data.dataset
        if not local_batch or local_batch < 1 or accumulation < 1:
            raise ValueError(f"local_batch and accumulation must be at least 1, but are {local_batch}, {accumulation}")
        self.device = next(model.parameters()).device
        self.batching = Batching(local_batch, accumulation)
        self._initial_batch = initial_batch or self.batching.step_samples(1)
        self._epochs = epochs
        self._optimizer, self._scheduler, self._scaler = optimizer, scheduler, scaler
        self._dataset, self._collate, self._rehearse = data, collate, rehearse
        self._order = Order(len(data), seed)
        self._loader = Loader(data, collate)
        self._gradients = Gradients([p for group in optimizer.param_groups for p in group["params"]])
        self._state = TrainingState(model, optimizer, {"scheduler": scheduler, "scaler": scaler}, self.device)
        self._checkpoints = Checkpoints(checkpoint)
        self._checkpoint_seconds, self._report_seconds = checkpoint_seconds, report_seconds
        backend = os.environ.get("LENDSTREAM_AFE_BACKEND", "nccl" if self.device.type == "cuda" else "gloo")
        self._membership = memberships.of_environment(backend, self.device)
        self._usable = True  # false while a peer's state is being received
        self._candidate: Optional[Transition] = None
        self._sending: Optional[Sending] = None
        self._seconds: Deque[float] = deque(maxlen=_MEDIAN_OF)
        self._ended = time.monotonic()
        self._last_report = self._last_checkpoint = time.monotonic()
        self._steps_of_seat = 0
        self._ended_before_seat: Optional[float] = None

    @property
    def ended_nanos(self) -> int:
        """When the last step was completed, by the machine's monotonic clock."""
        return int(self._ended * 1e9)

    @property
    def rank(self) -> int:
        return self._seat.plan.rank

    @property
    def world(self) -> int:
        return self._seat.plan.size

    @property
    def membership_epoch(self) -> int:
        return self._seat.plan.epoch

    def __iter__(self) -> Iterator["Step"]:
        if self._rehearse is not None:
            self._rehearsal(self._rehearse)
        self._take(self._membership.join())
        position = self._state.position
        while position.epoch < self._epochs:
            step = Step(self)
            yield step
            if not step._over:
                raise RuntimeError("the loop continued before step.finish() was called")
            if step._lost is not None:
                self._take(self._replacement(step._lost))
            elif step._last:
                self._stop()
            elif step._boundary:
                self._boundary()
            position = self._state.position
        if self._sending is not None:
            self._sending.wait()
        self._checkpoints.wait()
        self._membership.finish()

    def _rehearsal(self, rehearse: Callable[[Any], torch.Tensor]) -> None:
        kept = [(buffer, buffer.clone()) for buffer in self._state.buffers()]
        batch = [self._dataset[sample] for sample in range(min(self.batching.local_batch, len(self._dataset)))]
        rehearse(self._collate(batch)).backward()
        self._gradients.clear()
        rates = [group["lr"] for group in self._optimizer.param_groups]
        for group in self._optimizer.param_groups:
            group["lr"] = 0.0
        self._optimizer.step()
        for group, rate in zip(self._optimizer.param_groups, rates):
            group["lr"] = rate
        with torch.no_grad():
            for buffer, before in kept:
                buffer.copy_(before)

    def _take(self, seat: Seat) -> None:
        """Takes a seat, and another if that one breaks before the state is there."""
        while True:
            self._begin(seat)
            try:
                self._hand_over(seat)
                return
            except torch.cuda.OutOfMemoryError:
                raise
            except RuntimeError as error:
                seat = self._replacement(error)

    def _begin(self, seat: Seat) -> None:
        plan = seat.plan
        self._seat = seat
        self._steps_of_seat = 0
        if plan.batching is not None:
            self.batching = plan.batching
        if plan.kind == "start" and plan.rank == 0:
            self._state.forget_optimizer()
            snapshot = self._checkpoints.load()
            if snapshot is not None:
                self._state.restore(snapshot)

    def _hand_over(self, seat: Seat) -> None:
        """Receives the state, or starts to send it."""
        plan = seat.plan
        receives = any(receiver == plan.rank for _, receiver in plan.transfers)
        if receives:
            self._usable = False
            self._state.receive(seat.group, plan.transfers)
            if self.device.type == "cuda":
                torch.cuda.synchronize(self.device)
            if seat.group.aborted:
                raise RuntimeError("the group was broken")
            self._usable = True
            self._ended = time.monotonic()
        elif seat.group.takes_part(plan.transfers):
            self._sending = self._state.send(seat.group, plan.transfers)

    def _replacement(self, error: RuntimeError) -> Seat:
        print(f"lendstream_afe: a rank was lost, waiting for a group without it ({str(error)[:200]})", flush=True)
        sending, self._sending = self._sending, None
        seat = self._membership.recover(self._state.position.step if self._usable else -1)
        del sending  # its memory was needed until all transfers had ended
        self._gradients.renew()
        self._ended_before_seat = self._ended
        return seat

    def _contributors(self) -> List[int]:
        plan = self._seat.plan
        late = plan.newcomers if self._steps_of_seat == 0 else ()
        return [rank for rank in range(plan.size) if rank not in late]

    def _share(self, ahead: int) -> "tuple[List[int], List[Sequence[int]]]":
        """All samples of the next step, or the one after it, and this rank's micro-batches of them."""
        contributors = self._contributors()
        position = self._state.position
        count = self.batching.step_samples(len(contributors))
        samples = self._order.step_samples(position, count * (1 + ahead))[count * ahead :]
        if self.rank not in contributors:
            return samples, []
        share = shares(samples, len(contributors))[contributors.index(self.rank)]
        return samples, micro_batches(share, self.batching.local_batch)

    def _apply(self) -> None:
        """The optimiser's step, with the learning rate scaled as decided; the scheduler knows nothing of the scale."""
        groups = self._optimizer.param_groups
        rates = [group["lr"] for group in groups]
        for group in groups:
            group["lr"] = group["lr"] * self.batching.learning_rate_scale
        if self._scaler is not None:
            self._scaler.step(self._optimizer)
            self._scaler.update()
        else:
            self._optimizer.step()
        for group, rate in zip(groups, rates):
            group["lr"] = rate
        if self._scheduler is not None:
            self._scheduler.step()

    def _completed(self, samples: int, sync_seconds: float) -> None:
        position = self._state.position
        position.advance(samples, self._order.size)
        self._membership.completed(position.step)
        self._steps_of_seat += 1
        now = time.monotonic()
        seconds = now - self._ended
        self._tell_change(now)
        self._ended = now
        self._seconds.append(seconds)
        if self.rank != 0:
            return
        if now - self._last_report >= self._report_seconds:
            self._last_report = now
            self._report(seconds, sync_seconds)
        if now - self._last_checkpoint >= self._checkpoint_seconds:
            self._last_checkpoint = now
            self._checkpoints.write_behind(self._state)

    def _tell_change(self, now: float) -> None:
        """After the first step in a seat: how long training paused; after the first with all: that all take part."""
        if self._steps_of_seat > 2:
            return
        told = {"epoch": self.membership_epoch, "nanos": int(now * 1e9), "step": self._state.position.step}
        if self._steps_of_seat == 1:
            before = self._ended_before_seat
            median = statistics.median(self._seconds) if self._seconds else 0.0
            pause = {} if before is None else {"lastNanos": int(before * 1e9), "medianSeconds": median}
            self._membership.tell({"type": "resumed", **told, **pause})
            self._ended_before_seat = None
        if self._steps_of_seat == (2 if self._seat.plan.newcomers else 1):
            self._membership.tell({"type": "full", **told})

    def _report(self, seconds: float, sync_seconds: float) -> None:
        position, noise = self._state.position, self._state.noise
        self._membership.tell(
            {
                "type": "progress",
                "step": position.step,
                "progress": position.samples / self._initial_batch,
                "totalProgress": self._epochs * self._order.size / self._initial_batch,
                "replicas": self.world,
                "localBatch": self.batching.local_batch,
                "accumulation": self.batching.accumulation,
                "stepSeconds": seconds,
                "syncSeconds": min(sync_seconds, seconds),
                "gradientSquared": None if noise.squared is None else max(noise.squared, 0.0),
                "gradientVariance": None if noise.variance is None else max(noise.variance, 0.0),
            }
        )

    def _boundary(self) -> None:
        """All ranks know of the next transition: it is now."""
        transition = self._candidate
        if transition.checkpoint:
            if self.rank == 0:
                self._checkpoints.write(self._state.snapshot())
            self._membership.passes(transition, self._state.position.step)
        self._ended_before_seat = self._ended
        self._take(self._membership.switch(transition, self._state.position.step))

    def _stop(self) -> None:
        median = statistics.median(self._seconds)
        self._membership.tell({"type": "stopped", "lastNanos": self.ended_nanos, "medianSeconds": median})
        if self.rank == 0:
            self._checkpoints.write(self._state.snapshot())
        self._membership.wait_for_all()  # on another machine the job may go on as soon as its rank has left
        raise SystemExit(0)


class Step:
    """One step of training: iterate over it for this rank's micro-batches; there may be none."""

    def __init__(self, job: Elastic) -> None:
        self._job = job
        self.number = job._state.position.step
        self.samples, self._batches = job._share(0)
        self._over = False
        self._last = False
        self._boundary = False
        self._lost: Optional[RuntimeError] = None
        self._at = -1
        self._summing = False
        self._measure = (
            self.number % _MEASURE_EVERY == 0
            and job.world > 1
            and len(self.samples) == job.batching.step_samples(job.world)
        )

    @property
    def indices(self) -> List[int]:
        """This rank's samples."""
        return [sample for batch in self._batches for sample in batch]

    def __iter__(self) -> Iterator[Any]:
        loader = self._job._loader
        loaded = loader.load(self._batches)
        loader.expect(self._job._share(1)[1])
        for self._at, batch in enumerate(loaded):
            yield batch

    def backward(self, loss: torch.Tensor) -> None:
        """Adds a micro-batch's gradients; ``loss`` is the mean over its samples."""
        if self._at == len(self._batches) - 1:
            self._sum_from_here()
        loss = loss * (len(self._batches[self._at]) / len(self.samples))
        scaler = self._job._scaler
        (loss if scaler is None else scaler.scale(loss)).backward()

    def finish(self) -> bool:
        """Sums gradients over all ranks and updates the model.

        False if a rank was lost: the step had no effect, and the next step processes these samples again.
        """
        job = self._job
        self._over = True
        self._sum_from_here()
        if job._scaler is not None:
            job._scaler.scale(torch.zeros((), device=job.device))  # a rank without samples has not initialised it
        job._candidate = job._membership.candidate()
        began = time.monotonic()
        notes = torch.tensor(
            [float(job._candidate is not None), float(job._membership.stopping), 0.0],
            dtype=torch.float64,
            device=job.device,
        )
        try:
            job._gradients.finish(notes, local_squared_at=2)
            if job._sending is not None:
                job._sending.wait()
            knowing, stopping, local_squared = notes.tolist()  # on a GPU, this waits for the sums
            if job._seat.group.aborted:
                raise RuntimeError("the group was broken")
        except RuntimeError as error:
            self._lost = error
            return False
        job._sending = None
        sync_seconds = time.monotonic() - began
        if self._measure:
            scale = 1.0 if job._scaler is None else job._scaler.get_scale() ** 2
            job._state.noise.observe(
                # A rank's bucket holds its share of the mean: 1 / world of its own mean gradient.
                local_squared * job.world / scale,
                job._gradients.squared() / scale,
                job.world,
                len(self.samples) / job._initial_batch,
            )
        self._last = stopping > 0
        self._boundary = knowing == job.world
        leaves = False
        if self._boundary and not job._candidate.checkpoint:
            job._membership.passes(job._candidate, job._state.position.step + 1)
            leaves = job._candidate.leave
        if not leaves:  # a leaving rank needs no model
            job._apply()
            job._gradients.clear()
        job._completed(len(self.samples), sync_seconds)
        return True

    def _sum_from_here(self) -> None:
        if not self._summing:
            self._summing = True
            self._job._gradients.sum_from_here(self._job._seat.group, self._measure)
