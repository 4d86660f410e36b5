"""Conditions and updates as DynamoDB expressions. Every name is #a0.., every value :v0..: no reserved word can bite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from fencepost.adapters.dynamodb.codec import Wire, encode
from fencepost.adapters.dynamodb.schema import PARTITION_KEY, SORT_KEY
from fencepost.adapters.refusals import kind
from fencepost.application.store import (
    Absent,
    All,
    Compare,
    Condition,
    Either,
    Lacks,
    OneOf,
    Present,
    Query,
    Update,
    Value,
)

_IN_OPERANDS = 100


@dataclass(slots=True)
class Aliases:
    """The names and values that the expressions of one request use, each once; an unused one would be refused."""

    names: dict[str, str] = field(default_factory=dict)
    values: dict[str, Wire] = field(default_factory=dict)
    _names_seen: dict[str, str] = field(default_factory=dict)
    _values_seen: dict[tuple[str, str | int], str] = field(default_factory=dict)

    def name(self, name: str) -> str:
        """The alias of an attribute's name."""
        if name not in self._names_seen:
            alias = f"#a{len(self.names)}"
            self._names_seen[name] = alias
            self.names[alias] = name
        return self._names_seen[name]

    def value(self, value: Value) -> str:
        """The alias of a value; equal texts and numbers share one."""
        if not isinstance(value, str | int):
            return self._new_value(value)
        seen = (kind(value), value)
        if seen not in self._values_seen:
            self._values_seen[seen] = self._new_value(value)
        return self._values_seen[seen]

    def _new_value(self, value: Value) -> str:
        alias = f":v{len(self.values)}"
        self.values[alias] = encode(value)
        return alias


def simplified(condition: Condition) -> Condition | bool:
    """The condition without constant parts (an empty `All` holds, an empty `Either` or `OneOf` never does)."""
    match condition:
        case OneOf(_, values):
            return condition if values else False
        case All(conditions):
            parts = [simplified(each) for each in conditions]
            if any(part is False for part in parts):
                return False
            rest = _conditions(parts)
            return All(rest) if rest else True
        case Either(conditions):
            parts = [simplified(each) for each in conditions]
            if any(part is True for part in parts):
                return True
            rest = _conditions(parts)
            return Either(rest) if rest else False
        case _:
            return condition


def _conditions(parts: Iterable[Condition | bool]) -> tuple[Condition, ...]:
    return tuple(part for part in parts if not isinstance(part, bool))


def condition_expression(condition: Condition | None, aliases: Aliases) -> str | None:
    """The ConditionExpression; None where no condition is given."""
    if condition is None:
        return None
    some = simplified(condition)
    if isinstance(some, bool):
        key = aliases.name(PARTITION_KEY)
        return f"attribute_exists({key}) {'OR' if some else 'AND'} attribute_not_exists({key})"
    return _render(some, aliases)


def _render(condition: Condition, aliases: Aliases) -> str:
    match condition:
        case Absent():
            return f"attribute_not_exists({aliases.name(PARTITION_KEY)})"
        case Present():
            return f"attribute_exists({aliases.name(PARTITION_KEY)})"
        case Compare(name, op, value):
            return f"{aliases.name(name)} {op} {aliases.value(value)}"
        case OneOf(name, values):
            unique = list(dict.fromkeys(aliases.value(value) for value in values))
            return _joined("OR", [f"{aliases.name(name)} IN ({each})" for each in _chunks(unique)])
        case Lacks(name):
            return f"attribute_not_exists({aliases.name(name)})"
        case All(conditions):
            return _joined("AND", [_render(each, aliases) for each in conditions])
        case Either(conditions):
            return _joined("OR", [_render(each, aliases) for each in conditions])
        case _:
            assert_never(condition)


def _chunks(operands: Sequence[str]) -> Iterable[str]:
    for start in range(0, len(operands), _IN_OPERANDS):
        yield ", ".join(operands[start : start + _IN_OPERANDS])


def _joined(word: str, parts: Sequence[str]) -> str:
    """Redundant parentheses would be refused, so a single part gets none."""
    return parts[0] if len(parts) == 1 else f"({f' {word} '.join(parts)})"


def update_expression(update: Update, aliases: Aliases) -> str:
    """The UpdateExpression: its SET, REMOVE and ADD clauses."""
    sets = [f"{aliases.name(name)} = {aliases.value(value)}" for name, value in update.set.items()]
    removes = [aliases.name(name) for name in update.remove]
    adds = [f"{aliases.name(name)} {aliases.value(value)}" for name, value in update.add.items()]
    clauses = (("SET", sets), ("REMOVE", removes), ("ADD", adds))
    return " ".join(f"{word} {', '.join(parts)}" for word, parts in clauses if parts)


def key_condition_expression(query: Query, aliases: Aliases) -> str:
    """The KeyConditionExpression of the query's partition and range; an empty text is as good as no bound."""
    parts = [f"{aliases.name(PARTITION_KEY)} = {aliases.value(query.pk)}"]
    first, last = query.first, query.last
    if first and last:
        parts.append(f"{aliases.name(SORT_KEY)} BETWEEN {aliases.value(first)} AND {aliases.value(last)}")
    elif first:
        parts.append(f"{aliases.name(SORT_KEY)} >= {aliases.value(first)}")
    elif last:
        parts.append(f"{aliases.name(SORT_KEY)} <= {aliases.value(last)}")
    return " AND ".join(parts)
