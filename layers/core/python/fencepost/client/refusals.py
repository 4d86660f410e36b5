"""From refusing answers to exceptions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fencepost.client.errors import (
    ApiError,
    ChangedError,
    ConflictError,
    FaultsError,
    FieldFault,
    LeaseLostError,
    NotAllowedError,
    NotFoundError,
    ServiceError,
    ThrottledError,
)
from fencepost.client.transport import HttpAnswer

IN_PROGRESS = "in-progress"
_LOST = frozenset({"stale-fence", "lease-lost"})
_KINDS: Mapping[int, type[ApiError]] = {
    400: FaultsError,
    401: NotAllowedError,
    403: NotAllowedError,
    404: NotFoundError,
    409: ConflictError,
    412: ChangedError,
    422: FaultsError,
    428: ChangedError,
    429: ThrottledError,
}


def error_of(answer: HttpAnswer) -> ApiError:
    """The exception for an answer of 400 and more. API Gateway's own refusals are read as well as the service's."""
    problem = _problem(answer)
    kind = kind_of(answer)
    detail = problem.get("detail") or problem.get("message") or problem.get("Message") or ""
    error = _KINDS.get(answer.status, ServiceError if answer.status >= 500 else ApiError)
    if error is ConflictError and kind in _LOST:
        error = LeaseLostError
    return error(
        answer.status, kind, str(detail) or f"the service answered {answer.status}", _faults(problem)
    )


def kind_of(answer: HttpAnswer) -> str:
    """The stable word of a refusal: the last part of its type, or API Gateway's error type."""
    stated = _problem(answer).get("type")
    if isinstance(stated, str):
        return stated.rpartition(":")[2]
    return answer.headers.get("x-amzn-errortype", "").partition(":")[0]


def _problem(answer: HttpAnswer) -> Mapping[str, Any]:
    try:
        body = json.loads(answer.body)
    except ValueError:
        return {}
    return body if isinstance(body, Mapping) else {}


def _faults(problem: Mapping[str, Any]) -> tuple[FieldFault, ...]:
    raw = problem.get("faults")
    found = raw if isinstance(raw, list) else []
    return tuple(
        FieldFault(
            field=str(each.get("field", "")),
            rule=str(each.get("rule", "")),
            value=each.get("value"),
            suggestion=each.get("suggestion"),
        )
        for each in found
        if isinstance(each, Mapping)
    )
