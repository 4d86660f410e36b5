"""`fencepost dead-letters`: executions whose budget is spent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from itertools import islice
from typing import Annotated

import typer

from fencepost.cli import drawing
from fencepost.cli.reading import instant, pairs
from fencepost.cli.session import Session, session
from fencepost.client import ApiError, Execution

FILTERS = ("job", "reason", "tier", "error")

app = typer.Typer(invoke_without_command=True)


@app.callback()
def browse(
    context: typer.Context, limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20
) -> None:
    """List the team's dead executions, the newest death first.

    Example: fencepost dead-letters --limit 5
    """
    if context.invoked_subcommand is not None:
        return
    run = session(context)
    items = list(islice(run.mine.dead_letters(page_size=min(limit, 100)), limit))
    run.show(items, lambda: drawing.executions(items, job_shown=True))


@app.command()
def redrive(
    context: typer.Context,
    filters: Annotated[
        list[str] | None,
        typer.Option("--filter", help="job=, reason=, tier=, or error= (a part of it); all must hold."),
    ] = None,
    since: Annotated[str | None, typer.Option(help="Due from this instant on, or 2h ago.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 1000,
    note: Annotated[str | None, typer.Option(help="Why, for the audit trail.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Send dead executions again, with their budget anew; what dies meanwhile is left for the next time.

    Example: fencepost dead-letters redrive --filter job=doomed --filter error=500 --note "the host is back"
    """
    run = session(context)
    holds = _matcher(filters or [], instant(since, run.around.clock.now()))
    found = list(islice(filter(holds, run.mine.dead_letters()), limit))
    if found:
        run.sure(f"Send {len(found)} dead executions of {run.team} again?", yes=yes)
    stayed = _send(run, found, note)
    if run.choice.json:
        left = [{"id": each, "why": why} for each, why in stayed.items()]
        run.json({"redriven": [each.id for each in found if each.id not in stayed], "left": left})
    for each, why in stayed.items():
        run.warn(f"fencepost: {each}: {why}")
    run.say(f"{len(found) - len(stayed)} sent again, {len(stayed)} stayed")
    if stayed:
        raise typer.Exit(1)


def _send(run: Session, found: list[Execution], note: str | None) -> dict[str, str]:
    """Those that stayed, and why."""
    stayed: dict[str, str] = {}
    with run.progress("redriving", len(found)) as step:
        for each in found:
            try:
                run.mine.execution(each.id).redrive(note)
            except ApiError as error:
                stayed[each.id] = str(error)
            step()
    return stayed


def _matcher(filters: list[str], since: datetime | None) -> Callable[[Execution], bool]:
    wanted = [pair for each in filters for pair in pairs([each], "--filter").items()]
    for name, _ in wanted:
        if name not in FILTERS:
            raise typer.BadParameter(f"--filter knows {', '.join(FILTERS)}, not {name}")

    def holds(record: Execution) -> bool:
        if since is not None and record.due < since:
            return False
        return all(_holds(record, name, value) for name, value in wanted)

    return holds


def _holds(record: Execution, name: str, value: str) -> bool:
    if name == "error":
        return any(value in (each.error or "") for each in record.attempts[-1:])
    return bool(getattr(record, name) == value)
