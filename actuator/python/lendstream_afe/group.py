"""A process group that can be built beside another one, and broken from another thread."""

import ctypes
import os
import socket
from datetime import timedelta
from typing import Callable, List, Optional, Sequence, Set, Tuple

import torch
import torch.distributed as dist

# The timeout never matters: the node process breaks a group whose member died.
_TIMEOUT = timedelta(hours=6)
# How often a wait checks for a broken group, and how long after the break it gives up.
_PATIENCE = timedelta(milliseconds=200)


class Group:
    """Ranks that compute together; usable from one thread at a time, but ``abort`` may come from any."""

    def __init__(self, backend: str, store: dist.Store, rank: int, size: int, device: torch.device) -> None:
        self.rank = rank
        self.size = size
        self.aborted = False
        self._abandoned = False
        self._store = store  # NCCL reads it later too, and libtorch does not keep a store written in Python
        self._nccl = backend == "nccl"
        self._broadcasts = self._nccl  # its pairs need communicators of their own
        # Where tensors must lie to be copied. gloo would write to a GPU's memory while the backward pass uses it.
        self.carrier = device if self._nccl else torch.device("cpu")
        self._descriptors: List[int] = []
        self._sockets: List[socket.socket] = []
        before = _descriptors()
        if backend == "nccl":
            options = dist.ProcessGroupNCCL.Options()
            options._timeout = _TIMEOUT
            self._group = dist.ProcessGroupNCCL(store, rank, size, options)
        else:
            self._group = dist.ProcessGroupGloo(store, rank, size, _TIMEOUT)
            self._descriptors, self._sockets = _local_sockets(_descriptors() - before)
        # The first collective completes lazy initialisation, and proves that all members are present.
        self.sum(torch.zeros(1, device=device)).wait()
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    def sum(self, tensor: torch.Tensor) -> "dist.Work":
        """Adds up a tensor over all ranks, in place; returns a handle to wait for."""
        return self._group.allreduce([tensor], dist.AllreduceOptions())

    def copy(self, tensors: Sequence[torch.Tensor], transfers: Sequence[Tuple[int, int]]) -> List["dist.Work"]:
        """Overwrites tensors of some ranks with those of others; ``transfers`` are pairs of sender and receiver.

        With gloo each pair sends and receives separately. With NCCL the first sender broadcasts to all, and tensors
        must have the same size on all ranks.
        """
        if self._broadcasts:
            options = dist.BroadcastOptions()
            options.rootRank, options.rootTensor = transfers[0][0], 0
            return [self._group.broadcast([tensor], options) for tensor in tensors]
        works = []
        for sender, receiver in transfers:
            for tag, tensor in enumerate(tensors):
                if sender == self.rank:
                    works.append(self._group.send([tensor], receiver, tag))
                elif receiver == self.rank:
                    works.append(self._group.recv([tensor], sender, tag))
        return works

    def takes_part(self, transfers: Sequence[Tuple[int, int]]) -> bool:
        return bool(transfers) and (self._broadcasts or any(self.rank in pair for pair in transfers))

    def overwritten(self, transfers: Sequence[Tuple[int, int]]) -> bool:
        """Whether a copy overwrites this rank's tensors, although the rank may be no receiver."""
        return self._broadcasts and self.rank != transfers[0][0]

    def finish(self, works: Sequence["dist.Work"]) -> None:
        """Waits until all transfers have ended, then raises the error of the first that failed."""
        _finish(works, self._wait)

    def finish_copy(self, works: Sequence["dist.Work"]) -> None:
        """The same for copies. They are not interrupted: gloo would take a wait that ends early for a lost peer."""
        _finish(works, lambda work: work.wait())

    def _wait(self, work: "dist.Work") -> None:
        if self._nccl:  # aborting ends every wait
            work.wait()
            return
        while not self._abandoned:
            aborted = self.aborted
            try:
                work.wait(_PATIENCE)
                return
            except RuntimeError:
                if work.is_completed():
                    work.wait()  # raises its error, if it ended in time
                    return
            if aborted:
                self._abandon()
        raise RuntimeError("the group was broken, and gloo did not notice")

    def _abandon(self) -> None:
        """Leaves the group to itself for the life of the process.

        gloo in PyTorch 1.13 can miss the end of a connection: when a message has arrived in part and its receiver
        has failed meanwhile, it neither reads on nor gives up, but tries to write forever, and a rank that waits
        for that peer waits too. Another file under its descriptor's number takes the connection away from it, so
        that it becomes idle; its memory is not used again, and it is never destroyed, because that would block.
        """
        self._abandoned = True
        nothing = os.open(os.devnull, os.O_RDONLY)
        for descriptor, each in zip(self._descriptors, self._sockets):
            try:
                if os.path.sameopenfile(descriptor, each.fileno()):
                    os.dup2(nothing, descriptor)
            except OSError:
                pass  # gloo has closed it
            each.close()
        os.close(nothing)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._group))

    def abort(self) -> None:
        """Makes every collective of the group fail now, in this process and, with gloo, in its peers.

        With NCCL it ends without an error, and its result is invalid: the caller must check ``aborted``.
        """
        self.aborted = True
        for each in self._sockets:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # the peer closed it first
        if not self._sockets:
            for name in ("abort", "_abort"):  # NCCL, by the version of PyTorch
                if hasattr(self._group, name):
                    getattr(self._group, name)()
                    break

    def close(self) -> None:
        """Lets go of connections and threads; takes a while."""
        if self._abandoned:
            return
        if self._nccl:
            self.abort()  # all members have left it; without this PyTorch warns
        self._group = None
        for each in self._sockets:
            each.close()


def _finish(works: Sequence["dist.Work"], wait: Callable[["dist.Work"], object]) -> None:
    failure: Optional[RuntimeError] = None
    for work in works:
        try:
            wait(work)
        except RuntimeError as error:
            failure = failure or error
    if failure is not None:
        raise failure


def _descriptors() -> Set[int]:
    return {int(name) for name in os.listdir("/proc/self/fd")}


def _local_sockets(descriptors: Set[int]) -> Tuple[List[int], List[socket.socket]]:
    """Those descriptors that are connections within this machine, and duplicates of them.

    gloo in PyTorch 1.13 cannot be interrupted, but it notices at once that its connections were shut down. Duplicates,
    because a descriptor number may be reused as soon as gloo closes its own.
    """
    own, found = [], []
    for descriptor in descriptors:
        try:
            duplicate = os.dup(descriptor)
        except OSError:
            continue  # closed meanwhile, such as the listing of descriptors itself
        try:
            candidate = socket.socket(fileno=duplicate)
        except OSError:
            os.close(duplicate)
            continue
        if _connects_this_machine(candidate):
            own.append(descriptor)
            found.append(candidate)
        else:
            candidate.close()
    return own, found


def _connects_this_machine(candidate: socket.socket) -> bool:
    try:
        return (
            candidate.family in (socket.AF_INET, socket.AF_INET6)
            and candidate.getpeername()[0] == candidate.getsockname()[0]
        )
    except OSError:
        return False
