"""From JSON to the results' dataclasses: fields that this version does not know are left in `raw`, never an error."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from fencepost.client.errors import UnexpectedAnswerError
from fencepost.domain.instants import from_wire

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Something the service answered. `raw` is that answer's JSON as it came."""

    raw: Mapping[str, Any] = field(repr=False, compare=False)


def decode(kind: type[T], raw: object) -> T:
    """Reads an object. Raises UnexpectedAnswerError where something is missing or of another kind."""
    if not isinstance(raw, Mapping):
        raise UnexpectedAnswerError(f"{kind.__name__}: an object was expected")
    hints = _hints(kind)  # type: ignore[arg-type]  # a class is hashable
    found: dict[str, Any] = {"raw": raw} if issubclass(kind, Result) else {}
    for each in fields(kind):  # type: ignore[arg-type]  # every kind is a dataclass
        if each.name == "raw":
            continue
        name = each.metadata.get("wire", each.name)
        if name in raw:
            found[each.name] = _value(hints[each.name], raw[name], f"{kind.__name__}.{each.name}")
        elif each.default is MISSING and each.default_factory is MISSING:
            raise UnexpectedAnswerError(f"{kind.__name__}.{each.name} is missing")
    return kind(**found)


def _value(hint: Any, value: Any, where: str) -> Any:  # noqa: ANN401 - types and JSON are what this is about
    if get_origin(hint) in {Union, types.UnionType}:
        if value is None:
            return None
        hint = next(each for each in get_args(hint) if each is not type(None))
    if get_origin(hint) is tuple:
        if not isinstance(value, list):
            raise UnexpectedAnswerError(f"{where}: a list was expected")
        return tuple(_value(get_args(hint)[0], each, where) for each in value)
    if is_dataclass(hint):
        return decode(hint, value)  # type: ignore[arg-type]  # a class, not an instance: it comes from a hint
    if hint is datetime:
        return _instant(value, where)
    if hint is not Any and isinstance(hint, type) and not isinstance(value, hint):
        raise UnexpectedAnswerError(f"{where}: {value!r:.60} is no {hint.__name__}")
    return value


def _instant(value: object, where: str) -> datetime:
    try:
        return from_wire(str(value))
    except ValueError as error:
        raise UnexpectedAnswerError(f"{where}: {error}") from error


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind)
