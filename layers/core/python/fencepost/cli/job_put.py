"""`fencepost job put`: a whole job from a file, from options, or from both."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import RenderableType

from fencepost.cli import drawing
from fencepost.cli.reading import document, given, json_value, pairs
from fencepost.cli.scheduling import At, Bounds, Cron, Every, Within, Zone, schedule_of, with_bounds
from fencepost.cli.session import Session, session
from fencepost.client import JobChange

File = Annotated[str | None, typer.Option("--file", "-f", help="YAML or JSON of a job; - reads it.")]


@with_bounds
def put(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The job's name.")],
    file: File = None,
    cron: Cron = None,
    timezone: Zone = None,
    every: Every = None,
    at: At = None,
    within: Within = None,
    url: Annotated[str | None, typer.Option(help="The webhook to call.")] = None,
    target: Annotated[str | None, typer.Option(help='JSON of any target: {"sqs": {...}}, or @file.')] = None,
    payload: Annotated[str | None, typer.Option(help="JSON, or @file.")] = None,
    tier: Annotated[str | None, typer.Option(help="critical, standard or bulk.")] = None,
    overlap: Annotated[str | None, typer.Option(help="allow, skip or queue.")] = None,
    misfire: Annotated[str | None, typer.Option(help="run_once_late, skip or catch_up.")] = None,
    max_attempts: Annotated[int | None, typer.Option(help="How often a firing is tried.")] = None,
    keep_newest: Annotated[int | None, typer.Option(help="The newest successes kept.")] = None,
    description: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="name:value; repeat it.")] = None,
    if_revision: Annotated[int | None, typer.Option(help="Only if the job is at this revision.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change.")] = False,
    *,
    bounds: Bounds,
) -> None:
    """Declare a job in full: what neither the file nor an option says has its default.

    Example: fencepost job put nightly --cron "30 2 * * *" --tz Europe/Berlin --url https://example.com/hook

    Example: fencepost job put summer --cron "30 2 * * *" --tz Europe/Berlin --dst-gap skip --dst-overlap both
    --jitter 10m --starts 2030-06-01 --ends 2030-09-01 --max-firings 90 --exclude maintenance --url https://example.com/hook
    """
    run = session(context)
    fields = _from_file(file) | given(
        {
            "schedule": bounds.of(schedule_of(cron, timezone, every, at, within), run.around.clock.now()),
            "target": {"webhook": {"url": url}} if url else json_value(target, "--target"),
            "payload": json_value(payload, "--payload"),
            "tier": tier,
            "overlap": overlap,
            "misfire": None if misfire is None else {"policy": misfire},
            "retry": None if max_attempts is None else {"max_attempts": max_attempts},
            "keep_newest": keep_newest,
            "description": description,
            "labels": pairs(label, "--label") if label else None,
        }
    )
    _put(run, name, fields, if_revision=if_revision, dry_run=dry_run)


def _put(run: Session, name: str, fields: dict[str, Any], *, if_revision: int | None, dry_run: bool) -> None:
    handle = run.mine.job(name)
    if dry_run:
        change = handle.would_put(**fields)
        run.show(change, lambda: effect(change))
        return
    found = handle.put(if_revision=if_revision, **fields)
    run.show(found, lambda: drawing.job(found))


def _from_file(file: str | None) -> dict[str, Any]:
    fields: dict[str, Any] = {} if file is None else document(file)
    if not isinstance(fields, dict):
        raise typer.BadParameter(f"{file}: a job is an object")
    return fields


def effect(change: JobChange) -> RenderableType:
    """What a write would do to what is queued and to what comes."""
    rows: list[tuple[str, RenderableType]] = [
        ("cancels", f"{len(change.cancels)} queued firings"),
        ("next now", drawing.occurrences(change.next_before)),
        ("next then", drawing.occurrences(change.next_after)),
    ]
    return drawing.facts(rows)
