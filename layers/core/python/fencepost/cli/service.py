"""`fencepost limits`, `revisions`, `doctor`: the team's standing, and the way to the service."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from fencepost.cli import drawing
from fencepost.cli.completing import job_names
from fencepost.cli.examining import Finding, Verdict, examine
from fencepost.cli.session import session
from fencepost.client import Revision
from fencepost.client.planning import differences
from fencepost.client.results import Limit, Limits

_STYLES = {Verdict.GOOD: "green", Verdict.ODD: "yellow", Verdict.BAD: "red"}


def limits(context: typer.Context) -> None:
    """Show the team's limits, and what is used of them.

    Example: fencepost limits
    """
    run = session(context)
    found = run.mine.limits()
    run.show(found, lambda: _limits(found))


def revisions(
    context: typer.Context,
    job: Annotated[
        str | None,
        typer.Option(help="A job, or ~uid; the team's own changes by default.", autocompletion=job_names),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many changes.")] = 20,
) -> None:
    """Show who changed a job or the team, when, and what.

    Example: fencepost revisions --job nightly --limit 5
    """
    run = session(context)
    client = run.mine
    trail = client.team_history() if job is None else client.job(job).history()
    items = list(islice(trail, limit))
    run.show(items, lambda: _revisions(items))


def doctor(context: typer.Context) -> None:
    """Look at everything between you and a firing: credentials, clock, endpoint, team, time zones, the service.

    Example: fencepost doctor
    """
    run = session(context)
    findings = examine(run)
    if run.choice.json:
        run.json([{"what": each.what, "verdict": each.verdict.value, "says": each.says} for each in findings])
    else:
        run.around.out.print(drawing.facts((each.what, _finding(each)) for each in findings))
    if any(each.verdict is Verdict.BAD for each in findings):
        raise typer.Exit(1)


def _finding(found: Finding) -> RenderableType:
    return Text(f"{found.verdict}: {found.says}", style=_STYLES[found.verdict])


def _limits(found: Limits) -> RenderableType:
    made = drawing.table("limit", "used", "of", "", right=("used", "of"))
    rows = {
        "jobs": found.max_jobs,
        "firings a day": found.max_daily_firings,
        "at once": found.max_concurrency,
        "bytes of a payload": found.payload_bytes,
    }
    for name, limit in rows.items():
        used = drawing.NOTHING if limit.used is None else f"{limit.used:,}"
        made.add_row(name, used, f"{limit.limit:,}", _gauge(limit))
    return made


def _gauge(limit: Limit) -> Text:
    """Ten steps; red from nine on."""
    if limit.used is None or not limit.limit:
        return Text("")
    steps = min(10, -(-limit.used * 10 // limit.limit))
    return Text("█" * steps + "░" * (10 - steps), style="red" if steps >= 9 else "green")


def _revisions(items: list[Revision]) -> RenderableType:
    made = drawing.table("when", "revision", "what", "who", "changed", right=("revision",))
    for each in items:
        made.add_row(drawing.moment(each.at), str(each.revision), each.what, each.actor, _changed(each))
    return made


def _changed(each: Revision) -> str:
    """What differs, and the note. A team's fields are compared as they are."""
    before, after = each.before or {}, each.after or {}
    if "schedule" in after and each.before is not None:
        words = [
            f"{change.field}: {drawing.value(change.before)} -> {drawing.value(change.after)}"
            for change in differences(before, after)
        ]
    else:
        words = [
            f"{name}: {drawing.value(before.get(name))} -> {drawing.value(value)}"
            for name, value in after.items()
            if each.before is not None and before.get(name) != value
        ]
    return "\n".join([*words, *([f"“{each.note}”"] if each.note else [])])
