"""Pause and resume of a team, of tiers, and of the stage."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import RenderableType

from fencepost.cli import drawing
from fencepost.cli.reading import instant
from fencepost.cli.session import session
from fencepost.cli.teams import picture
from fencepost.client.upkeep import Stage

app = typer.Typer(no_args_is_help=True, help="The stage's own switches, which administrators turn.")

Note = Annotated[str | None, typer.Option(help="Why, for the audit trail.")]
Until = Annotated[str | None, typer.Option(help="Resume by itself: an instant, or 2h.")]
Tiers = Annotated[
    list[str] | None,
    typer.Option("--tier", help="critical, standard, bulk or recovery; all by default; repeat it."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def pause_team(
    context: typer.Context, note: Note = None, until: Until = None, tier: Tiers = None, yes: Yes = False
) -> None:
    """Let nothing of the team start any more; what comes due waits.

    Example: fencepost team pause --tier bulk --note "the database is full" --until 2h --yes
    """
    run = session(context)
    moment = instant(until, run.around.clock.now(), ahead=True)
    run.sure(f"Pause {run.team}?", yes=yes)
    found = run.mine.upkeep.pause(note, until=moment, tiers=tier)
    run.show(found, lambda: picture(found))


def resume_team(context: typer.Context, note: Note = None, tier: Tiers = None) -> None:
    """Let the team start again; what waited too long meets its job's misfire policy.

    Example: fencepost team resume --note "there is room again"
    """
    run = session(context)
    found = run.mine.upkeep.resume(note, tiers=tier)
    run.show(found, lambda: picture(found))


@app.command()
def get(context: typer.Context) -> None:
    """Show the stage's switches.

    Example: fencepost stage get
    """
    run = session(context)
    found = run.client.stage.get()
    run.show(found, lambda: _stage(found))


@app.command()
def pause(
    context: typer.Context, note: Note = None, until: Until = None, tier: Tiers = None, yes: Yes = False
) -> None:
    """Let nothing of any team start any more; what comes due waits.

    Example: fencepost stage pause --note "the network is down" --until 30m --yes
    """
    run = session(context)
    moment = instant(until, run.around.clock.now(), ahead=True)
    run.sure("Pause every team of the stage?", yes=yes)
    found = run.client.stage.pause(note, until=moment, tiers=tier)
    run.show(found, lambda: _stage(found))


@app.command()
def resume(context: typer.Context, note: Note = None, tier: Tiers = None) -> None:
    """Let all teams start again.

    Example: fencepost stage resume --note "the network is back"
    """
    run = session(context)
    found = run.client.stage.resume(note, tiers=tier)
    run.show(found, lambda: _stage(found))


def _stage(found: Stage) -> RenderableType:
    rows: list[tuple[str, RenderableType]] = [
        ("stage", f"{'PAUSED' if found.paused else 'ACTIVE'}  (revision {found.revision})")
    ]
    rows += [("paused", drawing.pause(each)) for each in found.pauses]
    return drawing.facts(rows)
