"""What DynamoDB refuses whatever the data: shapes, sizes and counts of requests, checked before any engine acts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import assert_never

from fencepost.application.store import (
    Absent,
    Action,
    All,
    Check,
    Compare,
    Condition,
    Delete,
    Either,
    InvalidWriteError,
    Item,
    Key,
    Lacks,
    OneOf,
    Present,
    Put,
    Update,
    Value,
)

ITEM_BYTES = 400 * 1024
TRANSACTION_BYTES = 4 * 1024 * 1024
TRANSACTION_ACTIONS = 100
TOKEN_CHARACTERS = 36
PK_BYTES = 2048
SK_BYTES = 1024
DIGITS = 38
DEPTH = 32
KEY_NAMES = frozenset({"pk", "sk"})
OPERATORS = frozenset({"=", "<", "<=", ">", ">="})


_KINDS: Mapping[type, str] = {
    str: "S",
    bool: "BOOL",
    int: "N",
    bytes: "B",
    NoneType: "NULL",
    dict: "M",
    list: "L",
    tuple: "L",
}


def kind(value: Value) -> str:
    """The type under which DynamoDB keeps `value`; raises InvalidWriteError where it keeps none (floats, sets)."""
    known = _KINDS.get(type(value))
    if known is not None:
        return known
    for base, name in _KINDS.items():
        if isinstance(value, base):  # an enum's member, say; bool comes before int
            return name
    if isinstance(value, Mapping):
        return "M"
    raise InvalidWriteError(f"a value of type {type(value).__name__} cannot be stored")


def check_action(action: Action) -> int:
    """Refuses what no stored item could make right; returns the bytes that the action brings along."""
    check_key(action.key)
    own = item_size({"pk": action.key.pk, "sk": action.key.sk})
    if action.condition is not None:
        _check_condition(action.condition)
    match action:
        case Put():
            _check_names(action.item)
            return _checked_size(own + item_size(action.item))
        case Update():
            _check_update(action)
            return _checked_size(own + item_size(action.set))
        case Delete() | Check():
            return own
        case _:
            assert_never(action)


def check_key(key: Key) -> None:
    """Both halves are wanted, within their lengths."""
    for name, text, limit in (("pk", key.pk, PK_BYTES), ("sk", key.sk, SK_BYTES)):
        if not 1 <= _utf8(text) <= limit:
            raise InvalidWriteError(f"{name} has {_utf8(text)} bytes; it must have 1..{limit}")


def check_transaction(actions: Sequence[Action], token: str | None) -> None:
    """Refuses a transaction as a whole: count, the same item twice, size, token."""
    if not 1 <= len(actions) <= TRANSACTION_ACTIONS:
        raise InvalidWriteError(
            f"a transaction of {len(actions)} actions; it must have 1..{TRANSACTION_ACTIONS}"
        )
    if len({action.key for action in actions}) < len(actions):
        raise InvalidWriteError("a transaction names one item twice")
    if token is not None and not 1 <= len(token) <= TOKEN_CHARACTERS:
        raise InvalidWriteError(f"token has {len(token)} characters; it must have 1..{TOKEN_CHARACTERS}")
    size = sum(check_action(action) for action in actions)
    if size > TRANSACTION_BYTES:
        raise InvalidWriteError(f"a transaction of {size} bytes; it may have {TRANSACTION_BYTES}")


def check_item(item: Item) -> None:
    """Refuses an item above 400 KB, by the documented rules of size."""
    _checked_size(item_size(item))


def _checked_size(size: int) -> int:
    if size > ITEM_BYTES:
        raise InvalidWriteError(f"an item of {size} bytes; it may have {ITEM_BYTES}")
    return size


def item_size(item: Item) -> int:
    """Bytes for which DynamoDB counts an item; raises InvalidWriteError for a value that cannot be stored."""
    return sum(_utf8(name) + _value_size(value, 1) for name, value in item.items())


def _value_size(value: Value, depth: int) -> int:
    match kind(value):
        case "S":
            return _utf8(value)
        case "N":
            return _number_size(value)
        case "B":
            return len(value)
        case "M":
            _check_depth(depth)
            return 3 + sum(1 + _utf8(name) + _value_size(each, depth + 1) for name, each in value.items())
        case "L":
            _check_depth(depth)
            return 3 + sum(1 + _value_size(each, depth + 1) for each in value)
        case _:
            return 1


def _number_size(value: int) -> int:
    digits = str(abs(value)).rstrip("0")
    if len(digits) > DIGITS:
        raise InvalidWriteError(f"a number of {len(digits)} significant digits; it may have {DIGITS}")
    return 1 + (len(digits) + 1) // 2 + (value < 0)


def _check_depth(depth: int) -> None:
    if depth > DEPTH:
        raise InvalidWriteError(f"values nested more than {DEPTH} deep")


def _utf8(text: str) -> int:
    if not isinstance(text, str):
        raise InvalidWriteError(f"a name or key of type {type(text).__name__}; it must be text")
    if text.isascii():
        return len(text)
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:  # half a surrogate pair, as JSON may carry it
        raise InvalidWriteError("text that no UTF-8 can hold") from error


def _check_names(names: Mapping[str, Value] | Sequence[str]) -> None:
    for name in names:
        if name in KEY_NAMES:
            raise InvalidWriteError(f"{name} belongs to the key, it cannot be written")
        if not name:
            raise InvalidWriteError("an attribute without a name")


def _check_update(update: Update) -> None:
    names = [*update.set, *update.remove, *update.add]
    if not names:
        raise InvalidWriteError("an update that changes nothing")
    if len(set(names)) < len(names):
        raise InvalidWriteError("an update names one attribute twice")
    _check_names(names)
    for name, increment in update.add.items():
        if kind(increment) != "N":
            raise InvalidWriteError(f"add to {name}: the increment is no whole number")


def _check_condition(condition: Condition) -> None:
    match condition:
        case Absent() | Present() | Lacks():
            pass
        case Compare(name, op, value):
            if op not in OPERATORS:
                raise InvalidWriteError(f"{name}: op is {op!r}; it must be one of = < <= > >=")
            if kind(value) not in {"S", "N"} and (op != "=" or kind(value) != "BOOL"):
                raise InvalidWriteError(f"{name}: a {type(value).__name__} cannot be compared by {op}")
        case OneOf(name, values):
            if any(kind(value) not in {"S", "N"} for value in values):
                raise InvalidWriteError(f"{name}: one of the values is neither text nor a whole number")
        case All(conditions) | Either(conditions):
            for each in conditions:
                _check_condition(each)
        case _:
            assert_never(condition)
