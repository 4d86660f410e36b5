"""`fencepost job`: standing orders."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer

from fencepost.cli import drawing
from fencepost.cli.completing import job_names
from fencepost.cli.job_put import put
from fencepost.cli.reading import instant, pairs
from fencepost.cli.session import session
from fencepost.cli.telling import warn_unreadable

app = typer.Typer(no_args_is_help=True, help="Jobs: declare, look at, pause, run.")
app.command()(put)

Name = Annotated[str, typer.Argument(help="The job's name, or ~uid.", autocompletion=job_names)]
Note = Annotated[str | None, typer.Option(help="Why, for the audit trail.")]
Revision = Annotated[int | None, typer.Option(help="Only if the job is at this revision.")]


@app.command()
def get(context: typer.Context, name: Name) -> None:
    """Show a job with its next occurrences.

    Example: fencepost job get nightly
    """
    run = session(context)
    found = run.mine.job(name).get()
    run.show(found, lambda: drawing.job(found))


@app.command("list")
def browse(
    context: typer.Context,
    state: Annotated[str | None, typer.Option(help="ACTIVE, PAUSED, COMPLETED or ERROR.")] = None,
    tier: Annotated[str | None, typer.Option(help="critical, standard or bulk.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="name:value; several must all be there.")] = None,
    prefix: Annotated[str | None, typer.Option(help="How the names begin.")] = None,
    due_within: Annotated[str | None, typer.Option(help="Next occurrence within this length: 2h.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 100,
) -> None:
    """List the team's jobs by name.

    Example: fencepost job list --state ACTIVE --due-within 2h
    """
    run = session(context)
    now = run.around.clock.now()
    listing = run.mine.jobs(
        state=state,
        tier=tier,
        labels=pairs(label or (), "--label"),
        prefix=prefix,
        due_before=instant(due_within, now, ahead=True),
    )
    found = list(islice(listing, limit + 1))
    run.show(found[:limit], lambda: drawing.jobs(found[:limit]))
    if len(found) > limit:
        run.warn(f"there are more than {limit}: see --limit and the filters")
    warn_unreadable(run, listing.unreadable)


@app.command()
def delete(
    context: typer.Context,
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    if_revision: Revision = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would happen.")] = False,
) -> None:
    """Delete a job: what runs may end, all else is cancelled.

    Example: fencepost job delete nightly --yes
    """
    run = session(context)
    handle = run.mine.job(name)
    if dry_run:
        change = handle.would_delete()
        run.show(
            change, lambda: f"would cancel {len(change.cancels)} queued firings and free the name {name}"
        )
        return
    run.sure(f"Delete {run.team}/{name}?", yes=yes)
    found = handle.delete(if_revision=if_revision)
    run.show(found, lambda: f"deleted {name}; cancelled {len(found.cancelled)}; its records: ~{found.uid}")


@app.command()
def pause(
    context: typer.Context,
    name: Name,
    note: Note = None,
    until: Annotated[str | None, typer.Option(help="Resume by itself: an instant, or 2h.")] = None,
    cancel_started: Annotated[bool, typer.Option("--cancel-started", help="End retries that wait.")] = False,
) -> None:
    """Pause a job: nothing of its schedule starts any more.

    Example: fencepost job pause nightly --note "the ledger is being repaired" --until 2h
    """
    run = session(context)
    moment = instant(until, run.around.clock.now(), ahead=True)
    found = run.mine.job(name).pause(note, until=moment, cancel_started=cancel_started)
    run.show(found, lambda: drawing.job(found))


@app.command()
def resume(context: typer.Context, name: Name, note: Note = None) -> None:
    """Resume a job, out of a pause or an error: from its next occurrence on.

    Example: fencepost job resume report
    """
    run = session(context)
    found = run.mine.job(name).resume(note)
    run.show(found, lambda: drawing.job(found))


@app.command("run")
def run_now(
    context: typer.Context,
    name: Name,
    note: Note = None,
    key: Annotated[str | None, typer.Option(help="The same key names the same run.")] = None,
) -> None:
    """Run a job once now, outside of its schedule.

    Example: fencepost job run nightly --note "after the fix" --key fix-41
    """
    run = session(context)
    found = run.mine.job(name).run(note, key=key)
    run.show(found, lambda: drawing.execution(found))
