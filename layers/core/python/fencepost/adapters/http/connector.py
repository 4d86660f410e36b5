"""One HTTP exchange with one address.

Errors tell what the target can know of the call:

    NotConnectedError   nothing was sent; another address may be tried
    BrokenError         the request was under way and no answer came of it
    SilentError         the request was under way and the deadline passed
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

import urllib3
from urllib3.connection import HTTPConnection

from fencepost.adapters.http.deadline_socket import AnswerTooLargeError, DeadlineSocket
from fencepost.domain.egress import HttpUrl

BODY_LIMIT = 64 * 1024
ANSWER_LIMIT = 2 * BODY_LIMIT  # status, headers and framing have as much room as the body
_CHUNK = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """What to send. `sent_at` is the wall clock's instant of the call; `headers` hold no Host."""

    url: str
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)
    sent_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """What came back; the body is cut at 64 KiB, or where the deadline found it."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NotConnectedError(Exception):
    """No connection, or no trust in it: the target saw no request."""


class BrokenError(Exception):
    """The request was under way, then the connection or the answer broke."""


class SilentError(Exception):
    """The request was under way and no status line and headers came by the deadline."""


class Connector(Protocol):
    """Obligation: connects to `address` and to nothing else; follows no redirect; ends by `deadline`.

    Trust is established for the URL's host, whatever the address.
    """

    def exchange(
        self, url: HttpUrl, address: str, request: HttpRequest, *, connect_by: float, deadline: float
    ) -> HttpAnswer:
        """One request, one answer. Raises one of the errors above."""


class UrllibConnector:
    """Connections of urllib3, each pinned to its address, one per exchange: no pool, no proxy, no redirect."""

    def __init__(self, *, monotonic: Callable[[], float], tls: ssl.SSLContext | None = None) -> None:
        self._monotonic = monotonic
        self._tls = tls or trusting_context()

    def exchange(
        self, url: HttpUrl, address: str, request: HttpRequest, *, connect_by: float, deadline: float
    ) -> HttpAnswer:
        plain = self._connect(url, address, connect_by)
        sock = DeadlineSocket(plain, deadline=deadline, monotonic=self._monotonic, limit=ANSWER_LIMIT)
        connection = HTTPConnection(address, url.port)
        connection.sock = sock
        try:
            self._send(connection, url, request)
            return self._receive(connection)
        finally:
            sock.shut()

    def _connect(self, url: HttpUrl, address: str, connect_by: float) -> socket.socket:
        """A connection to the address, trusted for the name. TCP and TLS share the time until `connect_by`."""
        try:
            sock = socket.create_connection((address, url.port), timeout=self._left(connect_by))
        except OSError as error:
            raise NotConnectedError(_reason(error)) from error
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.settimeout(self._left(connect_by))
            return self._tls.wrap_socket(sock, server_hostname=url.host) if url.scheme == "https" else sock
        except OSError as error:
            sock.close()
            raise NotConnectedError(_reason(error)) from error

    def _left(self, instant: float) -> float:
        left = instant - self._monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def _send(self, connection: HTTPConnection, url: HttpUrl, request: HttpRequest) -> None:
        headers = {**request.headers, "Host": url.authority, "Connection": "close"}
        try:
            connection.request(
                request.method,
                url.target,
                body=request.body,
                headers=headers,
                preload_content=False,
                decode_content=False,
            )
        except TimeoutError as error:
            raise SilentError("timed out while the request was being sent") from error
        except OSError:
            # The target may have answered before it had read all, and that answer is worth reading.
            return

    def _receive(self, connection: HTTPConnection) -> HttpAnswer:
        try:
            response = connection.getresponse()
        except TimeoutError as error:
            raise SilentError("timed out waiting for the answer") from error
        except (http.client.HTTPException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise BrokenError(_reason(error)) from error
        headers: dict[str, str] = {}
        for name, value in response.headers.items():
            headers.setdefault(name.lower(), value)
        return HttpAnswer(status=response.status, headers=headers, body=_body(response))


def _body(response: urllib3.BaseHTTPResponse) -> bytes:
    """The body as far as it comes. The status said what became of the call; a body that breaks off changes nothing."""
    body = b""
    try:
        while len(body) < BODY_LIMIT:
            chunk = response.read1(min(_CHUNK, BODY_LIMIT - len(body)))
            if not chunk:
                break
            body += chunk
    except (http.client.HTTPException, urllib3.exceptions.HTTPError, OSError, ValueError):
        pass
    return body


def trusting_context() -> ssl.SSLContext:
    """The system's authorities, TLS 1.2 or newer, the name always checked."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (TimeoutError, "the connection timed out"),
    (AnswerTooLargeError, "the answer's headers are too large"),
    (http.client.RemoteDisconnected, "the connection was closed without an answer"),
    (ConnectionRefusedError, "the connection was refused"),
    (ConnectionError, "the connection was reset"),
    (http.client.BadStatusLine, "the answer is not HTTP"),
    (ValueError, "the answer is not HTTP"),
)


def _reason(error: Exception) -> str:
    """One line for the record, without the internals of libraries."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not trusted: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {error.reason or error}"
    for kind, text in _REASONS:
        if isinstance(error, kind):
            return text
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return f"the answer is not acceptable HTTP: {error}"
