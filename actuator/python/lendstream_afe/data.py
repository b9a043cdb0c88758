"""Which samples a step takes, and loading them ahead."""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Callable, List, Optional, Sequence, Tuple

import torch


@dataclass(frozen=True)
class Batching:
    """How a step's samples are made up: each replica takes ``local_batch`` samples ``accumulation`` times."""

    local_batch: int
    accumulation: int = 1
    learning_rate_scale: float = 1.0

    def step_samples(self, replicas: int) -> int:
        return replicas * self.local_batch * self.accumulation


@dataclass
class Position:
    """How far training is; the same on every rank."""

    step: int = 0
    epoch: int = 0
    offset: int = 0  # samples of the epoch already taken
    samples: int = 0  # samples taken in all

    def advance(self, samples: int, epoch_size: int) -> None:
        self.step += 1
        self.samples += samples
        self.offset += samples
        if self.offset >= epoch_size:
            self.epoch += 1
            self.offset = 0


class Order:
    """The order of samples: one shuffle of the data set per epoch, by seed, the same on every rank."""

    def __init__(self, size: int, seed: int) -> None:
        self.size = size
        self._seed = seed
        self._epoch = -1
        self._shuffle: List[int] = []

    def step_samples(self, position: Position, count: int) -> List[int]:
        """The samples of a step over all ranks: the next ``count`` of the epoch, fewer at its end."""
        if position.epoch != self._epoch:
            generator = torch.Generator().manual_seed(self._seed * 1_000_003 + position.epoch)
            self._shuffle = torch.randperm(self.size, generator=generator).tolist()
            self._epoch = position.epoch
        return self._shuffle[position.offset : position.offset + count]


def shares(samples: Sequence[int], replicas: int) -> List[Sequence[int]]:
    """Cuts a step's samples into one run per replica; runs differ by one sample at most, and some may be empty."""
    bounds = [len(samples) * replica // replicas for replica in range(replicas + 1)]
    return [samples[begin:end] for begin, end in zip(bounds, bounds[1:])]


def micro_batches(share: Sequence[int], local_batch: int) -> List[Sequence[int]]:
    return [share[begin : begin + local_batch] for begin in range(0, len(share), local_batch)]


class Loader:
    """Collates micro-batches, one step ahead of the one that is computed."""

    def __init__(self, dataset: Any, collate: Callable[[List[Any]], Any]) -> None:
        self._dataset = dataset
        self._collate = collate
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="afe-data")
        self._ahead: Optional[Tuple[List[Sequence[int]], "Future[List[Any]]"]] = None

    def load(self, batches: List[Sequence[int]]) -> List[Any]:
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead[0] == batches:
            return ahead[1].result()
        return self._collated(batches)

    def expect(self, batches: List[Sequence[int]]) -> None:
        """Starts to load what will probably be asked for next."""
        self._ahead = (batches, self._thread.submit(self._collated, batches))

    def _collated(self, batches: List[Sequence[int]]) -> List[Any]:
        return [self._collate([self._dataset[sample] for sample in batch]) for batch in batches]
