"""The API document, made from the table of routes: ``python -m fencepost.adapters.api.openapi > docs/openapi.json``."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from fencepost.adapters.api import answers, models, shapes
from fencepost.adapters.api.access import Role
from fencepost.adapters.api.http import JSON
from fencepost.adapters.api.problems import MEDIA
from fencepost.adapters.api.route import Route
from fencepost.adapters.api.routes import ROUTES
from fencepost.domain.identity import UID_PATTERN

VERSION = "1"
"""Of the contract: paths begin with it. What is added is added without a new one."""
REF = "#/components/schemas/{model}"
_PATTERNS = {
    "team": "^[a-z0-9][a-z0-9-]{0,62}$",
    "job": "^(~[a-z2-7]{20}|[a-z0-9][a-z0-9-]{0,62})$",
    "backfill": "^[0-9a-f]{12}$",
    "key": "^[a-z2-7]{20}$",
    "calendar": "^[a-z0-9][a-z0-9-]{0,62}$",
    "id": "^[a-z2-7]{20}-[srbz]-[0-9a-f-]{13,26}$",
}
_DONE = {201: "Created.", 202: "Accepted: it goes on by itself.", 304: "Not modified."}
_REFUSALS = {
    400: "The body cannot be read, or the path has more than one reading.",
    403: "The caller has no business here; or (the gateway's own) the call is not signed, or IAM does not allow it.",
    404: "There is no such thing, or it is not this team's.",
    409: "In conflict with the present state (or nobody can read it), or with another request of the same key.",
    412: "The precondition does not hold; the ETag is the current one.",
    422: "The input has faults; all are told.",
    503: "Nothing is known to be wrong with the request: try again.",
}


_LOST = " Where it was done and that answer was lost, the answer shows what became of it by then."
_GATEWAYS = "GatewayMessage"
_GATEWAYS_SCHEMA = {
    "type": "object",
    "description": "What Amazon API Gateway itself says. Only where IAM does not allow the call is it `Message`.",
    "properties": {"message": {"type": ["string", "null"]}, "Message": {"type": ["string", "null"]}},
}
_TOO_LONG = "413"
_GATEWAYS_ALONE = {
    _TOO_LONG: (
        "TooLong",
        "The gateway passes on no call as long as this. On one machine, a problem document.",
    ),
    "429": ("Throttled", "More calls than the stage's gateway admits at once: try again later."),
    "5XX": (
        "NoAnswer",
        "The gateway had no answer from the service in time: nothing is known of the request.",
    ),
}
"""What no route answers, and a caller meets all the same: by status, the component's name and what it means."""


def document() -> dict[str, Any]:
    """The whole document, as JSON values in a fixed order."""
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Fencepost",
            "version": VERSION,
            "description": "Cron as a service for many teams. Every call is signed (SigV4, service execute-api).",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"sigv4": []}],
        "paths": paths,
        "components": {
            "schemas": dict(sorted([*_schemas().items(), (_GATEWAYS, _GATEWAYS_SCHEMA)])),
            "responses": {
                name: _of_gateway(status, says) for status, (name, says) in _GATEWAYS_ALONE.items()
            },
            "securitySchemes": {"sigv4": _sigv4()},
        },
    }


def text() -> str:
    """The document as it is committed."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


def statuses(route: Route) -> list[int]:
    """Every status that the route may answer with."""
    found = {*route.gives, 403, 422, 503}
    found |= {400} if route.takes is not None or route.variables else set()
    found |= {404} if route.variables or route.name == "health" else set()
    found |= (
        {409} if route.writes or route.role is not Role.ANYONE else set()
    )  # what is stored may be garbled
    found |= {412} if route.conditional and route.writes else set()
    return sorted(found - ({404} if not route.variables else set()))


def _operation(route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.says,
        "x-fencepost-role": route.role.value,
        "parameters": [*_path_parameters(route), *_query_parameters(route), *_header_parameters(route)],
    }
    if route.takes is not None:
        operation["requestBody"] = {
            "required": not route.optional_body,
            "content": {JSON: {"schema": _reference(route.takes)}},
        }
    operation["responses"] = {str(status): _response(route, status) for status in statuses(route)}
    operation["responses"] |= {
        status: {"$ref": f"#/components/responses/{name}"} for status, (name, _) in _GATEWAYS_ALONE.items()
    }
    if route.role is Role.ANYONE:
        operation["description"] = "Any signed caller may call this."
    return operation


def _path_parameters(route: Route) -> Iterator[dict[str, Any]]:
    for name in route.variables:
        schema = {"type": "string", "pattern": _PATTERNS[name]}
        if route.name == "putJob" and name == "job":
            schema["pattern"] = _PATTERNS["team"]
        yield {"name": name, "in": "path", "required": True, "schema": schema}


def _query_parameters(route: Route) -> Iterator[dict[str, Any]]:
    for each in route.query:
        schema = {"type": "array", "items": each.schema} if each.repeated else dict(each.schema)
        yield {
            "name": each.name,
            "in": "query",
            "required": False,
            "description": each.says,
            "schema": schema,
        }


def _header_parameters(route: Route) -> Iterator[dict[str, Any]]:
    if route.conditional and route.writes:
        tag = rf'"[1-9][0-9]{{0,17}}(\.{UID_PATTERN.pattern})?"'
        yield _header("If-Match", rf"^({tag}|\*)$", "Only if the entity tag is this one.")
        if route.method == "PUT":
            yield _header("If-None-Match", "^\\*$", "Only if there is none yet.")
    if route.conditional and not route.writes:
        yield _header("If-None-Match", None, "304 if the entity tag is among these.")
    if route.writes:
        says = "The same key and request is answered as the first time, for 24 hours."
        says += _LOST if route.marks else ""
        yield _header("Idempotency-Key", "^[!-~]{1,128}$", says)


def _header(name: str, pattern: str | None, says: str) -> dict[str, Any]:
    schema = {"type": "string"} | ({} if pattern is None else {"pattern": pattern})
    return {"name": name, "in": "header", "required": False, "description": says, "schema": schema}


def _response(route: Route, status: int) -> dict[str, Any]:
    if status not in route.gives:
        content = {MEDIA: {"schema": _reference(answers.Problem)}}
        if status == HTTPStatus.FORBIDDEN:
            content |= {JSON: {"schema": {"$ref": REF.format(model=_GATEWAYS)}}}
        return {"description": _REFUSALS[status], "content": content}
    model = route.gives[status]
    response: dict[str, Any] = {"description": _DONE.get(status, "Done.")}
    if route.conditional:
        response["headers"] = {
            "ETag": {"schema": {"type": "string"}, "description": "The revision, a job's with its uid."}
        }
    if model is not None:
        response["content"] = {JSON: {"schema": _reference(model)}}
    return response


def _of_gateway(status: str, says: str) -> dict[str, Any]:
    """An answer of the gateway by itself; its kind is in a header, as AWS words it."""
    content: dict[str, Any] = {JSON: {"schema": {"$ref": REF.format(model=_GATEWAYS)}}}
    content |= {MEDIA: {"schema": _reference(answers.Problem)}} if status == _TOO_LONG else {}
    kind = {"schema": {"type": "string"}, "description": "AWS's word for it."}
    return {"description": says, "headers": {"x-amzn-ErrorType": kind}, "content": content}


def _reference(model: Any) -> dict[str, Any]:  # noqa: ANN401 - a model or a union of models
    if isinstance(model, types.UnionType):
        return {"anyOf": [_reference(each) for each in get_args(model)]}
    return {"$ref": REF.format(model=model.__name__)}


def _schemas() -> dict[str, Any]:
    requests: list[type[BaseModel]] = [route.takes for route in ROUTES if route.takes is not None]
    given: list[type[BaseModel]] = [
        each for route in ROUTES for model in route.gives.values() for each in _models(model)
    ]
    shown: list[type[BaseModel]] = [
        answers.Problem,
        shapes.Schedule,
        shapes.Target,
        shapes.Notify,
        models.RetryBody,
    ]
    wanted = dict.fromkeys([*requests, *given, *shown])
    _, schema = models_json_schema([(model, "validation") for model in wanted], ref_template=REF)
    definitions: Mapping[str, Any] = schema["$defs"]
    return {name: _referring(definitions[name]) for name in sorted(definitions)}


def _referring(schema: Any) -> Any:  # noqa: ANN401 - JSON
    """The schema with marks of other shapes made references."""
    if isinstance(schema, dict):
        if models.REFERS in schema:
            rest = {key: value for key, value in schema.items() if key not in {models.REFERS, "title"}}
            return {"$ref": REF.format(model=schema[models.REFERS])} | rest
        return {key: _referring(value) for key, value in schema.items()}
    return [_referring(each) for each in schema] if isinstance(schema, list) else schema


def _models(model: Any) -> tuple[type[BaseModel], ...]:  # noqa: ANN401 - a model, a union of models or None
    if model is None:
        return ()
    return get_args(model) if isinstance(model, types.UnionType) else (model,)


def _sigv4() -> dict[str, Any]:
    return {
        "type": "apiKey",
        "name": "Authorization",
        "in": "header",
        "x-amazon-apigateway-authtype": "awsSigv4",
        "description": "AWS Signature Version 4, service execute-api.",
    }


if __name__ == "__main__":
    sys.stdout.write(text())
