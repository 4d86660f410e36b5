"""The program's commands, put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from typer.exceptions import Abort, TyperException

from fencepost.cli import (
    apply,
    auditing,
    backfills,
    calendars,
    console,
    dead_letters,
    executions,
    jobs,
    keys,
    policies,
    previews,
    recovering,
    service,
    size,
    stories,
    switches,
    teams,
    watching,
    zones,
)
from fencepost.cli.arguments import hoisted
from fencepost.cli.imports.command import app as importing
from fencepost.cli.local import app as local
from fencepost.cli.session import Choice, Session, Surroundings
from fencepost.cli.telling import usage, why
from fencepost.client import FencepostError

FAILED = 1
DECLARE, LOOK, MEND, SERVICE = "Declare", "Look", "Mend", "Team and service"

app = typer.Typer(name="fencepost", no_args_is_help=True, add_completion=True, pretty_exceptions_enable=False)
teams.app.command("pause")(switches.pause_team)
teams.app.command("resume")(switches.resume_team)
app.add_typer(teams.app, name="team", rich_help_panel=DECLARE)
app.add_typer(jobs.app, name="job", rich_help_panel=DECLARE)
app.add_typer(calendars.app, name="calendar", rich_help_panel=DECLARE)
app.command("plan", rich_help_panel=DECLARE)(apply.plan)
app.command("apply", rich_help_panel=DECLARE)(apply.apply)
app.add_typer(importing, name="import", rich_help_panel=DECLARE)
app.command("preview", rich_help_panel=DECLARE)(previews.preview)
app.command("next", rich_help_panel=LOOK)(stories.following)
app.command("watch", rich_help_panel=LOOK)(watching.watch)
app.command("console", rich_help_panel=LOOK)(console.console)
app.command("history", rich_help_panel=LOOK)(stories.history)
app.command("why", rich_help_panel=LOOK)(stories.why)
app.command("audit", rich_help_panel=LOOK)(auditing.audit)
app.command("executions", rich_help_panel=LOOK)(executions.browse)
app.command("execution", rich_help_panel=LOOK)(executions.one)
app.add_typer(dead_letters.app, name="dead-letters", rich_help_panel=MEND)
app.add_typer(backfills.app, name="backfill", rich_help_panel=MEND)
app.command("redrive", rich_help_panel=MEND)(executions.redrive)
app.add_typer(keys.app, name="key", rich_help_panel=SERVICE)
app.add_typer(zones.app, name="tz", rich_help_panel=SERVICE)
app.add_typer(switches.app, name="stage", rich_help_panel=SERVICE)
app.command("recover", rich_help_panel=SERVICE)(recovering.recover)
app.command("limits", rich_help_panel=SERVICE)(service.limits)
app.command("revisions", rich_help_panel=SERVICE)(service.revisions)
app.command("doctor", rich_help_panel=SERVICE)(service.doctor)
app.command("iam-policy", rich_help_panel=SERVICE)(policies.iam_policy)
app.command("size", rich_help_panel=SERVICE)(size.size)
app.add_typer(local, name="local", rich_help_panel=SERVICE)


@app.callback()
def fencepost(
    context: typer.Context,
    endpoint: Annotated[
        str | None,
        typer.Option(help="The stage's URL, or FENCEPOST_ENDPOINT; http://127.0.0.1:8080 by default."),
    ] = None,
    team: Annotated[str | None, typer.Option(help="The team, or FENCEPOST_TEAM.")] = None,
    profile: Annotated[str | None, typer.Option(help="The AWS profile that signs.")] = None,
    region: Annotated[str | None, typer.Option(help="Where the endpoint's own name does not tell.")] = None,
    json: Annotated[bool, typer.Option("--json", help="The API's own JSON instead of tables.")] = False,
) -> None:
    """Cron as a service for many teams: on time, one owner per firing, proven afterwards.

    The options below may stand anywhere on the line.
    """
    choice = Choice(endpoint=endpoint, team=team, profile=profile, region=region, json=json)
    context.obj = Session(around=context.find_object(Surroundings) or Surroundings.here(), choice=choice)


def run(arguments: Sequence[str], around: Surroundings) -> int:
    """The program's exit status: 0, 1 for what failed or was refused, 2 for a line that cannot be read."""
    try:
        status = app(args=hoisted(arguments), obj=around, prog_name="fencepost", standalone_mode=False)
    except FencepostError as error:
        around.err.print(f"fencepost: {why(error)}", markup=False, soft_wrap=True)
        return FAILED
    except TyperException as error:
        around.err.print(usage(error), markup=False, soft_wrap=True, end="\n" if usage(error) else "")
        return error.exit_code
    except Abort:
        return FAILED
    return status if isinstance(status, int) else 0
