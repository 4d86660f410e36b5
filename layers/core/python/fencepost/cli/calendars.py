"""`fencepost calendar`: when nothing runs."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import RenderableType

from fencepost.cli import drawing
from fencepost.cli.session import session
from fencepost.client.upkeep import Calendar

app = typer.Typer(no_args_is_help=True, help="Exclusion calendars: when nothing runs.")

Name = Annotated[str, typer.Argument(help="The calendar's name; jobs say it in schedule.exclude.")]


@app.command()
def put(
    context: typer.Context,
    name: Name,
    date: Annotated[list[str] | None, typer.Option(help="2026-12-24, or first/last; repeat it.")] = None,
    span: Annotated[
        list[str] | None, typer.Option("--instant", help="An instant, or begin/end; repeat it.")
    ] = None,
    timezone: Annotated[
        str | None, typer.Option("--timezone", "--tz", help="Whose dates; the schedule's own by default.")
    ] = None,
    note: Annotated[str | None, typer.Option(help="Why, for the audit trail.")] = None,
) -> None:
    """Declare a calendar in full; what is excluded still has its record.

    Example: fencepost calendar put holidays --date 2026-12-24/2026-12-26 --date 2027-01-01 --tz Europe/Berlin
    """
    run = session(context)
    found = run.mine.upkeep.calendar(name).put(
        dates=date or (), instants=span or (), timezone=timezone, note=note
    )
    run.show(found, lambda: picture(found))


@app.command()
def get(
    context: typer.Context,
    name: Name,
    version: Annotated[int | None, typer.Option(min=1, help="As it was.")] = None,
) -> None:
    """Show a calendar.

    Example: fencepost calendar get maintenance
    """
    run = session(context)
    found = run.mine.upkeep.calendar(name).get(version)
    run.show(found, lambda: picture(found))


@app.command("list")
def browse(context: typer.Context) -> None:
    """List the team's calendars.

    Example: fencepost calendar list
    """
    run = session(context)
    listing = run.mine.upkeep.calendars()
    found = list(listing)
    run.show(found, lambda: _list(found))
    for each in listing.unreadable:
        run.warn(f"nobody can read calendar {each}: put it anew, and it is replaced")


@app.command()
def delete(
    context: typer.Context,
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete a calendar that no job names any more.

    Example: fencepost calendar delete maintenance --yes
    """
    run = session(context)
    run.sure(f"Delete the calendar {name} of {run.team}?", yes=yes)
    found = run.mine.upkeep.calendar(name).delete()
    run.show(found, lambda: f"deleted {found.name}, which was at version {found.version}")


def picture(found: Calendar) -> RenderableType:
    """A calendar in full."""
    rows: list[tuple[str, RenderableType]] = [
        ("calendar", f"{found.name}  (version {found.version}, {drawing.moment(found.dated)})"),
        ("zone", found.timezone or "the schedule's own"),
        ("dates", "\n".join(found.dates) or drawing.NOTHING),
        ("instants", "\n".join(found.instants) or drawing.NOTHING),
    ]
    return drawing.facts(rows)


def _list(found: list[Calendar]) -> RenderableType:
    made = drawing.table("calendar", "version", "since", "entries", right=("version", "entries"))
    for each in found:
        made.add_row(each.name, str(each.version), drawing.moment(each.dated), str(each.entries))
    return made
