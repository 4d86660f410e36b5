"""The only module that knows croniter.

croniter is asked one question that it answers reliably: which wall-clock minute matches next, on a calendar without
time zones. It sees plain comma lists that `fields` has read and checked, never what somebody typed.
"""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from threading import get_ident
from typing import TYPE_CHECKING

from fencepost.domain.schedule.fields import DAY, HOUR, MINUTE, MONTH, WEEKDAY, CronFields, Spec

if TYPE_CHECKING:
    from croniter import croniter

# 29 February on one weekday may take 40 years, across a century that has no leap year.
_YEARS = 50
_START = datetime(2000, 1, 1)  # noqa: DTZ001 - wall clocks are naive; zones come later


def next_match(fields: CronFields, wall: datetime) -> datetime | None:
    """The first matching whole minute later than the minute of `wall` (naive); None if 50 years hold none."""
    from croniter import CroniterBadDateError  # noqa: PLC0415 - who only delivers never searches

    search = _search(fields, get_ident())
    search.set_current(wall)
    try:
        found: datetime = search.get_next(datetime)
    except CroniterBadDateError:
        return None
    return found


@lru_cache(maxsize=2048)
def _search(fields: CronFields, thread: int) -> croniter:
    """A search object per expression and thread, since looking moves its cursor."""
    from croniter import croniter  # noqa: PLC0415 - the same

    del thread
    return croniter(
        plain_text(fields),
        _START,
        day_or=not fields.day_and,
        max_years_between_matches=_YEARS,
    )


def plain_text(fields: CronFields) -> str:
    """The form given to croniter: a star where a field holds every value, else a comma list."""
    columns: tuple[tuple[Spec, tuple[int, ...]], ...] = (
        (MINUTE, fields.minutes),
        (HOUR, fields.hours),
        (DAY, fields.days),
        (MONTH, fields.months),
        (WEEKDAY, fields.weekdays),
    )
    return " ".join(
        "*" if len(values) == spec.count else ",".join(map(str, values)) for spec, values in columns
    )
