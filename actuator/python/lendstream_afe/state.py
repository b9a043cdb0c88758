"""The training state of a rank: sent from peer to peer, or kept in a checkpoint."""

import os
import pickle
import threading
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple

import torch

from .data import Position
from .gradients import Noise
from .group import Group

_LARGE_BYTES = 2**20


@dataclass(frozen=True)
class _Hole:
    """Stands for a tensor in the description of a state."""

    index: int
    shape: Tuple[int, ...]
    dtype: torch.dtype
    on_cpu: bool


class TrainingState:
    """Model, optimiser, scheduler and scaler of a script, and the position in its data."""

    def __init__(self, model: torch.nn.Module, optimizer: Any, others: Dict[str, Any], device: torch.device) -> None:
        self.position = Position()
        self.noise = Noise()
        self._model = model
        self._optimizer = optimizer
        self._others = {name: each for name, each in others.items() if each is not None}
        self._device = device

    def send(self, group: Group, transfers: Sequence[Tuple[int, int]]) -> "Sending":
        """Starts to send the current state to peers.

        Until it has finished, the model's parameters and the optimiser's state must not change. All else may change:
        it is copied, so the next forward and backward pass may run meanwhile.
        """
        carrier = group.carrier
        tensors: List[torch.Tensor] = []
        description = pickle.dumps(self._described(tensors))
        buffers = {buffer.data_ptr() for buffer in self._model.buffers()}
        tensors = [each.clone() if each.data_ptr() in buffers else each.contiguous() for each in tensors]
        length = torch.tensor([len(description)], device=carrier)
        text = torch.frombuffer(bytearray(description), dtype=torch.uint8).to(carrier)
        flats = [_flat(parts, carrier) for parts in _packed(tensors)]
        works = group.copy([length], transfers)
        if group.overwritten(transfers):  # equal states have equal tensors, but descriptions of different length
            group.finish_copy(works)
            text = torch.zeros(int(length), dtype=torch.uint8, device=carrier)
        works += [work for each in ([text], flats) for work in group.copy(each, transfers)]
        return Sending(group, works, [length, text, *flats])

    def receive(self, group: Group, transfers: Sequence[Tuple[int, int]]) -> None:
        """Takes a peer's state over. After a failure the state is of no use."""
        carrier = group.carrier
        length = torch.zeros(1, dtype=torch.int64, device=carrier)
        group.finish_copy(group.copy([length], transfers))
        text = torch.zeros(int(length), dtype=torch.uint8, device=carrier)
        group.finish_copy(group.copy([text], transfers))
        described = pickle.loads(text.cpu().numpy().tobytes())
        mine: List[torch.Tensor] = []
        self._described(mine)
        holes: List[_Hole] = []
        _replaced(described, lambda leaf: holes.append(leaf) if isinstance(leaf, _Hole) else None)
        tensors = [self._room(hole, mine) for hole in holes]
        packed = _packed(tensors)
        flats = [_room_for(parts, carrier) for parts in packed]
        group.finish_copy(group.copy(flats, transfers))
        with torch.no_grad():
            for flat, parts in zip(flats, packed):
                if flat is not parts[0]:
                    _unpack(flat, parts)
            for own, told in zip(mine, tensors):
                if own is not told and own.shape == told.shape:
                    own.copy_(told)
        self._adopt(_replaced(described, lambda leaf: tensors[leaf.index] if isinstance(leaf, _Hole) else leaf))

    def snapshot(self) -> Dict[str, Any]:
        """A copy on the CPU, as a checkpoint keeps it."""
        return _replaced(
            self._plain(), lambda leaf: leaf.detach().to("cpu", copy=True) if torch.is_tensor(leaf) else leaf
        )

    def restore(self, snapshot: Dict[str, Any]) -> None:
        own = self._model.state_dict()
        for name, tensor in snapshot["model"].items():
            own[name].copy_(tensor)
        moved = _replaced(
            snapshot["optimizer"],
            lambda leaf: leaf.to(self._device) if torch.is_tensor(leaf) and leaf.dim() > 0 else leaf,
        )
        self._adopt({**snapshot, "optimizer": moved})

    def buffers(self) -> List[torch.Tensor]:
        return list(self._model.buffers())

    def forget_optimizer(self) -> None:
        self._optimizer.state.clear()

    def _plain(self) -> Dict[str, Any]:
        return {
            "model": dict(self._model.state_dict()),
            "optimizer": self._optimizer.state_dict(),
            "others": {name: each.state_dict() for name, each in self._others.items()},
            "position": vars(self.position).copy(),
            "noise": vars(self.noise).copy(),
        }

    def _described(self, tensors: List[torch.Tensor]) -> Dict[str, Any]:
        """The state with holes for its tensors, which are appended to the list."""

        def dig(leaf: Any) -> Any:
            if not torch.is_tensor(leaf):
                return leaf
            tensors.append(leaf.detach())
            return _Hole(len(tensors) - 1, tuple(leaf.shape), leaf.dtype, leaf.device.type == "cpu")

        return _replaced(self._plain(), dig)

    def _room(self, hole: _Hole, mine: List[torch.Tensor]) -> torch.Tensor:
        """Our own tensor of that kind, to be overwritten in place; new memory where there is none."""
        if hole.index < len(mine):
            own = mine[hole.index]
            if tuple(own.shape) == hole.shape and own.dtype == hole.dtype and own.is_contiguous():
                return own
        return torch.empty(hole.shape, dtype=hole.dtype, device="cpu" if hole.on_cpu else self._device)

    def _adopt(self, state: Dict[str, Any]) -> None:
        """Takes over all but the model, whose tensors have been overwritten."""
        parameters = [p for group in self._optimizer.param_groups for p in group["params"]]
        self._optimizer.state.clear()
        for index, values in state["optimizer"]["state"].items():
            self._optimizer.state[parameters[index]] = values
        for own, told in zip(self._optimizer.param_groups, state["optimizer"]["param_groups"]):
            own.update({name: value for name, value in told.items() if name != "params"})
        for name, each in self._others.items():
            each.load_state_dict(state["others"][name])
        self.position = Position(**state["position"])
        self.noise = Noise(**state["noise"])


class Checkpoints:
    """The last state of a job on disk, written beside training; a crash while writing leaves the one before."""

    def __init__(self, path: Optional[str]) -> None:
        self._path = path
        self._writer: Optional[threading.Thread] = None

    def load(self) -> Optional[Dict[str, Any]]:
        if self._path is None or not os.path.exists(self._path):
            return None
        return torch.load(self._path, map_location="cpu", weights_only=False)  # the job's own file

    def write(self, snapshot: Dict[str, Any]) -> None:
        if self._path is None:
            return
        self.wait()
        fresh = f"{self._path}.new"
        with open(fresh, "wb") as file:
            torch.save(snapshot, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, self._path)

    def write_behind(self, state: TrainingState) -> None:
        """Copies the state now and writes it on a thread; does nothing while the last one is still being written."""
        if self._path is None or (self._writer is not None and self._writer.is_alive()):
            return
        snapshot = state.snapshot()
        self._writer = threading.Thread(target=self.write, args=(snapshot,), name="afe-checkpoint")
        self._writer.start()

    def wait(self) -> None:
        if self._writer is not None and self._writer is not threading.current_thread():
            self._writer.join()


@dataclass(frozen=True)
class Sending:
    """A state on its way to peers; holds on to the memory that is sent."""

    group: Group
    works: List[Any]
    memory: List[torch.Tensor]

    def wait(self) -> None:
        self.group.finish_copy(self.works)


def _is_large(tensor: torch.Tensor) -> bool:
    return tensor.numel() * tensor.element_size() >= _LARGE_BYTES


def _packed(tensors: Sequence[torch.Tensor]) -> List[List[torch.Tensor]]:
    """Few transfers for many tensors: a large one alone, the small ones together by type."""
    small: Dict[torch.dtype, List[torch.Tensor]] = {}
    packed = []
    for tensor in tensors:
        if _is_large(tensor):
            packed.append([tensor])
        elif tensor.numel() > 0:
            small.setdefault(tensor.dtype, []).append(tensor)
    return packed + list(small.values())


def _flat(parts: List[torch.Tensor], carrier: torch.device) -> torch.Tensor:
    """The tensors as one to be sent: a large one itself, if it lies in the right place."""
    if _is_large(parts[0]):
        return parts[0].to(carrier)
    return torch.cat([part.reshape(-1).to(carrier) for part in parts])


def _room_for(parts: List[torch.Tensor], carrier: torch.device) -> torch.Tensor:
    """Where to receive the tensors: a large one itself, if it lies in the right place."""
    if _is_large(parts[0]) and parts[0].device.type == carrier.type:
        return parts[0]
    return torch.empty(sum(part.numel() for part in parts), dtype=parts[0].dtype, device=carrier)


def _unpack(flat: torch.Tensor, parts: List[torch.Tensor]) -> None:
    begin = 0
    for part in parts:
        part.copy_(flat[begin : begin + part.numel()].view_as(part))
        begin += part.numel()


def _replaced(value: Any, replace: Any) -> Any:
    """A copy of nested dictionaries, lists and tuples with every other value replaced."""
    if isinstance(value, dict):
        return {key: _replaced(each, replace) for key, each in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_replaced(each, replace) for each in value)
    return replace(value)
