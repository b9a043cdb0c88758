"""Summing gradients over ranks while the backward pass still runs, and estimating the gradient noise from them.

Why not DistributedDataParallel: it is bound to the group it was constructed with, its constructor broadcasts all
parameters and buffers, which a resize does not need, and its other features (buckets, overlap with the backward
pass) are in this file.
"""

from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch

from .group import Group

_BUCKET_BYTES = 25 * 2**20
_SMOOTHING = 0.9


class _Bucket:
    """Gradients of some parameters, one behind the other in memory, so that one collective sums them."""

    def __init__(self, parameters: Sequence[torch.nn.Parameter]) -> None:
        self.parameters = list(parameters)
        self.views: List[torch.Tensor] = []
        self.missing = 0
        self.allocate()

    def allocate(self) -> None:
        first = self.parameters[0]
        self.flat = torch.zeros(sum(p.numel() for p in self.parameters), dtype=first.dtype, device=first.device)
        self.views = []
        begin = 0
        for parameter in self.parameters:
            self.views.append(self.flat[begin : begin + parameter.numel()].view_as(parameter))
            begin += parameter.numel()

    def claim(self) -> None:
        """Lets backward passes accumulate into the bucket; also where the script put a gradient of its own."""
        for parameter, view in zip(self.parameters, self.views):
            if parameter.grad is not view:
                if parameter.grad is not None:
                    view.copy_(parameter.grad)
                parameter.grad = view


class Gradients:
    """The gradients of a model's parameters, summed over a group bucket by bucket."""

    def __init__(self, parameters: Sequence[torch.nn.Parameter]) -> None:
        self._buckets = [_Bucket(each) for each in _grouped(parameters)]
        self._hooks: List[Any] = []
        self._group: Optional[Group] = None  # while the last micro-batch of a step runs
        self._works: List[Any] = []
        self._failure: Optional[RuntimeError] = None
        self._launched = 0
        self._measuring = False
        self.local_squared = 0.0
        for bucket in self._buckets:
            for parameter in bucket.parameters:
                self._hooks.append(_on_accumulated(parameter, self._accumulated(bucket)))
        self.clear()

    def clear(self) -> None:
        for bucket in self._buckets:
            bucket.flat.zero_()
            for parameter, view in zip(bucket.parameters, bucket.views):
                parameter.grad = view

    def renew(self) -> None:
        """Other memory: a broken group may still write to its buffers."""
        for bucket in self._buckets:
            bucket.allocate()
        self.clear()

    def sum_from_here(self, group: Group, measure: bool) -> None:
        """From now on each bucket is summed over the group as soon as the backward pass has completed it."""
        self._group, self._measuring = group, measure
        self._works, self._failure, self._launched, self.local_squared = [], None, 0, 0.0
        for bucket in self._buckets:
            bucket.missing = len(bucket.parameters)

    def finish(self, notes: torch.Tensor, local_squared_at: int) -> None:
        """Sums the gradients that the backward pass did not reach, then ``notes``, and waits for all sums.

        Raises the error of the first failed collective, after all of them have stopped using memory.
        """
        group, self._group = self._group, None
        while self._launched < len(self._buckets):
            self._launch(group)
        notes[local_squared_at] = self.local_squared
        self._start(group, notes)
        works, self._works = self._works, []
        try:
            group.finish(works)
        except RuntimeError as error:
            self._failure = self._failure or error
        if self._failure is not None:
            raise self._failure

    def squared(self) -> float:
        return sum(float(torch.dot(bucket.flat, bucket.flat)) for bucket in self._buckets)

    def _accumulated(self, bucket: _Bucket) -> Callable[..., None]:
        def hook(*_: Any) -> None:
            if self._group is None:
                return
            bucket.missing -= 1
            # Always in the same order, independent of this rank's backward pass.
            while self._launched < len(self._buckets) and self._buckets[self._launched].missing <= 0:
                self._launch(self._group)

        return hook

    def _launch(self, group: Group) -> None:
        bucket = self._buckets[self._launched]
        bucket.claim()
        if self._measuring:
            self.local_squared += float(torch.dot(bucket.flat, bucket.flat))
        self._launched += 1
        self._start(group, bucket.flat)

    def _start(self, group: Group, tensor: torch.Tensor) -> None:
        if self._failure is None:
            try:
                self._works.append(group.sum(tensor))
            except RuntimeError as error:  # raised by finish: here it would come out of the script's backward pass
                self._failure = error


def _grouped(parameters: Sequence[torch.nn.Parameter]) -> List[List[torch.nn.Parameter]]:
    """Backwards, as backward passes complete them; one type and device and at most some megabytes each."""
    groups: List[List[torch.nn.Parameter]] = []
    room: Dict[Tuple[torch.dtype, torch.device], Tuple[int, List[torch.nn.Parameter]]] = {}
    for parameter in reversed([p for p in parameters if p.requires_grad]):
        size = parameter.numel() * parameter.element_size()
        key = (parameter.dtype, parameter.device)
        left, group = room.get(key, (0, []))
        if size > left:
            left, group = _BUCKET_BYTES, []
            groups.append(group)
        group.append(parameter)
        room[key] = (left - size, group)
    return groups


def _on_accumulated(parameter: torch.nn.Parameter, hook: Callable[..., None]) -> Any:
    if hasattr(parameter, "register_post_accumulate_grad_hook"):  # PyTorch 2.1
        return parameter.register_post_accumulate_grad_hook(hook)
    node = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
    node.register_hook(hook)
    return node  # must be kept, or the hook is removed


@dataclass
class Noise:
    """Running estimates of how large and how noisy gradients are.

    A replica's gradient is a mean over fewer samples than the step's, so the difference of their squared norms gives
    the variance: Qiao et al., Pollux, OSDI 2021, section 3.1, after McCandlish et al., arXiv 1812.06162, appendix A.1.
    A single replica gives no estimate: the last estimates remain.
    """

    squared: Optional[float] = None
    variance: Optional[float] = None

    def observe(self, local: float, total: float, replicas: int, batch_ratio: float) -> None:
        """Takes a step's norms in.

        :param local: mean over replicas of the squared norm of the replica's gradient
        :param total: squared norm of the step's gradient
        :param batch_ratio: samples of the step over those of the initial batch, at which the variance is reported
        """
        if replicas < 2:
            return
        squared = (replicas * total - local) / (replicas - 1)
        variance = (local - total) * batch_ratio / (replicas - 1)
        self.squared = _smoothed(self.squared, squared)
        self.variance = _smoothed(self.variance, variance)


def _smoothed(before: Optional[float], now: float) -> float:
    return now if before is None else _SMOOTHING * before + (1 - _SMOOTHING) * now
