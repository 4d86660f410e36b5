"""Bad input, told all at once: each fault names the field, its value, the rule and, where there is one, a remedy."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from dataclasses import dataclass

_SHOWN = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One broken rule. `field` is a dotted path into the input; `value` is cut so that an answer stays short."""

    field: str
    value: object
    rule: str
    suggestion: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", _shown(self.value))

    def __str__(self) -> str:
        hint = f" (try: {self.suggestion})" if self.suggestion else ""
        return f"{self.field}: {self.rule}{hint}"


class Faults(Exception):  # noqa: N818 - it carries faults, in the plural; the word is the name
    """Input was refused. `faults` holds every broken rule, never none."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        if not self.faults:
            raise ValueError("a refusal without a fault explains nothing")
        super().__init__("; ".join(map(str, self.faults)))


def _shown(value: object) -> object:
    """`value` as it may be echoed: scalars as they are, long text cut, anything else abbreviated."""
    match value:
        case None | bool() | float():
            return value
        case int() if abs(value) < 10**18:
            return value
        case str():
            return value if len(value) <= _SHOWN else value[:_SHOWN] + "…"
        case int():
            return "a number of more than 18 digits"
        case _:
            return reprlib.repr(value)
