"""Why an expression is refused, as values."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """The class of a refusal."""

    FIELD_COUNT = "field-count"
    SYNTAX = "syntax"
    OUT_OF_RANGE = "out-of-range"
    BAD_STEP = "bad-step"
    REVERSED_RANGE = "reversed-range"
    AMBIGUOUS = "ambiguous"
    UNSUPPORTED = "unsupported"
    NEVER_MATCHES = "never-matches"
    TOO_LONG = "too-long"


class Problem(ValueError):  # noqa: N818 - several are collected into one error
    """One thing wrong with an expression."""

    def __init__(self, reason: Reason, rule: str) -> None:
        super().__init__(f"{reason}: {rule}")
        self.reason = reason
        self.rule = rule


class CronRefusedError(ValueError):
    """An expression was refused: `problems` holds every one found."""

    def __init__(self, *problems: Problem) -> None:
        self.problems = problems
        super().__init__("; ".join(map(str, self.problems)))
