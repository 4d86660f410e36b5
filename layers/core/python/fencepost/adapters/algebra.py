"""What conditions and writes mean, as pure functions over items: the engines that are not DynamoDB use them."""

from __future__ import annotations

from collections.abc import Sequence
from types import NoneType
from typing import assert_never

from fencepost.adapters.refusals import check_item, kind
from fencepost.application.store import (
    Absent,
    Action,
    All,
    Cancelled,
    Cause,
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
    Reason,
    Update,
    Value,
)


def holds(condition: Condition | None, item: Item | None) -> bool:
    """Whether `condition` holds of `item`; None always does. Values of different kinds never compare."""
    match condition:
        case Compare(name, op, value):
            return item is not None and name in item and _compares(item[name], op, value)
        case All(conditions):
            return all(holds(each, item) for each in conditions)
        case None:
            return True
        case Absent():
            return item is None
        case Present():
            return item is not None
        case OneOf(name, values):
            return item is not None and name in item and any(_compares(item[name], "=", v) for v in values)
        case Lacks(name):
            return item is None or name not in item
        case Either(conditions):
            return any(holds(each, item) for each in conditions)
        case _:
            assert_never(condition)


def _compares(left: Value, op: str, right: Value) -> bool:
    if type(left) is not type(right) and kind(left) != kind(right):
        return False
    match op:
        case "=":
            return bool(left == right)
        case "<":
            return bool(left < right)
        case "<=":
            return bool(left <= right)
        case ">":
            return bool(left > right)
        case ">=":
            return bool(left >= right)
        case _:
            raise InvalidWriteError(f"op is {op!r}; it must be one of = < <= > >=")


def after(action: Action, old: Item | None) -> Item | None:
    """The item once `action` has taken effect, its values copied; raises InvalidWriteError as the store would."""
    match action:
        case Put():
            return _with_key(action.key, copied(action.item))
        case Update():
            return _updated(action, old)
        case Delete():
            return None
        case Check():
            return old
        case _:
            assert_never(action)


def _updated(update: Update, old: Item | None) -> Item:
    new = dict(old) if old is not None else _with_key(update.key, {})
    for name, increment in update.add.items():
        before = new.get(name, 0)
        if kind(before) != "N":
            raise InvalidWriteError(f"add to {name}: the stored value is no number")
        new[name] = before + increment
    for name in update.remove:
        new.pop(name, None)
    new.update(copied(update.set))
    check_item(new)
    return new


def judge(actions: Sequence[Action], olds: Sequence[Item | None]) -> list[Item | None] | Cancelled:
    """The items that a transaction leaves behind, in order; or why it is cancelled."""
    news: list[Item | None] = []
    reasons: list[Reason] = []
    for action, old in zip(actions, olds, strict=True):
        reason, new = _judge_one(action, old)
        reasons.append(reason)
        news.append(new)
    if any(reason.cause is not Cause.NONE for reason in reasons):
        return Cancelled(tuple(reasons))
    return news


def _judge_one(action: Action, old: Item | None) -> tuple[Reason, Item | None]:
    if not holds(action.condition, old):
        return Reason(Cause.CONDITION, None if old is None else copied(old)), None
    try:
        return Reason(Cause.NONE), after(action, old)
    except InvalidWriteError:
        return Reason(Cause.INVALID), None


def _with_key(key: Key, item: dict[str, Value]) -> dict[str, Value]:
    item["pk"] = key.pk
    item["sk"] = key.sk
    return item


def copied(item: Item) -> dict[str, Value]:
    """A copy that shares nothing mutable with `item`, as a service would return it: plain types, no tuples."""
    return {name: _copied_value(value) for name, value in item.items()}


def _copied_value(value: Value) -> Value:
    if type(value) in _PLAIN:
        return value
    match kind(value):
        case "S":
            return str.__str__(value)  # an enum's member becomes plain text
        case "N":
            return int.__int__(value)
        case "B":
            return bytes(value)
        case "M":
            return copied(value)
        case _:
            return [_copied_value(each) for each in value]


_PLAIN = frozenset({str, int, bool, bytes, NoneType})
