"""`fencepost dead-letters`: executions whose budget is spent."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer

from fencepost.cli import drawing
from fencepost.cli.session import session

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
