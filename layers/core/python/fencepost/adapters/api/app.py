"""The API as one callable from event to answer: route, admit, read, do, translate."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response

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


class Api:
    """Answers API Gateway's proxy events. What is not a refusal and not the store's fault is raised."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._router = APIGatewayRestResolver()
        for route in ROUTES:
            rule = route.path.replace("{", "<").replace("}", ">")
            self._router.route(rule, method=[route.method])(self._serving(route))
        self._router.not_found(self._unrouted)

    def __call__(self, event: Event, context: object) -> dict[str, Any]:
        return self._router.resolve(dict(event), context)  # type: ignore[arg-type]  # a context of any kind will do

    def _serving(self, route: Route) -> Callable[..., Response[str]]:
        def serve(**path: str) -> Response[str]:
            asked = self._router.current_event.path
            if not route.pattern.fullmatch(
                asked
            ):  # the router forgives a slash at the end, IAM policies do not
                return _response(problems.missing("route", asked))
            return _response(problems.refused(lambda: self._answer(route, path)))

        return serve

    def _answer(self, route: Route, path: Mapping[str, str]) -> Answer:
        event = self._router.current_event.raw_event
        caller = self._caller(event)
        admit(self._services.store, caller, route.role, path.get("team"), creates=route.creates_team)
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
            route.method, request, lambda accepted: problems.faults_told(lambda: route.handle(accepted))
        )

    def _caller(self, event: Event) -> Caller:
        caller = caller_of(event, self._services.admins) or self._services.anonymous
        if caller is None:
            raise ProblemError(problems.forbidden("the call is not signed by a role or a user"))
        return caller

    def _unrouted(self, _: Exception) -> Response[str]:
        """405 where only other methods are known, 404 elsewhere."""
        path, method = self._router.current_event.path, self._router.current_event.http_method
        methods = sorted({route.method for route in ROUTES if route.pattern.fullmatch(path)})
        if not methods or method in methods:
            return _response(problems.missing("route", path))
        allow = ", ".join(methods)
        detail = f"here one can {allow}"
        return _response(problems.problem(405, "method", detail, headers={"Allow": allow}))


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


def _response(answer: Answer) -> Response[str]:
    body = None if answer.body is None else compact_json(answer.body).decode()
    return Response(
        status_code=answer.status, content_type=answer.media, body=body, headers=dict(answer.headers)
    )
