"""Random cron expressions that are valid and like to run near a given wall clock."""

from __future__ import annotations

from datetime import datetime
from random import Random

_WEEKDAYS = ("sun", "MON", "Tue", "wed", "thu", "FRI", "sat")


def near(wall: datetime, draw: Random) -> str:
    """An expression, in any of the forms that the dialect has."""
    return " ".join(
        (
            _field(draw, wall.minute, 0, 59, 30),
            _field(draw, wall.hour, 0, 23, 30),
            _field(draw, wall.day, 1, 31, 70),
            _field(draw, wall.month, 1, 12, 85),
            _weekday(draw, wall.isoweekday() % 7),
        )
    )


def _field(draw: Random, value: int, low: int, high: int, stars: int) -> str:
    if draw.randrange(100) < stars:
        return "*"
    return ",".join(_item(draw, value, low, high) for _ in range(draw.choice((1, 1, 1, 2, 3))))


def _item(draw: Random, value: int, low: int, high: int) -> str:
    value = min(high, max(low, value + draw.choice((-2, -1, 0, 0, 0, 1, 2, 15, 30))))
    wider = draw.randint(value, high)
    step = draw.choice((1, 2, 3, 5, 7, high - low + 1, draw.randint(1, high - low + 1)))
    forms = (
        f"{value}",
        f"{value:02}",
        f"{value}-{wider}",
        f"{low}-{high}",
        f"{value}-{wider}/{step}",
        f"*/{step}",
    )
    return draw.choice((*forms, f"{value}/{step}", f"{low}-{value}"))


def _weekday(draw: Random, value: int) -> str:
    if draw.randrange(100) < 65:
        return "*"
    wider = draw.randint(value, 7)
    forms = (
        f"{value}",
        f"{value}-{wider}",
        _WEEKDAYS[value],
        f"*/{draw.randint(1, 7)}",
        "0-6",
        f"{value}-7/2",
    )
    return ",".join(draw.choice(forms) for _ in range(draw.choice((1, 1, 2))))
