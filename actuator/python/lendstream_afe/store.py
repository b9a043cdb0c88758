"""The rendezvous store of a process group. It lives in the node process, so that any rank may leave or die."""

from datetime import timedelta
from typing import List, Optional

import torch.distributed as dist

from .wire import Connection

_TIMEOUT = timedelta(seconds=60)


class NodeStore(dist.Store):
    """The keys of one membership epoch. Once the node process ends the epoch, every wait on it fails at once."""

    def __init__(self, connection: Connection, epoch: int) -> None:
        super().__init__()
        self._connection = connection
        self._epoch = epoch

    def set(self, key: str, value: bytes) -> None:
        self._ask("set", [key], value if isinstance(value, bytes) else value.encode())

    def get(self, key: str) -> bytes:
        return self._ask("get", [key], timeout=_TIMEOUT)

    def wait(self, keys: List[str], timeout: Optional[timedelta] = None) -> None:
        self._ask("wait", keys, timeout=timeout or _TIMEOUT)

    def check(self, keys: List[str]) -> bool:
        return self._ask("check", keys) == b"1"

    def add(self, key: str, value: int) -> int:
        return int(self._ask("add", [key], str(value).encode()))

    def deleteKey(self, key: str) -> bool:  # the name by which libtorch calls it
        return self._ask("delete", [key]) == b"1"

    def clone(self) -> "NodeStore":
        return self

    def _ask(self, operation: str, keys: List[str], value: bytes = b"", timeout: timedelta = _TIMEOUT) -> bytes:
        request = {
            "type": "store",
            "epoch": self._epoch,
            "operation": operation,
            "keys": list(keys),
            "timeoutMillis": int(timeout.total_seconds() * 1000),
        }
        return self._connection.ask(request, value)
