"""The local gateway as a WSGI application, and callers who sign what they send: for tools that make requests of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from fencepost.local.gateway.credentials import Credential
from fencepost.local.gateway.gateway import Gateway
from fencepost.local.gateway.request import Request
from fencepost.local.gateway.signature import sign

HOST = "127.0.0.1:8080"
Start = Callable[[str, list[tuple[str, str]]], Any]


def wsgi(gateway: Gateway, key: Credential | None) -> Callable[[dict[str, Any], Start], Iterable[bytes]]:
    """`gateway`, called by the holder of `key`; None: by somebody who does not sign."""

    def application(environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        answer = gateway.answer(_signed(_request(environ), gateway, key))
        headers = [(name, value) for name, values in answer.headers.items() for value in values]
        start(f"{answer.status} {HTTPStatus(answer.status).phrase}", headers)
        return [answer.body]

    return application


def _signed(request: Request, gateway: Gateway, key: Credential | None) -> Request:
    if key is None:
        return request
    headers = sign(request, key, gateway.region, gateway.clock.now())
    return Request(
        method=request.method, path=request.path, query=request.query, headers=headers, body=request.body
    )


def _request(environ: dict[str, Any]) -> Request:
    headers = [
        (name[5:].replace("_", "-").title(), value)
        for name, value in environ.items()
        if name.startswith("HTTP_") and name not in {"HTTP_HOST", "HTTP_AUTHORIZATION"}
    ]
    if environ.get("CONTENT_TYPE"):
        headers.append(("Content-Type", environ["CONTENT_TYPE"]))
    return Request(
        method=environ["REQUEST_METHOD"],
        path=quote(environ["PATH_INFO"].encode("latin-1"), safe="/~-._"),
        query=environ.get("QUERY_STRING", ""),
        headers=[("Host", HOST), *headers],
        body=environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)),
    )
