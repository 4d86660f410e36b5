"""The API as one callable from event to answer: route, admit, read, do, translate.

It routes by itself: Powertools keeps the current event on a class, so that two threads would answer each other's
callers, and a service on one machine has threads (docs/decisions/0005-own-routing.md).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from fencepost.adapters.api import problems
from fencepost.adapters.api.access import admit
from fencepost.adapters.api.http import Answer, Request
from fencepost.adapters.api.idempotent import once
from fencepost.adapters.api.identity import caller_of
from fencepost.adapters.api.problems import ProblemError
from fencepost.adapters.api.queries import read_query
from fencepost.adapters.api.reading import compact_json, read_json
from fencepost.adapters.api.route import Route
from fencepost.adapters.api.routes import ROUTES
from fencepost.adapters.api.services import Services
from fencepost.domain.model import Caller

Event = Mapping[str, Any]
_PATTERNS: tuple[tuple[re.Pattern[str], Route], ...] = tuple((route.pattern, route) for route in ROUTES)


class Api:
    """Answers API Gateway's proxy events; thread-safe. What is neither a refusal nor the store's trouble is raised."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def __call__(self, event: Event, context: object) -> dict[str, Any]:
        del context  # nothing here depends on it
        return _result(problems.refused(lambda: self._answer(event)))

    def _answer(self, event: Event) -> Answer:
        route, path = _routed(str(event["httpMethod"]).upper(), str(event["path"]))
        caller = self._caller(event)
        admit(
            self._services.store,
            caller,
            route.role,
            path.get("team"),
            creates=route.creates_team,
            unread=route.unread,
        )
        request = Request(
            services=self._services,
            resource=route.path,
            caller=caller,
            now=self._services.now(),
            path=path,
            query=read_query(route.query, event.get("multiValueQueryStringParameters") or {}),
            headers={name.lower(): value for name, value in (event.get("headers") or {}).items()},
            body=_body(route, event),
        )
        if not route.writes:
            return route.handle(request)
        return once(
            route.method,
            request,
            lambda accepted: problems.faults_told(lambda: route.handle(accepted)),
            self._services.secrets if route.secret else None,
        )

    def _caller(self, event: Event) -> Caller:
        caller = caller_of(event, self._services.admins) or self._services.anonymous
        if caller is None:
            raise ProblemError(problems.forbidden("the call is not signed by a role or a user"))
        return caller


def _routed(method: str, path: str) -> tuple[Route, Mapping[str, str]]:
    """The route and its path's variables. Raises ProblemError: 405 where other methods are known, 404 elsewhere.

    A literal part goes before a variable, as in API Gateway: `keys/rotate` is no key.
    """
    found = [(route, match) for pattern, route in _PATTERNS if (match := pattern.fullmatch(path))]
    if not found:
        raise ProblemError(problems.missing("route", path))
    fewest = min(len(route.variables) for route, _ in found)
    here = {route.method: (route, match) for route, match in found if len(route.variables) == fewest}
    if method not in here:
        allow = ", ".join(sorted(here))
        raise ProblemError(problems.problem(405, "method", f"here one can {allow}", headers={"Allow": allow}))
    route, match = here[method]
    return route, match.groupdict()


def _body(route: Route, event: Event) -> object:
    if route.takes is None:
        return None
    text = event.get("body")
    if text and event.get("isBase64Encoded"):
        try:
            text = base64.b64decode(text, validate=True).decode()
        except (binascii.Error, ValueError) as error:
            raise ProblemError(problems.unreadable("the body is not UTF-8")) from error
    value = read_json(text)
    if value is None and not route.optional_body:
        raise ProblemError(problems.unreadable("a JSON object is wanted as body"))
    return value


def _result(answer: Answer) -> dict[str, Any]:
    """The answer as API Gateway wants it."""
    headers = {"Content-Type": answer.media} | dict(answer.headers)
    return {
        "statusCode": answer.status,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "body": "" if answer.body is None else compact_json(answer.body).decode(),
        "isBase64Encoded": False,
    }
