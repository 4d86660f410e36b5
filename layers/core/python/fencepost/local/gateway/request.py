"""One HTTP request and one answer, as the gateway hands them around."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

PROBLEM = "application/problem+json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What came over the wire. `path` and `query` are raw, still percent-encoded; header names as they came."""

    method: str
    path: str
    query: str = ""
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""
    source_ip: str = "127.0.0.1"

    def header(self, name: str) -> str | None:
        """The value of a header, whatever its spelling; the last one where it came repeatedly."""
        found = self.values(name)
        return found[-1] if found else None

    def values(self, name: str) -> list[str]:
        """Every value of a header."""
        return [value for given, value in self.headers if given.lower() == name.lower()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What goes back. Content-Length is the server's affair."""

    status: int
    headers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    body: bytes = b""


def problem(status: int, title: str, detail: str, *, kind: str) -> Response:
    """A refusal by the gateway itself; `kind` is AWS's word for it."""
    body = {"type": "about:blank", "status": status, "title": title, "detail": detail, "faults": []}
    headers = {"Content-Type": [PROBLEM], "x-amzn-ErrorType": [kind]}
    return Response(status=status, headers=headers, body=json.dumps(body).encode())
