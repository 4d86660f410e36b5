"""`fencepost why`, `history`, `next`: what happened to a job, and what will."""

from __future__ import annotations

from collections import Counter
from heapq import merge
from itertools import islice
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from fencepost.cli import drawing
from fencepost.cli.completing import job_names
from fencepost.cli.explaining import Explanation, explain
from fencepost.cli.reading import instant
from fencepost.cli.session import session
from fencepost.cli.telling import warn_unreadable
from fencepost.client import Execution

_BARS = "▁▂▃▄▅▆▇█"
_MARKS = {"DEAD": ("✗", "red"), "SKIPPED": ("·", "magenta"), "CANCELLED": ("·", "magenta")}
_OPEN = ("○", "cyan")

JobName = Annotated[str, typer.Argument(help="The job's name, or ~uid.", autocompletion=job_names)]


def why(
    context: typer.Context,
    job: JobName,
    at: Annotated[str, typer.Option(help="The nominal instant: 2026-03-01T09:00:00Z.")],
) -> None:
    """Say whether a job ran at an instant, and why not.

    Example: fencepost why nightly --at 2026-03-01T12:00:00Z
    """
    run = session(context)
    now = run.around.clock.now()
    found = explain(run.mine, job, instant(at, now) or now, now)
    if run.choice.json:
        run.json({"says": found.says, "execution": None if found.record is None else found.record.raw})
        return
    run.around.out.print(_explained(found))


def history(
    context: typer.Context,
    job: JobName,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many firings.")] = 60,
) -> None:
    """Show how a job's last firings went: a bar is a lateness, ✗ a dead letter, · what did not run.

    Example: fencepost history nightly --limit 30
    """
    run = session(context)
    items = list(islice(run.mine.job(job).executions(page_size=min(limit, 100)), limit))
    run.show(items, lambda: _told(items))


def following(
    context: typer.Context,
    within: Annotated[str, typer.Option(help="How far ahead to look: 30m, 2h, 7d.")] = "2h",
    limit: Annotated[int, typer.Option(min=1, help="How many firings at most.")] = 20,
) -> None:
    """Show what fires next in the team, job by job in time.

    Example: fencepost next --within 24h --limit 10
    """
    run = session(context)
    now = run.around.clock.now()
    until = instant(within, now, ahead=True) or now
    listing = run.mine.jobs(due_from=now, due_before=until)
    jobs = list(listing)
    coming = merge(*([(each.at, job.name, job) for each in job.next if each.at < until] for job in jobs))
    found = list(islice(coming, limit))
    if run.choice.json:
        run.json([{"at": drawing.moment(at), "job": name, "tier": job.tier} for at, name, job in found])
    else:
        made = drawing.table("UTC", "in", "job", "tier")
        for at, name, job in found:
            made.add_row(drawing.moment(at), drawing.length(at - now), name, job.tier)
        run.around.out.print(made)
    warn_unreadable(run, listing.unreadable)
    if not run.choice.json and any(len(job.next) >= 5 and job.next[-1].at < until for job in jobs):
        run.warn("of each job the next 5 are known; `fencepost preview` shows more")


def _explained(found: Explanation) -> RenderableType:
    says = Text(found.says, style="bold")
    return says if found.record is None else Group(says, drawing.execution(found.record))


def _told(items: list[Execution]) -> RenderableType:
    """A line of bars, the oldest first, then counts and lateness."""
    line = Text()
    late = sorted(each.lateness_ms for each in items if each.lateness_ms is not None)
    worst = max(late, default=0)
    for each in reversed(items):
        line.append(*_bar(each, worst))
    counts = Counter(each.state for each in items)
    words = Text(", ").join(Text(f"{count:,} ") + drawing.state(word) for word, count in counts.most_common())
    lines: list[RenderableType] = [line, words]
    if late:
        median, ninety = late[len(late) // 2], late[min(len(late) - 1, len(late) * 99 // 100)]
        says = f"late by {drawing.lateness(median)} at the median, {drawing.lateness(ninety)} at the 99th percentile"
        lines.append(Text(says))
    return Group(*lines, drawing.executions(items[:10]))


def _bar(each: Execution, worst: int) -> tuple[str, str]:
    if each.state in _MARKS:
        return _MARKS[each.state]
    if each.state != "SUCCEEDED" or each.lateness_ms is None:
        return _OPEN
    return _BARS[each.lateness_ms * (len(_BARS) - 1) // max(worst, 1)], "green"
