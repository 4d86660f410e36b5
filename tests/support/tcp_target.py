"""A target on loopback that says whatever bytes it is told to, over TCP or TLS, and remembers what it heard."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from tests.support.certificates import Authority

Behaviour = Callable[[socket.socket, threading.Event], None]
"""Gets the connection after the request was read, and an event that is set when the test is over."""

PACE = 0.02


def says(*parts: bytes) -> Behaviour:
    """Sends the parts and closes."""

    def behave(connection: socket.socket, _over: threading.Event) -> None:
        for part in parts:
            connection.sendall(part)

    return behave


def silent(_connection: socket.socket, over: threading.Event) -> None:
    """Says nothing until the test is over."""
    over.wait()


def drips(head: bytes, drop: bytes) -> Behaviour:
    """Sends `head`, then `drop` at a steady pace until nobody listens."""

    def behave(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(head)
        while not over.wait(PACE):
            connection.sendall(drop)

    return behave


def floods(head: bytes, flood: bytes) -> Behaviour:
    """Sends `head`, then `flood` without end until nobody listens."""

    def behave(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(head)
        while not over.is_set():
            connection.sendall(flood)

    return behave


def resets(connection: socket.socket, _over: threading.Event) -> None:
    """Ends the connection with a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")


@dataclass
class TcpTarget:
    """Serves each connection in a thread of its own; a context manager."""

    behaviour: Behaviour
    authority: Authority | None = None
    names: tuple[str, ...] = ()
    reads: bool = True
    requests: list[bytes] = field(default_factory=list)
    server_names: list[str | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._over = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []
        self.port = int(self._listener.getsockname()[1])

    def __enter__(self) -> Self:
        self._tls = self._context()
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(timeout=5)

    def _context(self) -> ssl.SSLContext | None:
        if self.authority is None:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*(str(Path(part)) for part in self.authority.issue(*self.names)))
        context.sni_callback = lambda _sock, name, _context: self.server_names.append(name)
        return context

    def _start(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._over.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._start(lambda connection=connection: self._serve(connection))  # type: ignore[misc] # binds it now

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                talking = self._tls.wrap_socket(connection, server_side=True) if self._tls else connection
                with talking:
                    self.requests.append(_request(talking) if self.reads else b"")
                    self.behaviour(talking, self._over)
            except OSError:
                return  # the caller went away, as some stories want it to


def _request(connection: socket.socket) -> bytes:
    """Head and body of one request, by its Content-Length."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return data
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    missing = int(lengths[0].partition(b":")[2]) - len(body) if lengths else 0
    while missing > 0:
        part = connection.recv(65536)
        if not part:
            return data
        data += part
        missing -= len(part)
    return data
