"""Expressions, and the codec of values: what goes over the wire."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.adapters.dynamodb import codec
from fencepost.adapters.dynamodb.expressions import (
    Aliases,
    condition_expression,
    key_condition_expression,
    update_expression,
)
from fencepost.adapters.dynamodb.schema import SCHEMAS, stage_prefix, table_names
from fencepost.adapters.sqlite.codec import decode as from_text
from fencepost.adapters.sqlite.codec import encode as to_text
from fencepost.application.store import (
    Absent,
    Compare,
    Condition,
    InvalidWriteError,
    Key,
    Lacks,
    OneOf,
    Present,
    Query,
    Table,
    Update,
    either,
    equals,
    every,
)

NEVER = "attribute_exists(pk) AND attribute_not_exists(pk)"
ALWAYS = "attribute_exists(pk) OR attribute_not_exists(pk)"


def readable(text: str | None, aliases: Aliases) -> str | None:
    """The expression with the aliases put back, longest first, so that #a1 is not found in #a10."""
    plain = {**aliases.names, **{alias: str(next(iter(v.values()))) for alias, v in aliases.values.items()}}
    for alias in sorted(plain, key=len, reverse=True):
        text = text and text.replace(alias, plain[alias])
    return text


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (None, None),
        (Absent(), "attribute_not_exists(pk)"),
        (Present(), "attribute_exists(pk)"),
        (Compare("n", "<=", 3), "n <= 3"),
        (Lacks("a"), "attribute_not_exists(a)"),
        (OneOf("s", ("x", "y", "x")), "s IN (x, y)"),
        (
            every(equals("a", 1), either(equals("b", 2), Absent())),
            "(a = 1 AND (b = 2 OR attribute_not_exists(pk)))",
        ),
        (every(every(equals("a", 1))), "a = 1"),
        (every(), ALWAYS),
        (either(), NEVER),
        (OneOf("s", ()), NEVER),
        (every(equals("a", 1), OneOf("s", ())), NEVER),
        (either(equals("a", 1), OneOf("s", ())), "a = 1"),
        (either(equals("a", 1), every()), ALWAYS),
    ],
)
def test_a_condition_is_rendered(condition: Condition | None, expected: str | None) -> None:
    aliases = Aliases()
    text = condition_expression(condition, aliases)
    assert readable(text, aliases) == expected
    for alias in [*aliases.names, *aliases.values]:
        assert text is not None
        assert alias in text, "an alias that is not used would be refused"


def test_more_than_a_hundred_values_are_several_lists() -> None:
    aliases = Aliases()
    text = condition_expression(OneOf("n", tuple(range(205))), aliases)
    assert text is not None
    assert text.count(" IN ") == 3
    assert text.count(" OR ") == 2
    assert max(part.count(",") for part in text.split(" OR ")) == 99


def test_one_and_true_are_two_values() -> None:
    aliases = Aliases()
    condition_expression(every(equals("a", 1), equals("b", True), equals("c", 1)), aliases)
    assert list(aliases.values.values()) == [{"N": "1"}, {"BOOL": True}]


def test_an_update_is_rendered_clause_by_clause() -> None:
    aliases = Aliases()
    update = Update(
        key=Key(Table.JOBS, "p", "s"),
        set={"a": 1, "b": None},
        remove=("c", "d"),
        add={"e": -2},
        condition=Present(),
    )
    text = update_expression(update, aliases)
    assert text == "SET #a0 = :v0, #a1 = :v1 REMOVE #a2, #a3 ADD #a4 :v2"
    assert aliases.values == {":v0": {"N": "1"}, ":v1": {"NULL": True}, ":v2": {"N": "-2"}}
    only = Update(key=update.key, remove=("c",), condition=Present())
    assert update_expression(only, Aliases()) == "REMOVE #a0"


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (None, None, "pk = p"),
        ("a", None, "pk = p AND sk >= a"),
        (None, "b", "pk = p AND sk <= b"),
        ("a", "b", "pk = p AND sk BETWEEN a AND b"),
        ("", "b", "pk = p AND sk <= b"),
    ],
)
def test_a_range_is_rendered(first: str | None, last: str | None, expected: str) -> None:
    aliases = Aliases()
    text = key_condition_expression(Query(table=Table.JOBS, pk="p", first=first, last=last), aliases)
    assert readable(text, aliases) == expected


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**38) + 1, 10**38 - 1),
    st.text(st.characters(codec="utf-8")),
    st.binary(max_size=20),
)
NAMES = st.one_of(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=5), st.sampled_from(["$bytes", "$map", "$"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=10,
)


@given(item=st.dictionaries(NAMES, VALUES, max_size=5))
def test_whatever_is_stored_comes_back_the_same(item: dict[str, Any]) -> None:
    for back in (codec.decode_item(codec.encode_item(item)), from_text(to_text(item))):
        assert back == item
        assert repr(back) == repr(item)  # which tells 1 from True


@pytest.mark.parametrize("value", [1.5, {"a"}, object(), [0.5]])
def test_what_dynamodb_cannot_keep_is_refused(value: object) -> None:
    with pytest.raises(InvalidWriteError):
        codec.encode(value)


def test_a_number_that_is_not_whole_is_never_read_as_one() -> None:
    with pytest.raises(ValueError, match=r"1\.5"):
        codec.decode({"N": "1.5"})


def test_a_stage_has_four_tables_and_only_timers_never_expire() -> None:
    names = table_names(stage_prefix("prod"))
    assert names[Table.TIMERS] == "fencepost-prod-timers"
    assert len(set(names.values())) == len(Table)
    assert {table for table, schema in SCHEMAS.items() if not schema.time_to_live} == {Table.TIMERS}
    assert all(schema.point_in_time_recovery for schema in SCHEMAS.values())
