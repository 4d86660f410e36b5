"""The API as a WSGI application: requests become proxy events, as a gateway in front of the function makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from tests.support.api import ADMIN, event_of

Start = Callable[[str, list[tuple[str, str]]], Any]
Handler = Callable[[Mapping[str, Any], object], Mapping[str, Any]]


def wsgi(handler: Handler, *, by: str = ADMIN) -> Callable[[dict[str, Any], Start], Iterable[bytes]]:
    """`handler`, called by `by`."""

    def application(environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        result = handler(_event(environ, by), None)
        headers = [(name, value) for name, values in result["multiValueHeaders"].items() for value in values]
        status = int(result["statusCode"])
        start(f"{status} {HTTPStatus(status).phrase}", headers)
        return [(result.get("body") or "").encode()]

    return application


def _event(environ: dict[str, Any], by: str) -> dict[str, Any]:
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    path = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace")
    many: dict[str, list[str]] = {}
    for name, value in parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True):
        many.setdefault(name, []).append(value)
    headers = {
        name[5:].replace("_", "-").title(): value
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    event = event_of("get_job") | {
        "httpMethod": environ["REQUEST_METHOD"],
        "path": path,
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "body": body.decode("utf-8", "replace") or None,
        "queryStringParameters": {name: values[-1] for name, values in many.items()} or None,
        "multiValueQueryStringParameters": many or None,
    }
    event["requestContext"]["identity"]["userArn"] = by
    return event
