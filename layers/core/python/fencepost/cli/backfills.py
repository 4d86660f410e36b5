"""`fencepost backfill`: past occurrences, run again beside the live ones."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer
from rich.console import RenderableType

from fencepost.cli import drawing
from fencepost.cli.completing import job_names
from fencepost.cli.reading import given, instant
from fencepost.cli.session import Session, session
from fencepost.client import Fencepost
from fencepost.client.upkeep import Backfill

LOOK = timedelta(seconds=2)

app = typer.Typer(no_args_is_help=True, help="Backfills: past occurrences, run again beside the live ones.")

JobName = Annotated[str, typer.Argument(help="The job's name.", autocompletion=job_names)]
Id = Annotated[str, typer.Argument(metavar="ID", help="The backfill.")]


@app.command()
def start(
    context: typer.Context,
    job: JobName,
    since: Annotated[str, typer.Option("--from", help="From this instant on, or 7d ago.")],
    before: Annotated[str, typer.Option("--to", help="Before this instant.")] = "now",
    rate: Annotated[int | None, typer.Option(min=1, help="Runs a minute.")] = None,
    overlap: Annotated[
        str | None, typer.Option(help="allow, skip or queue; the job's own by default.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Those that succeeded as well.")] = False,
    note: Annotated[str | None, typer.Option(help="Why, for the audit trail.")] = None,
    key: Annotated[str | None, typer.Option(help="The same key names the same backfill.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Return when all of it is done.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Run a job's past occurrences again; those that succeeded are left out.

    Example: fencepost backfill start nightly --from 10m --rate 60 --note "the ledger is repaired"
    """
    run = session(context)
    now = run.around.clock.now()
    first, last = instant(since, now) or now, instant(before, now) or now
    run.sure(f"Run {job} again from {drawing.moment(first)} to {drawing.moment(last)}?", yes=yes)
    client = run.mine
    how = given({"rate": rate, "overlap": overlap, "force": force, "note": note})
    found = client.job(job).backfill(first, last, key=key, **how)
    if wait:
        found = _followed(run, client, job, found)
    run.show(found, lambda: picture(found))


@app.command()
def get(context: typer.Context, job: JobName, backfill: Id) -> None:
    """Show a backfill, and what became of its executions.

    Example: fencepost backfill get nightly $BACKFILL
    """
    run = session(context)
    found = run.mine.job(job).get_backfill(backfill)
    run.show(found, lambda: picture(found))


@app.command("list")
def browse(context: typer.Context, job: JobName) -> None:
    """List a job's backfills, the last one asked for first.

    Example: fencepost backfill list nightly
    """
    run = session(context)
    found = list(run.mine.job(job).backfills())
    run.show(found, lambda: _list(found))


@app.command()
def cancel(context: typer.Context, job: JobName, backfill: Id) -> None:
    """Let nothing of a backfill begin any more; what has begun goes on.

    Example: fencepost backfill cancel nightly $BACKFILL
    """
    run = session(context)
    found = run.mine.job(job).cancel_backfill(backfill)
    run.show(found, lambda: picture(found))


def _followed(run: Session, client: Fencepost, job: str, found: Backfill) -> Backfill:
    """Looks until nothing of it is on its way; the bar counts instants until all are known, then executions."""
    span = max(1, int((found.before - found.since).total_seconds()))
    told = 0
    with run.progress(f"backfill {found.id}", 2 * span) as step:
        while True:
            found = client.job(job).get_backfill(found.id)
            done = _seconds_reached(found) + span * (found.released - found.unfinished) // max(
                found.released, 1
            )
            for _ in range(min(done, 2 * span) - told):
                step()
            told = max(told, done)
            if found.state != "EXPANDING" and not found.unfinished:
                return found
            run.around.clock.sleep(LOOK)


def _seconds_reached(found: Backfill) -> int:
    if found.state != "EXPANDING":
        return int((found.before - found.since).total_seconds())
    return 0 if found.reached is None else int((found.reached - found.since).total_seconds())


def picture(found: Backfill) -> RenderableType:
    """A backfill in full."""
    rows: list[tuple[str, RenderableType]] = [
        ("backfill", found.id),
        ("job", f"{found.team}/{found.job}"),
        ("state", found.state + (f" ({found.why})" if found.why else "")),
        ("range", f"{drawing.moment(found.since)} to {drawing.moment(found.before)}"),
        ("pace", f"{found.rate} a minute, overlap {found.overlap}" + (", forced" if found.force else "")),
        (
            "asked",
            f"{drawing.moment(found.asked_at)} by {found.asked_by}"
            + (f": {found.note}" if found.note else ""),
        ),
        ("reached", drawing.moment(found.reached)),
        ("so far", f"{found.released:,} released, {found.left_out:,} left out"),
    ]
    if found.executions is not None:
        known = {name: count for name, count in found.executions.items() if name != "at_least" and count}
        rows.append(("executions", ", ".join(f"{count:,} {name}" for name, count in known.items()) or "none"))
    return drawing.facts(rows)


def _list(found: list[Backfill]) -> RenderableType:
    made = drawing.table("id", "state", "from", "to", "released", "left out", right=("released", "left out"))
    for each in found:
        since, before = drawing.moment(each.since), drawing.moment(each.before)
        made.add_row(each.id, each.state, since, before, f"{each.released:,}", f"{each.left_out:,}")
    return made
