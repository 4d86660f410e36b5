"""Query parameters: declared with the route, read once, every fault told with the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fencepost.adapters.api.reading import near
from fencepost.domain.faults import Fault, Faults
from fencepost.domain.schedule.reading import read_instant

Read = Callable[[str], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One query parameter: how it is read (ValueError says the rule), and its schema for the document."""

    name: str
    read: Read
    schema: Mapping[str, Any]
    says: str
    repeated: bool = False


def read_query(declared: Sequence[Parameter], given: Mapping[str, Sequence[str]]) -> dict[str, object]:
    """The parameters by name; those that were not given are left out. Raises Faults."""
    known = {parameter.name: parameter for parameter in declared}
    faults: list[Fault] = []
    found: dict[str, object] = {}
    for name, values in given.items():
        parameter = known.get(name)
        if parameter is None:
            rule = f"unknown parameter; known: {', '.join(sorted(known)) or 'none'}"
            faults.append(
                Fault(field=name[:60], value=values[-1], rule=rule, suggestion=near(name, list(known)))
            )
        else:
            _read_one(parameter, values, found, faults)
    if faults:
        raise Faults(faults)
    return found


def _read_one(
    parameter: Parameter, values: Sequence[str], found: dict[str, object], faults: list[Fault]
) -> None:
    if len(values) > 1 and not parameter.repeated:
        faults.append(Fault(field=parameter.name, value=values[-1], rule="must be given once"))
        return
    try:
        read = [parameter.read(value) for value in values]
    except ValueError as error:
        faults.append(Fault(field=parameter.name, value=values[-1], rule=str(error)))
        return
    found[parameter.name] = read if parameter.repeated else read[0]


def number(low: int, high: int) -> Read:
    """A whole number in low..high."""

    def read(text: str) -> object:
        if not re.fullmatch(r"[0-9]{1,9}", text, re.ASCII) or not low <= int(text) <= high:
            raise ValueError(f"must be a whole number from {low:,} to {high:,}")
        return int(text)

    return read


def word(*known: str) -> Read:
    """One of `known`."""

    def read(text: str) -> object:
        if text not in known:
            raise ValueError(f"must be one of {', '.join(known)}")
        return text

    return read


def truth(text: str) -> object:
    """true or false."""
    return word("true", "false")(text) == "true"


def text(pattern: str, rule: str) -> Read:
    """What matches `pattern`."""

    def read(value: str) -> object:
        if not re.fullmatch(pattern, value, re.ASCII):
            raise ValueError(rule)
        return value

    return read


def instant(value: str) -> object:
    """An RFC 3339 instant. A plus that a URL turned into a blank is a plus again."""
    return read_instant(value.replace(" ", "+"))


LIMIT = Parameter(
    name="limit",
    read=number(1, 100),
    schema={"type": "integer", "minimum": 1, "maximum": 100, "default": 50},
    says="How many items a page holds at most.",
)
CURSOR = Parameter(
    name="cursor",
    read=text(r"[A-Za-z0-9_-]{1,1000}", "is not a cursor of this list"),
    schema={"type": "string", "maxLength": 1000},
    says="`next` of the page before.",
)
PAGED = (LIMIT, CURSOR)
DRY_RUN = Parameter(
    name="dry_run",
    read=truth,
    schema={"type": "boolean", "default": False},
    says="Answer what would change, and write nothing.",
)
PURGE = Parameter(
    name="purge",
    read=truth,
    schema={"type": "boolean", "default": False},
    says="Delete the team's jobs as well.",
)


def label(value: str) -> object:
    """A pair name:value."""
    name, colon, rest = value.partition(":")
    if not colon or not name or len(value) > 100:
        raise ValueError("must be name:value")
    return name, rest
