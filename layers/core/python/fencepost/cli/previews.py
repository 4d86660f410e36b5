"""`fencepost preview`: what a schedule would do."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from fencepost.cli import drawing
from fencepost.cli.job_put import At, Cron, Every, Within, Zone, schedule_of
from fencepost.cli.reading import instant
from fencepost.cli.session import session
from fencepost.client import Preview


def preview(
    context: typer.Context,
    cron: Cron = None,
    timezone: Zone = None,
    every: Every = None,
    at: At = None,
    within: Within = None,
    after: Annotated[str | None, typer.Option(help="From this instant on; now by default.")] = None,
    count: Annotated[int, typer.Option(min=1, max=1000, help="How many occurrences.")] = 5,
) -> None:
    """Show what a schedule would do; nothing is stored.

    Example: fencepost preview --cron "30 2 * * *" --tz Europe/Berlin --after 2026-03-28 --count 3
    """
    run = session(context)
    schedule = schedule_of(cron, timezone, every, at, within)
    if schedule is None:
        raise typer.BadParameter("a schedule, please: --cron, --every, --at or --in")
    found = run.client.preview(schedule, after=instant(after, run.around.clock.now()), count=count)
    run.show(found, lambda: picture(found))


def picture(found: Preview) -> RenderableType:
    """In words, and instant by instant."""
    lines = [Text(found.says, style="bold"), *(Text(each, style="yellow") for each in found.warnings)]
    misfire = found.misfire
    policy = f"missed runs: {misfire['policy']}, within {misfire['window_seconds']:,} s, at most {misfire['max_runs']}"
    return Group(*lines, drawing.occurrences(found.occurrences), Text(policy, style="dim"))
