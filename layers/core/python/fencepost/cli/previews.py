"""`fencepost preview`: what a schedule, or a whole crontab, would do."""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from fencepost.cli import drawing
from fencepost.cli.imports.crontab import reasons
from fencepost.cli.reading import content, instant
from fencepost.cli.scheduling import At, Bounds, Cron, Every, Within, Zone, schedule_of, with_bounds
from fencepost.cli.session import Session, session
from fencepost.client import Preview
from fencepost.domain.faults import Faults
from fencepost.domain.instants import to_wire
from fencepost.domain.schedule import CrontabLine, Schedule, describe, occurrences, parse_crontab, warnings


@with_bounds
def preview(
    context: typer.Context,
    cron: Cron = None,
    timezone: Zone = None,
    every: Every = None,
    at: At = None,
    within: Within = None,
    file: Annotated[
        str | None, typer.Option("--file", "-f", help="A crontab: each of its lines, read on this machine.")
    ] = None,
    after: Annotated[str | None, typer.Option(help="From this instant on; now by default.")] = None,
    count: Annotated[int, typer.Option(min=1, max=1000, help="How many occurrences.")] = 5,
    check: Annotated[
        bool, typer.Option("--check", help="Exit 1 where a line of the file is refused.")
    ] = False,
    *,
    bounds: Bounds,
) -> None:
    """Show what a schedule would do; nothing is stored. With --exclude, by the calendars of the team.

    Example: fencepost preview --cron "30 2 * * *" --tz Europe/Berlin --after 2026-03-28 --count 3

    Example: fencepost preview --cron "0 9 * * *" --exclude maintenance --after 2026-03-30 --count 3

    Example: fencepost preview --file crontab.txt --tz Europe/Berlin --count 2
    """
    run = session(context)
    begin = instant(after, run.around.clock.now())
    if file is not None:
        refused = _crontab(run, file, timezone or "UTC", begin or run.around.clock.now(), count)
        raise typer.Exit(1 if check and refused else 0)
    schedule = bounds.of(schedule_of(cron, timezone, every, at, within), run.around.clock.now())
    if schedule is None:
        raise typer.BadParameter("a schedule, please: --cron, --every, --at, --in or --file")
    client = run.mine if bounds.exclude else run.client
    found = client.preview(schedule, after=begin, count=count, by_team=bool(bounds.exclude))
    run.show(found, lambda: picture(found))


def picture(found: Preview) -> RenderableType:
    """In words, and instant by instant."""
    lines = [Text(found.says, style="bold"), *(Text(each, style="yellow") for each in found.warnings)]
    misfire = found.misfire
    policy = f"missed runs: {misfire['policy']}, within {misfire['window_seconds']:,} s, at most {misfire['max_runs']}"
    return Group(*lines, drawing.occurrences(found.occurrences), Text(policy, style="dim"))


def _crontab(run: Session, file: str, timezone: str, begin: datetime, count: int) -> int:
    """How many lines are refused."""
    try:
        lines = parse_crontab(content(file), now=begin, timezone=timezone)
    except Faults as error:
        raise typer.BadParameter(str(error)) from error
    if run.choice.json:
        run.json([_line_wire(line, begin, count) for line in lines])
    else:
        for line in lines:
            run.around.out.print(_line(line, begin, count), soft_wrap=True)
    refused = sum(line.schedule is None for line in lines)
    if refused:
        run.warn(f"{refused:,} of {len(lines):,} lines are refused")
    return refused


def _next(schedule: Schedule, begin: datetime, count: int) -> list[datetime]:
    return list(islice(occurrences(schedule, begin), count))


def _line(line: CrontabLine, begin: datetime, count: int) -> Text:
    text = Text().append(f"{line.number:>5}  {line.text}\n", style="bold")
    if line.schedule is None:
        return text.append(f"       {reasons(line)}", style="red")
    text.append(f"       {describe(line.schedule)}\n", style="dim")
    text.append("".join(f"       {each}\n" for each in warnings(line.schedule)), style="yellow")
    return text.append("       " + ", ".join(map(drawing.moment, _next(line.schedule, begin, count))))


def _line_wire(line: CrontabLine, begin: datetime, count: int) -> dict[str, object]:
    known = line.schedule
    return {
        "line": line.number,
        "text": line.text,
        "says": None if known is None else describe(known),
        "occurrences": [] if known is None else [to_wire(at) for at in _next(known, begin, count)],
        "refused": None if known is not None else reasons(line),
    }
