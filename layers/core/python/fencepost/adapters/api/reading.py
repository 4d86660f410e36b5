"""From bytes to checked values: JSON read strictly, and what pydantic finds told as faults."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from fencepost.adapters.api.problems import ProblemError, unreadable
from fencepost.domain.faults import Fault, Faults

M = TypeVar("M", bound=BaseModel)
MAX_DEPTH = 64
MAX_DIGITS = 1_000
TOO_DEEP = f"the body is nested more than {MAX_DEPTH} deep"
_INPUT_SHOULD = re.compile(r"^(?:Input should|Value should|String should|List should|Dictionary should)\b")


def read_json(text: str | None) -> object:
    """The JSON value of a body; None for an empty one. Raises ProblemError (400).

    Stricter than the standard library: no NaN or Infinity, nor a number that would become one, no name twice in an
    object, no bottomless nesting, no half of a surrogate pair (none of these could be sent on).
    """
    if not text:
        return None
    try:
        value: object = json.loads(
            text,
            parse_constant=_no_constant,
            parse_int=_whole,
            parse_float=_finite,
            object_pairs_hook=_unique,
        )
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ProblemError(unreadable(TOO_DEEP)) from error
    except UnicodeEncodeError as error:
        raise ProblemError(unreadable("the body is not JSON: it holds half of a surrogate pair")) from error
    except ValueError as error:
        raise ProblemError(unreadable(f"the body is not JSON: {_short(error)}")) from error
    if _depth(value) > MAX_DEPTH:
        raise ProblemError(unreadable(TOO_DEEP))
    return value


def read_object(value: object) -> Mapping[str, object]:
    """The body as an object, an absent one as an empty one. Raises ProblemError (400)."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ProblemError(unreadable("the body must be a JSON object"))
    return value


def checked(model: type[M], raw: Mapping[str, object]) -> M:
    """`raw` as the model. Raises Faults with everything that is wrong with its shape."""
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        raise Faults(shape_faults(model, error)) from None


def shaped(
    model: type[M], raw: Mapping[str, object], faults: list[Fault], *, domain: frozenset[str] | set[str]
) -> M | None:
    """`raw` as the model, or None with its faults added to `faults`; those of `domain` fields are told elsewhere."""
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        faults.extend(fault for fault in shape_faults(model, error) if fault.field not in domain)
        return None


def shape_faults(model: type[BaseModel], error: ValidationError) -> tuple[Fault, ...]:
    """What pydantic found, in the words of the API."""
    return tuple(_fault(model, each) for each in error.errors(include_url=False))


def compact_json(value: object) -> bytes:
    """The shortest JSON of a value, in UTF-8."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def near(word: str, known: Sequence[str]) -> str | None:
    """The known word that was probably meant."""
    return next(iter(difflib.get_close_matches(word[:60], known, n=1, cutoff=0.6)), None)


def _fault(model: type[BaseModel], error: ErrorDetails) -> Fault:
    path = [str(part) for part in error["loc"]]
    field = ".".join(path)[:200] or "body"
    match error["type"]:
        case "extra_forbidden":
            known = _fields_at(model, path[:-1])
            rule = f"unknown field; known: {', '.join(known)}"
            return Fault(field=field, value=error["input"], rule=rule, suggestion=near(path[-1], known))
        case "missing":
            return Fault(field=field, value=None, rule="is required")
        case "literal_error":
            words = re.findall(r"'([^']*)'", str(error.get("ctx", {}).get("expected", "")))
            rule = f"must be one of {', '.join(words)}"
            return Fault(
                field=field, value=error["input"], rule=rule, suggestion=near(str(error["input"]), words)
            )
        case _:
            message = error["msg"].removeprefix("Value error, ")
            return Fault(field=field, value=error["input"], rule=_INPUT_SHOULD.sub("must", message))


def _fields_at(model: type[BaseModel], path: Sequence[str]) -> list[str]:
    """The names that are known where `path` leads."""
    inner: Any = model
    for part in path:
        fields = getattr(inner, "model_fields", {})
        inner = fields[part].annotation if part in fields else inner
    fields = getattr(inner, "model_fields", model.model_fields)
    return sorted(field.alias or name for name, field in fields.items())


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON number")


def _whole(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError(f"a number has {len(text):,} digits; at most {MAX_DIGITS:,} are read")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text[:40]} is too large")
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice[:60]!r} stands twice in one object")
    return found


def _depth(value: object) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [
            child
            for each in level
            if isinstance(each, dict | list)
            for child in (each.values() if isinstance(each, dict) else each)
        ]
    return depth


def _short(error: Exception) -> str:
    return str(error).encode(errors="replace").decode()[:200]
