"""What makes the code under test quicker in a history and changes nothing that it does.

Stored items never change and decoded values are frozen, so what was decoded or encoded once need not be again; pure
functions remember what they answered. Values of frozen classes are made without the guard that forbids to change them:
all other tests run with it.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from typing import Any

from fencepost.application import codec, keys
from fencepost.application.keys import tier_of_lane
from fencepost.application.messages import read_wake, wake_body
from fencepost.domain.egress import split_url
from fencepost.domain.identity import ExecutionId, hashed
from fencepost.domain.instants import from_ms
from fencepost.domain.schedule.occurrences import latest_occurrence, next_occurrence

_REMEMBERED = 20_000
_PURE: tuple[tuple[Callable[..., Any], int], ...] = (
    (hashed, 20_000),
    (from_ms, 50_000),
    (next_occurrence, 50_000),
    (latest_occurrence, 20_000),
    (split_url, 1_000),
    (read_wake, 5_000),
    (wake_body, 5_000),
    (tier_of_lane, 1_000),
)

_decoded: dict[tuple[str, int], tuple[Any, Any]] = {}
_encoded: dict[int, tuple[Any, Any]] = {}
_makers: dict[type, Callable[[Any, dict[str, Any]], Any] | None] = {}
_decode, _encode, _replace = codec.decoding, codec.encode_execution, dataclasses.replace


def remember() -> None:
    """From here on, in this process; every module of the package has to be imported by now."""
    if codec.decoding is _decoding:
        return
    _everywhere(_decode, _decoding)
    _everywhere(_encode, _encoding)
    keys.bucket_partition = lru_cache(maxsize=5_000)(keys.bucket_partition)
    keys.parse_bucket = lru_cache(maxsize=5_000)(keys.parse_bucket)
    setattr(ExecutionId, "parse", staticmethod(lru_cache(maxsize=20_000)(ExecutionId.parse)))  # noqa: B010 - a method
    for pure, size in _PURE:
        _everywhere(pure, lru_cache(maxsize=size)(pure))
    _everywhere(_replace, _replaced)
    for kind in _frozen():
        _thaw(kind)
    enum.Enum.value = property(attrgetter("_value_"))  # type: ignore[assignment, method-assign] # as it is, in C


def forget() -> None:
    """What was remembered of the items of a history that is over."""
    _decoded.clear()
    _encoded.clear()


def _decoding(what: str, item: Any, read: Callable[[Any], Any]) -> Any:
    """As `codec.decoding`; the item is kept beside its value, so that its identity stays its own."""
    known = _decoded.get((what, id(item)))
    if known is not None and known[0] is item:
        return known[1]
    value = _decode(what, item, read)
    if len(_decoded) >= _REMEMBERED:
        _decoded.clear()
    _decoded[what, id(item)] = (item, value)
    return value


def _encoding(record: Any) -> Any:
    """As `codec.encode_execution`, whose answer nobody changes."""
    known = _encoded.get(id(record))
    if known is not None and known[0] is record:
        return known[1]
    item = _encode(record)
    if len(_encoded) >= _REMEMBERED:
        _encoded.clear()
    _encoded[id(record)] = (record, item)
    return item


def _everywhere(old: object, new: object) -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith("fencepost."):
            for attribute, value in list(vars(module).items()):
                if value is old:
                    setattr(module, attribute, new)


def _frozen() -> list[type]:
    """The frozen classes of the package whose making is as dataclasses make it."""
    return [
        value
        for name, module in list(sys.modules.items())
        if name.startswith("fencepost.")
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == name and _plain(value)
    ]


def _plain(kind: type) -> bool:
    parameters = getattr(kind, "__dataclass_params__", None)
    if parameters is None or not parameters.frozen or "__setattr__" not in vars(kind):
        return False
    return all(field.init for field in dataclasses.fields(kind)) and "__init__" in vars(kind)


def _thaw(kind: Any) -> None:
    """Assigns its fields without asking the guard first."""
    given, keyword_only, body, known = list[str](), list[str](), list[str](), dict[str, Any]()
    for number, field in enumerate(dataclasses.fields(kind)):
        name, default = field.name, ""
        value = name
        if field.default is not dataclasses.MISSING:
            known[f"d{number}"], default = field.default, f"=d{number}"
        elif field.default_factory is not dataclasses.MISSING:
            known[f"f{number}"], default = field.default_factory, "=missing"
            value = f"f{number}() if {name} is missing else {name}"
        (keyword_only if field.kw_only else given).append(name + default)
        body.append(f"self.{name} = {value}")
    if hasattr(kind, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = ", ".join(["self", *given, *(["*", *keyword_only] if keyword_only else [])])
    made = _compiled(f"def made({parameters}):", body or ["pass"], {**known, "missing": dataclasses.MISSING})
    made.__name__, made.__qualname__ = "__init__", f"{kind.__qualname__}.__init__"
    kind.__init__ = made
    del kind.__setattr__
    del kind.__delattr__


def _replaced(value: Any, /, **changes: Any) -> Any:
    """As `dataclasses.replace`."""
    kind = type(value)
    if kind not in _makers:
        _makers[kind] = None if hasattr(kind, "__post_init__") or not _slotted(kind) else _copier(kind)
    maker = _makers[kind]
    return _replace(value, **changes) if maker is None else maker(value, changes)


def _slotted(kind: Any) -> bool:
    slotted = not any("__dict__" in vars(base) for base in kind.__mro__)
    return slotted and all(field.init for field in dataclasses.fields(kind))


def _copier(kind: Any) -> Callable[[Any, dict[str, Any]], Any]:
    copies = [f"new.{field.name} = old.{field.name}" for field in dataclasses.fields(kind)]
    changing = ["for name, value in changes.items():", " setattr(new, name, value)"]
    body = ["new = blank(kind)", *copies, *changing, "return new"]
    copier: Callable[[Any, dict[str, Any]], Any] = _compiled(
        "def copy(old, changes):", body, {"blank": object.__new__, "kind": kind}
    )
    return copier


def _compiled(head: str, body: list[str], known: dict[str, Any]) -> Any:
    found: dict[str, Any] = {}
    exec("\n ".join([head, *body]), known, found)  # noqa: S102 - the fields of our own classes
    return next(iter(found.values()))
