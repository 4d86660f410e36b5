"""`fencepost team`: a team's own declaration."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table

from fencepost.cli import drawing
from fencepost.cli.reading import document, given, json_value
from fencepost.cli.session import session
from fencepost.client import Team

app = typer.Typer(no_args_is_help=True, help="Teams: caps, limits, who is told, who may call.")

Name = Annotated[str | None, typer.Argument(help="The team; --team where it is left out.")]


@app.command()
def get(context: typer.Context, name: Name = None) -> None:
    """Show a team.

    Example: fencepost team get payments
    """
    run = session(context)
    found = run.client.for_team(name or run.team).get_team()
    run.show(found, lambda: picture(found))


@app.command()
def put(
    context: typer.Context,
    name: Name = None,
    file: Annotated[str | None, typer.Option("--file", "-f", help="YAML or JSON; - reads it.")] = None,
    max_concurrency: Annotated[int | None, typer.Option(help="How many firings may run at once.")] = None,
    principal: Annotated[
        list[str] | None, typer.Option(help="ARN of a role or user that may call; repeat it.")
    ] = None,
    notify: Annotated[str | None, typer.Option(help="JSON with sns, webhook, event_bus.")] = None,
    tier: Annotated[list[str] | None, typer.Option(help="A tier that it may use; repeat it.")] = None,
    retention_days: Annotated[int | None, typer.Option(help="How long records are kept.")] = None,
    max_records: Annotated[
        int | None, typer.Option(help="About how many records it may fill; administrators set it.")
    ] = None,
) -> None:
    """Declare a team in full; what is left out has its default.

    Example: fencepost team put payments --max-concurrency 20 --principal arn:aws:iam::111122223333:role/payments-deploy
    """
    run = session(context)
    fields: dict[str, Any] = {} if file is None else document(file)
    if not isinstance(fields, dict):
        raise typer.BadParameter(f"{file}: a team is an object")
    fields |= given(
        {
            "max_concurrency": max_concurrency,
            "principals": principal or None,
            "notify": json_value(notify, "--notify"),
            "tiers": tier or None,
            "retention_days": retention_days,
            "max_records": max_records,
        }
    )
    found = run.client.for_team(name or run.team).put_team(**fields)
    run.show(found, lambda: picture(found))


def _kept(team: Team) -> str:
    room = "" if team.max_records is None else f", about {team.max_records:,} of them"
    return f"kept for {team.retention_days} days{room}"


def picture(team: Team) -> Table:
    """A team in full."""
    rows: list[tuple[str, RenderableType]] = [
        ("team", f"{team.name}  (revision {team.revision})"),
        ("concurrency", str(team.max_concurrency)),
        ("tiers", ", ".join(team.tiers)),
        ("jobs at most", f"{team.max_jobs:,}"),
        ("records", _kept(team)),
        ("told", ", ".join(f"{kind} {where}" for kind, where in team.notify.items() if where) or "nobody"),
        ("of", ", ".join(team.notify_on)),
        ("principals", "\n".join(team.principals) or "administrators alone"),
    ]
    rows += [("paused", drawing.pause(each)) for each in team.pauses]
    return drawing.facts(rows)
