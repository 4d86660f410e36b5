"""`fencepost tz`: the time-zone database, and what it planted."""

from __future__ import annotations

from collections.abc import Sequence

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from fencepost.cli import drawing
from fencepost.cli.session import session
from fencepost.cli.telling import warn_unreadable
from fencepost.client.upkeep import MovedJob, Refreshed
from fencepost.domain.schedule import tzdata_version

app = typer.Typer(
    no_args_is_help=True, help="Time-zone rules: which are in force, and what newer ones moved."
)


@app.command()
def show(context: typer.Context) -> None:
    """Show which rules the service decides by, and which this program previews files by.

    Example: fencepost tz show
    """
    run = session(context)
    found = run.client.health()
    rows: list[tuple[str, RenderableType]] = [
        ("the service", found.tzdata),
        ("this program", tzdata_version()),
    ]
    run.show(found, lambda: drawing.facts(rows))


@app.command()
def refresh(context: typer.Context) -> None:
    """Plant the team's next firings anew by the rules now in force, and list the jobs that moved.

    Example: fencepost tz refresh
    """
    run = session(context)
    steps: list[Refreshed] = []
    with run.progress("refreshing", 0) as step:
        for found in run.mine.upkeep.refresh_zones():
            steps.append(found)
            step()
    moved = [each for found in steps for each in found.moved]
    unreadable = [each for found in steps for each in found.unreadable]
    looked = sum(found.looked_at for found in steps)
    if run.choice.json:
        answer = {"tzdata": steps[-1].tzdata, "looked_at": looked, "moved": [each.raw for each in moved]}
        run.json(answer | {"unreadable": [each.raw for each in unreadable]})
    else:
        run.around.out.print(_moved(moved, f"{looked:,} jobs looked at under {steps[-1].tzdata}"))
    warn_unreadable(run, unreadable)


def _moved(moved: Sequence[MovedJob], looked: str) -> RenderableType:
    says = Text(f"{looked}, {len(moved):,} moved")
    if not moved:
        return says
    made = drawing.table("job", "was", "is")
    for each in moved:
        made.add_row(each.job, drawing.moment(each.before), drawing.moment(each.after))
    return Group(made, says)
