"""The list of attempts that a record keeps: the newest ones, each begun once and closed once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from fencepost.domain.model import Attempt, Execution
from fencepost.domain.outcome import EXCERPT_BYTES, Outcome, clip, error_of, excerpt_of, status_of


@dataclass(frozen=True, slots=True)
class Kept:
    """The attempts kept, oldest first, and how many older ones are not."""

    attempts: tuple[Attempt, ...]
    dropped: int


def next_number(record: Execution) -> int:
    """The number of the next attempt, counted over the record's whole life, redrives included."""
    return record.attempts_dropped + len(record.attempts) + 1


def begun(record: Execution, *, fence: int, at: datetime, keep: int) -> Kept:
    """With one more attempt, and no more than `keep`."""
    return _kept(record, Attempt(number=next_number(record), fence=fence, started_at=at), keep)


def passed_over(record: Execution, outcome: Outcome, *, at: datetime, keep: int) -> Kept:
    """With an attempt that ended where it began: nobody was called, so it has no fence of its own."""
    attempt = Attempt(number=next_number(record), fence=record.fence, started_at=at)
    return _kept(record, _ended(attempt, outcome, at), keep)


def closed(record: Execution, outcome: Outcome, *, at: datetime | None) -> tuple[Attempt, ...]:
    """The attempt of the record's present fence ended in `outcome`; `at` None: it goes on after this answer."""
    return tuple(
        _ended(attempt, outcome, at)
        if attempt.fence == record.fence and attempt.ended_at is None
        else attempt
        for attempt in record.attempts
    )


def _ended(attempt: Attempt, outcome: Outcome, at: datetime | None) -> Attempt:
    error = error_of(outcome)
    status = status_of(outcome)
    return replace(
        attempt,
        ended_at=at,
        outcome=outcome.kind.value,
        status=attempt.status if status is None else status,
        error=None if error is None else clip(error),
        excerpt=clip(excerpt_of(outcome), EXCERPT_BYTES) or attempt.excerpt,
    )


def _kept(record: Execution, attempt: Attempt, keep: int) -> Kept:
    every = (*record.attempts, attempt)
    newest = every[-keep:]
    return Kept(newest, record.attempts_dropped + len(every) - len(newest))
