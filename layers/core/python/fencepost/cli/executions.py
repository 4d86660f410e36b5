"""`fencepost executions`, `execution`, `redrive`: what became of firings."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer

from fencepost.cli import drawing
from fencepost.cli.completing import job_names
from fencepost.cli.reading import instant
from fencepost.cli.session import session

Limit = Annotated[int, typer.Option(min=1, help="How many at most.")]


def browse(
    context: typer.Context,
    job: Annotated[str, typer.Argument(help="The job's name, or ~uid.", autocompletion=job_names)],
    state: Annotated[str | None, typer.Option(help="Only records in this state: DEAD.")] = None,
    since: Annotated[str | None, typer.Option(help="From this instant on, or 2h.")] = None,
    before: Annotated[str | None, typer.Option(help="Before this instant, or 2h.")] = None,
    backfill: Annotated[str | None, typer.Option(help="Only those of this backfill.")] = None,
    limit: Limit = 20,
) -> None:
    """List what became of a job's occurrences, the newest first.

    Example: fencepost executions nightly --since 7d --state SUCCEEDED
    """
    run = session(context)
    now = run.around.clock.now()
    found = run.mine.job(job).executions(
        state=state,
        since=instant(since, now),
        before=instant(before, now),
        backfill=backfill,
        page_size=min(limit, 100),
    )
    items = list(islice(found, limit))
    run.show(items, lambda: drawing.executions(items))


def one(context: typer.Context, execution_id: Annotated[str, typer.Argument(metavar="ID")]) -> None:
    """Show one record with its attempts.

    Example: fencepost execution $EXECUTION
    """
    run = session(context)
    found = run.mine.execution(execution_id).get()
    run.show(found, lambda: drawing.execution(found))


def redrive(
    context: typer.Context,
    execution_id: Annotated[str, typer.Argument(metavar="ID")],
    note: Annotated[str | None, typer.Option(help="Why, for the audit trail.")] = None,
) -> None:
    """Send a dead execution again, with its budget anew and a larger fence.

    Example: fencepost redrive $DEAD_EXECUTION --note "the host is back"
    """
    run = session(context)
    found = run.mine.execution(execution_id).redrive(note)
    run.show(found, lambda: drawing.execution(found))
