"""`fencepost audit`: the ledger held to what should have happened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from fencepost.cli import drawing
from fencepost.cli.completing import job_names
from fencepost.cli.reading import instant
from fencepost.cli.session import session
from fencepost.cli.telling import warn_unreadable
from fencepost.client import AuditFinding, AuditPage

FOUND = 1


def audit(
    context: typer.Context,
    job: Annotated[
        str | None,
        typer.Option(help="Only this job, or ~uid for a deleted one.", autocompletion=job_names),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--from", help="From this occurrence on, or 7d; a day back by default.")
    ] = None,
    before: Annotated[
        str | None, typer.Option("--to", help="Before this occurrence, or 2h; now by default.")
    ] = None,
) -> None:
    """Work out what should have happened to the team's jobs, and say where the ledger says otherwise; exit 1 if it does.

    Example: fencepost audit --job nightly --from 2h
    """
    run = session(context)
    now = run.around.clock.now()
    # The end is said in each page's question: without it a later page would reach further than the first one.
    until = instant(before, now) or now
    pages = list(run.mine.audit(job=job, since=instant(since, now), before=until))
    findings = [finding for page in pages for finding in page.items]
    if run.choice.json:
        run.json({"items": [each.raw for each in findings], **_sums(pages)})
    else:
        run.around.out.print(_shown(findings, pages))
    warn_unreadable(run, [each for page in pages for each in page.unreadable])
    if findings:
        raise typer.Exit(FOUND)


def _sums(pages: Sequence[AuditPage]) -> dict[str, object]:
    return {
        "judged_to": drawing.moment(pages[-1].judged_to),
        "records": sum(page.records for page in pages),
        "explained": sum(page.explained for page in pages),
        "pending": sum(page.pending for page in pages),
        "unjudged": sum(page.unjudged for page in pages),
        "unreadable": [each.raw for page in pages for each in page.unreadable],
    }


def _shown(findings: Sequence[AuditFinding], pages: Sequence[AuditPage]) -> RenderableType:
    records = sum(page.records for page in pages)
    judged = f"{records:,} records, judged to {drawing.moment(pages[-1].judged_to)} (younger ones are not)"
    pending = sum(page.pending for page in pages)
    unjudged = sum(page.unjudged for page in pages)
    notes = [f"{pending} not claimed yet, their timers are there"] if pending else []
    notes += [f"{unjudged} decided by other time-zone rules, not judged"] if unjudged else []
    if not findings:
        return Text("; ".join(["every occurrence is explained, once", judged, *notes]), style="green")
    made = drawing.table("job", "at", "to", "what", "says")
    for each in findings:
        last = drawing.moment(each.last) if each.last else ""
        made.add_row(each.job, drawing.moment(each.at), last, Text(each.kind, style="red"), each.says)
    return Group(made, Text("; ".join([f"{len(findings):,} findings", judged, *notes]), style="red"))
