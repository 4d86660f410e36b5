"""The way out: one request, one answer, nothing repeated and no redirect followed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import urllib3
from urllib3.exceptions import HTTPError

CONNECT_SECONDS = 5.0
READ_SECONDS = 30.0  # API Gateway answers within 29


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A request in full; its headers are those that were signed."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """What came back. Header names are lower case."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


class NoAnswerError(Exception):
    """No answer came. The request may or may not have arrived."""


class Transport(Protocol):
    """Sends one request."""

    def send(self, request: HttpRequest) -> HttpAnswer:
        """The answer, of any status. Raises NoAnswerError."""


class Urllib3Transport:
    """Over pooled connections; thread-safe."""

    def __init__(self, *, connect: float = CONNECT_SECONDS, read: float = READ_SECONDS) -> None:
        self._pool = urllib3.PoolManager(
            timeout=urllib3.Timeout(connect=connect, read=read), retries=False, maxsize=8
        )

    def send(self, request: HttpRequest) -> HttpAnswer:
        """See `Transport.send`."""
        try:
            answer = self._pool.request(
                request.method,
                request.url,
                body=request.body or None,
                headers=dict(request.headers),
                redirect=False,
            )
        except HTTPError as error:
            raise NoAnswerError(_said(error)) from error
        headers = {name.lower(): value for name, value in answer.headers.items()}
        return HttpAnswer(status=answer.status, headers=headers, body=answer.data)


def _said(error: Exception) -> str:
    """urllib3's words without the object at their beginning."""
    return str(error).rpartition(": ")[2] or type(error).__name__
