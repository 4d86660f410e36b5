"""A stand-in for an AWS service on loopback, and the client of `adapters.wire` that speaks to it."""

from __future__ import annotations

import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import urllib3

from fencepost.adapters.wire.service import DYNAMODB, Dialect, WireClient
from fencepost.adapters.wire.signature import Credentials, Signer

NOW = datetime(2026, 3, 2, 10, tzinfo=UTC)
REGION = "eu-west-1"


@dataclass
class Service:
    """Remembers requests, answers as told; with `hang` never, with `drop` by hanging up. Over TLS with a `certificate`."""

    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    hang: threading.Event | None = None
    drop: bool = False
    certificate: tuple[Path, Path] | None = None
    heard: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    callers: list[int] = field(default_factory=list)
    """The port that each request came from: the same for all of one connection."""

    @contextmanager
    def running(self) -> Iterator[str]:
        """Its endpoint, until the block is left."""
        service = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                while self.rfile.readline():
                    service.answer(self)

        with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
            server.daemon_threads = True
            if self.certificate is not None:
                tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                tls.load_cert_chain(*self.certificate)
                server.socket = tls.wrap_socket(server.socket, server_side=True)
            thread = threading.Thread(
                target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
            )
            thread.start()
            try:
                scheme = "http" if self.certificate is None else "https"
                yield f"{scheme}://127.0.0.1:{server.server_address[1]}"
            finally:
                if self.hang is not None:
                    self.hang.set()
                server.shutdown()
                thread.join()

    def answer(self, request: socketserver.StreamRequestHandler) -> None:
        """One request, whose first line was read."""
        headers: dict[str, str] = {}
        while (line := request.rfile.readline()) not in {b"\r\n", b""}:
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        self.callers.append(request.client_address[1])
        self.heard.append((headers, request.rfile.read(int(headers["content-length"]))))
        if self.hang is not None:
            self.hang.wait(5)
        if self.hang is not None or self.drop:
            request.connection.shutdown(socket.SHUT_RDWR)
            return
        lines = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        head = f"HTTP/1.1 {self.status} X\r\nContent-Length: {len(self.body)}\r\n{lines}\r\n"
        request.wfile.write(head.encode() + self.body)


def wire_client(endpoint: str, dialect: Dialect = DYNAMODB, *, read: float = 5) -> WireClient:
    """The client, with temporary credentials and a clock that stands."""
    return WireClient(
        dialect,
        urllib3.connection_from_url(endpoint),
        signer=Signer(
            Credentials(access_key="AKID", secret_key="secret", token="tok"), dialect.name, "eu-west-1"
        ),
        now=lambda: NOW,
        timeout=urllib3.Timeout(connect=2, read=read),
    )
