"""The connection to the node process: frames over a local socket, see docs/afe.md."""

import json
import os
import socket
import struct
import sys
import threading
import time
from typing import Any, Callable, Dict, Optional, Tuple

VERSION = 1
_LENGTHS = struct.Struct("!II")
_RETRY_SECONDS = 0.05

Message = Dict[str, Any]


class Refused(Exception):
    """The node process does not want this worker."""


class Connection:
    """Keeps a worker in touch with the node process, over restarts of the latter.

    ``on_message`` runs on the connection's own thread. ``hello`` returns the worker's identity and phase; it is
    called for each new connection.
    """

    def __init__(self, path: str, hello: Callable[[], Message], on_message: Callable[[Message], None]) -> None:
        self._path = path
        self._hello = hello
        self._on_message = on_message
        self._socket: Optional[socket.socket] = None
        self._sending = threading.Lock()
        self._asking = threading.Condition()
        self._answers: Dict[int, Optional[Tuple[Message, bytes]]] = {}
        self._requests = 0

    def start(self) -> None:
        connection = self._connect()
        threading.Thread(target=self._read_for_ever, args=(connection,), name="afe-control", daemon=True).start()

    def send(self, message: Message, body: bytes = b"") -> bool:
        """False without a connection; the next hello then reports the current state."""
        with self._sending:
            if self._socket is None:
                return False
            try:
                write(self._socket, message, body)
                return True
            except OSError:
                return False

    def ask(self, message: Message, body: bytes = b"") -> bytes:
        """Sends a request and waits for its answer, however long the node process takes for it."""
        with self._asking:
            self._requests += 1
            number = self._requests
            self._answers[number] = None
        try:
            if not self.send({**message, "id": number}, body):
                raise ConnectionError("the node process is not reachable")
            with self._asking:
                while self._answers[number] is None:
                    self._asking.wait()
                answer, value = self._answers[number]
        finally:
            with self._asking:
                del self._answers[number]
        if "error" in answer:
            raise (TimeoutError if answer.get("late") else ConnectionError)(answer["error"])
        return value

    def _connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(self._path)
        write(connection, {"type": "hello", "version": VERSION, "pid": os.getpid(), **self._hello()})
        answer, _ = read(connection)
        if answer["type"] != "welcome":
            raise Refused(answer.get("why", f"the node process answered {answer['type']}"))
        self._socket = connection
        return connection

    def _read_for_ever(self, connection: socket.socket) -> None:
        while True:
            try:
                while True:
                    message, body = read(connection)
                    if message["type"] == "answer":
                        self._answer(message["id"], message, body)
                    else:
                        self._on_message(message)
            except OSError:
                connection.close()
            connection = self._reconnect()

    def _reconnect(self) -> socket.socket:
        with self._sending:
            self._socket = None
        with self._asking:
            waiting = [number for number, answer in self._answers.items() if answer is None]
        for number in waiting:
            self._answer(number, {"error": "the node process closed the connection"}, b"")
        while True:
            try:
                return self._connect()
            except Refused as refusal:  # it no longer knows this worker and would never end this process
                print(f"lendstream_afe: {refusal}", file=sys.stderr, flush=True)
                os._exit(1)
            except OSError:
                time.sleep(_RETRY_SECONDS)

    def _answer(self, number: int, message: Message, body: bytes) -> None:
        with self._asking:
            if number in self._answers:
                self._answers[number] = (message, body)
                self._asking.notify_all()


def write(connection: socket.socket, message: Message, body: bytes = b"") -> None:
    header = json.dumps(message).encode()
    connection.sendall(_LENGTHS.pack(len(header), len(body)) + header + body)


def read(connection: socket.socket) -> Tuple[Message, bytes]:
    header, body = _LENGTHS.unpack(_read_exactly(connection, _LENGTHS.size))
    return json.loads(_read_exactly(connection, header)), _read_exactly(connection, body)


def _read_exactly(connection: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(size - len(parts))
        if not part:
            raise ConnectionError("the node process closed the connection")
        parts += part
    return bytes(parts)
