"""Schedules: CPU per next occurrence, beside cronsim and bare croniter, and how often each is right.

Run it with `python -m tests.bench.bench_schedule`. Times are CPU microseconds of this process; the ratios and the
counts are what to compare between machines.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from croniter import croniter
from cronsim import CronSim

from fencepost.domain.faults import Faults
from fencepost.domain.schedule import (
    CronSchedule,
    latest_occurrence,
    next_occurrence,
    parse_schedule,
    search,
    zones,
)
from fencepost.domain.schedule.fields import parse_cron

VECTORS = Path(__file__).resolve().parents[1] / "vectors" / "cron"
USUAL = ("* * * * *", "30 2 * * *", "0 9 * * 1-5", "15 10 1 * *", "0 0 13 * 5", "0 0 29 2 *", "0 0 29 2 */7")
HOME = "America/New_York"
NOW = datetime(2026, 11, 29, 12, 0, 30, tzinfo=UTC)
ROUNDS = 40
Next = Callable[[str, str, datetime], datetime]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report: what was measured, and its figures by column."""

    subject: str
    figures: dict[str, float]


def fencepost_next(cron: str, zone: str, after: datetime) -> datetime:
    """Ours, as the service uses it: the schedule is read once and kept."""
    found = next_occurrence(CronSchedule(cron=cron, timezone=zone), after)
    assert found is not None
    return found


def croniter_next(cron: str, zone: str, after: datetime) -> datetime:
    """croniter as its manual shows it."""
    found: datetime = croniter(cron, after.astimezone(ZoneInfo(zone))).get_next(datetime)
    return found.astimezone(UTC)


def cronsim_next(cron: str, zone: str, after: datetime) -> datetime:
    """cronsim as its manual shows it."""
    return next(CronSim(cron, after.astimezone(ZoneInfo(zone)))).astimezone(UTC)


CONTENDERS: dict[str, Next] = {
    "fencepost": fencepost_next,
    "croniter": croniter_next,
    "cronsim": cronsim_next,
}


def cpu_us(call: Callable[[], object], rounds: int = ROUNDS) -> float:
    """CPU microseconds of one call: the mean over `rounds`, the best of three goes."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time_ns()
        for _ in range(rounds):
            call()
        best = min(best, (time.process_time_ns() - start) / rounds / 1000)
    return best


def speed() -> Iterator[Row]:
    """Parse and next of usual expressions, in microseconds; ours with its caches warm, as in the service."""
    for cron in USUAL:
        figures = {name: cpu_us(partial(ask, cron, HOME, NOW)) for name, ask in CONTENDERS.items()}
        yield Row(cron, figures | {"latest": cpu_us(partial(latest, cron, NOW), 10)})


def latest(cron: str, moment: datetime) -> datetime | None:
    """The latest occurrence, with nothing known about how far back it lies."""
    schedule = CronSchedule(cron=cron, timezone=HOME)
    return latest_occurrence(schedule, moment, datetime(2000, 1, 1, tzinfo=UTC))


def rightness() -> Row:
    """How many of the vectors each answers in full; croniter and cronsim may raise or go astray."""
    right = dict.fromkeys(CONTENDERS, 0.0)
    lines = [
        line
        for name in ("vectors.jsonl", "vectors_tzdata.jsonl")
        for line in (VECTORS / name).read_text(encoding="utf-8").splitlines()
    ]
    for line in lines:
        vector = json.loads(line)
        for name, contender in CONTENDERS.items():
            right[name] += _answers(contender, vector)
    return Row(f"right answers of {len(lines)}", right)


def _answers(contender: Next, vector: dict[str, object]) -> bool:
    after = datetime.fromisoformat(str(vector["after"]))
    expected = vector["next"]
    assert isinstance(expected, list)
    for instant in expected:
        try:
            after = contender(str(vector["expr"]), str(vector["tz"]), after)
        except Exception:  # noqa: BLE001 - any failure of a contender counts as a wrong answer
            return False
        if after != datetime.fromisoformat(instant):
            return False
    return True


HOSTILE: tuple[tuple[str, str, datetime], ...] = (
    ("* * * * *", "Pacific/Apia", datetime(2011, 12, 30, 9, 59, tzinfo=UTC)),
    ("0-48 23-23,3-9,*/4,19 29 * fri", "Pacific/Apia", datetime(2011, 12, 30, 9, 59, tzinfo=UTC)),
    ("* * * * *", "Antarctica/Troll", datetime(2027, 3, 28, 0, 59, tzinfo=UTC)),
    (",".join(["0-59"] * 85) + " * * * *", HOME, NOW),
    ("0 0 29 2 */7", HOME, datetime(2072, 3, 1, tzinfo=UTC)),
    ("0 0 29 2 */7", "Africa/Casablanca", datetime(2011, 12, 30, tzinfo=UTC)),
)

REFUSED: tuple[dict[str, object], ...] = (
    {"cron": "0," * 500_000 + " * * * *"},
    {"cron": "9" * 5000 + " * * * *"},
    {"cron": "0 0 30 2 *"},
    {"cron": "H" * 512},
    {"cron": "*/90 * * * *"},
    {"cron": "1/2/3 " * 80},
    {"cron": ",".join(["9-1"] * 126) + " * * * *"},
    {"cron": "0 9 * * *", "timezone": "Amerika/" + "x" * 1_000_000},
    {"cron": "*/5 2 8-14 3 */7", "timezone": HOME},
    {"every": "P" + "1Y" * 5000},
)


def hostile() -> Iterator[Row]:
    """Milliseconds of CPU for the worst questions, everything computed anew; bare croniter beside it."""
    for cron, zone, after in HOSTILE:
        figures = {"fencepost": _cold_ms(cron, zone, after)}
        if len(cron) < 64:
            figures["croniter"] = _once_ms(partial(croniter_next, cron, zone, after))
        yield Row(f"{cron[:34]} {zone} {after:%Y-%m-%d}", figures)
    for raw in REFUSED:
        label = f"refused: {str(raw)[:40]} ({len(str(raw)):,} characters)"
        yield Row(label, {"fencepost": _once_ms(partial(refuse, raw))})


def refuse(raw: dict[str, object]) -> Faults:
    """The refusal of `raw`, suggestions included."""
    parse_cron.cache_clear()
    search._search.cache_clear()
    zones._pieces.cache_clear()
    try:
        accepted = parse_schedule(raw, now=NOW)
    except Faults as faults:
        return faults
    raise AssertionError(f"accepted: {accepted}")


def flatness() -> Row:
    """Microseconds for the next occurrence and the latest one, after ever longer gaps."""
    gaps = {"minute": 1 / 1440, "day": 1, "year": 365, "decade": 3652}
    return Row(
        "after a gap of a", {name: cpu_us(partial(resume, timedelta(days=n))) for name, n in gaps.items()}
    )


def resume(gap: timedelta) -> tuple[datetime | None, datetime | None]:
    """What a job asks that slept for `gap`."""
    schedule = CronSchedule(cron="*/5 * * * *", timezone=HOME)
    return next_occurrence(schedule, NOW - gap), latest_occurrence(schedule, NOW, NOW - gap)


def _cold_ms(cron: str, zone: str, after: datetime) -> float:
    parse_cron.cache_clear()
    search._search.cache_clear()
    zones._pieces.cache_clear()
    return _once_ms(partial(fencepost_next, cron, zone, after))


def _once_ms(call: Callable[[], object]) -> float:
    start = time.process_time_ns()
    call()
    return (time.process_time_ns() - start) / 1e6


def main() -> None:
    """Prints the report."""
    fencepost_next("0 9 * * *", HOME, NOW)
    print("CPU microseconds for one next occurrence (latest: from behind)")
    for row in speed():
        _show(row, 1)
        ratios = {
            f"/{name}": row.figures["fencepost"] / row.figures[name] for name in ("croniter", "cronsim")
        }
        _show(Row("", ratios), 2)
    print("\nRight answers")
    _show(rightness(), 0)
    print("\nCPU milliseconds for hostile questions, nothing cached (bound: 10)")
    for row in hostile():
        _show(row, 2)
    print("\nCPU microseconds for next and latest together")
    _show(flatness(), 1)


def _show(row: Row, digits: int) -> None:
    figures = "  ".join(f"{name} {value:.{digits}f}" for name, value in row.figures.items())
    print(f"  {row.subject:58} {figures}")


if __name__ == "__main__":
    main()
