"""From HTTP to the event that API Gateway's Lambda proxy integration sends, and from the function's answer back."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, unquote

from fencepost.domain.instants import to_ms
from fencepost.local.gateway.credentials import Credential
from fencepost.local.gateway.policy import API_ID
from fencepost.local.gateway.request import Request, Response, problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """The circumstances of one call that are not in the request."""

    credential: Credential
    stage: str
    request_id: str
    now: datetime


def to_event(request: Request, invocation: Invocation) -> dict[str, Any]:
    """The event, as a REST API with one greedy resource makes it: single values are the last of several."""
    path = unquote(request.path)
    query = _grouped(parse_qsl(request.query, keep_blank_values=True))
    headers = _grouped(request.headers)
    return {
        "resource": "/{proxy+}",
        "path": path,
        "httpMethod": request.method,
        "headers": _last(headers),
        "multiValueHeaders": headers,
        "queryStringParameters": _last(query) or None,
        "multiValueQueryStringParameters": query or None,
        "pathParameters": {"proxy": path.lstrip("/")},
        "stageVariables": None,
        "requestContext": _context(request, invocation),
        "body": request.body.decode("utf-8", errors="replace") or None,
        "isBase64Encoded": False,
    }


def from_result(result: object) -> Response:
    """The answer in a function's result; 502 for what is none, as API Gateway says it."""
    if not isinstance(result, Mapping) or not isinstance(result.get("statusCode"), int):
        return broken()
    headers: dict[str, list[str]] = {
        name: [str(value)] for name, value in (result.get("headers") or {}).items()
    }
    for name, values in (result.get("multiValueHeaders") or {}).items():
        headers[name] = [str(value) for value in values]
    try:
        body = _body(result)
    except (binascii.Error, ValueError):
        return broken()
    return Response(status=result["statusCode"], headers=headers, body=body)


def broken() -> Response:
    """The function failed, or its answer is none."""
    return problem(502, "Bad Gateway", "Internal server error", kind="InternalServerErrorException")


def _body(result: Mapping[str, Any]) -> bytes:
    text = result.get("body") or ""
    return base64.b64decode(text, validate=True) if result.get("isBase64Encoded") else str(text).encode()


def _grouped(pairs: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name, value in pairs:
        grouped.setdefault(name, []).append(value)
    return grouped


def _last(grouped: Mapping[str, Sequence[str]]) -> dict[str, str]:
    return {name: values[-1] for name, values in grouped.items()}


def _context(request: Request, invocation: Invocation) -> dict[str, Any]:
    credential, now = invocation.credential, invocation.now
    return {
        "accountId": credential.account,
        "apiId": API_ID,
        "domainName": request.header("host") or "",
        "extendedRequestId": invocation.request_id,
        "httpMethod": request.method,
        "identity": {
            "accessKey": credential.access_key_id,
            "accountId": credential.account,
            "caller": credential.access_key_id,
            "sourceIp": request.source_ip,
            "user": credential.access_key_id,
            "userAgent": request.header("user-agent"),
            "userArn": credential.arn,
        },
        "path": f"/{invocation.stage}{unquote(request.path)}",
        "protocol": "HTTP/1.1",
        "requestId": invocation.request_id,
        "requestTime": f"{now:%d/%b/%Y:%H:%M:%S +0000}",
        "requestTimeEpoch": to_ms(now),
        "resourceId": "proxy",
        "resourcePath": "/{proxy+}",
        "stage": invocation.stage,
    }
