"""Conditions: each means the same in every store, of an item and of no item."""

from __future__ import annotations

import pytest

from fencepost.application.store import (
    Absent,
    Condition,
    Item,
    Lacks,
    OneOf,
    Present,
    Put,
    Store,
    Update,
    Won,
    either,
    equals,
    every,
)
from fencepost.application.store import Compare as Is

THERE: Item = {"n": 5, "s": "m", "yes": True, "none": None, "list": [1]}
CONDITIONS: list[tuple[Condition, bool, bool]] = [
    # condition, of the item above, of no item
    (Present(), True, False),
    (Absent(), False, True),
    (equals("n", 5), True, False),
    (equals("n", 6), False, False),
    (equals("n", "5"), False, False),
    (equals("s", "m"), True, False),
    (equals("yes", True), True, False),
    (equals("yes", False), False, False),
    (equals("yes", 1), False, False),
    (equals("n", True), False, False),
    (equals("none", ""), False, False),
    (equals("list", 1), False, False),
    (equals("missing", 5), False, False),
    (Is("n", "<", 6), True, False),
    (Is("n", "<", 5), False, False),
    (Is("n", "<=", 5), True, False),
    (Is("n", ">", 5), False, False),
    (Is("n", ">", -3), True, False),
    (Is("n", ">=", 6), False, False),
    (Is("s", "<", "n"), True, False),
    (Is("s", ">=", "ma"), False, False),
    (Is("s", "<", 9), False, False),
    (Is("none", "<", 9), False, False),
    (Is("missing", "<", 9), False, False),
    (OneOf("s", ("a", "m")), True, False),
    (OneOf("s", ("a", "b")), False, False),
    (OneOf("s", ("m", "m")), True, False),
    (OneOf("n", ("5", 5)), True, False),
    (OneOf("n", ()), False, False),
    (OneOf("n", tuple(range(250))), True, False),
    (OneOf("n", tuple(range(1000, 1250))), False, False),
    (OneOf("missing", ("a",)), False, False),
    (Lacks("missing"), True, True),
    (Lacks("none"), False, True),
    (every(), True, True),
    (either(), False, False),
    (every(Present(), equals("n", 5)), True, False),
    (every(Present(), equals("n", 5), Is("s", ">", "z")), False, False),
    (either(Absent(), equals("n", 5)), True, True),
    (either(Absent(), every(equals("n", 5), either(Lacks("s"), equals("s", "m")))), True, True),
    (every(either(equals("n", 5)), every(every(Present()))), True, False),
    (every(equals("n", 5), either()), False, False),
    (either(equals("n", 5), every()), True, True),
    (either(equals("n", 4), OneOf("s", ())), False, False),
    (equals("pk", "no such"), False, False),
]


MOTO_IS_WRONG: list[Condition] = [
    equals("yes", 1),  # takes true for 1
    Is("s", "<", 9),  # crashes where kinds differ
]


@pytest.mark.parametrize("case", CONDITIONS, ids=lambda case: str(case[0])[:60])
def test_a_condition_means_the_same_everywhere(store: Store, adapter: str, key, case) -> None:
    condition, of_item, of_nothing = case
    if adapter == "moto" and condition in MOTO_IS_WRONG:
        pytest.skip("moto compares values of different kinds")
    store.write(Put(key=key("there"), item=THERE))
    for sk, expected in (("there", of_item), ("not-there", of_nothing)):
        verdict = store.write(Update(key=key(sk), set={"hit": 1}, condition=condition))
        assert isinstance(verdict, Won) == expected
