"""How answers look on a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fencepost.client import Execution, Job, Occurrence

NOTHING = "-"
LONGEST_VALUE = 100
_STYLES = {
    "ACTIVE": "green",
    "SUCCEEDED": "green",
    "RUNNING": "cyan",
    "QUEUED": "cyan",
    "WAITING": "yellow",
    "RETRY_WAIT": "yellow",
    "PAUSED": "yellow",
    "ERROR": "red",
    "DEAD": "red",
    "SKIPPED": "magenta",
    "CANCELLED": "magenta",
}


def moment(instant: datetime | None) -> str:
    """UTC, to the second where there is nothing finer."""
    if instant is None:
        return NOTHING
    exact = "milliseconds" if instant.microsecond else "seconds"
    return instant.isoformat(sep=" ", timespec=exact).replace("+00:00", "Z")


def state(word: str, reason: str | None = None) -> Text:
    """A state in its colour, with its reason."""
    text = Text(word, style=_STYLES.get(word, ""))
    if reason:
        text.append(f" ({reason})", style="dim")
    return text


def value(found: object) -> str:
    """A value of a declaration in one line, cut where it is long."""
    text = json.dumps(found, ensure_ascii=False) if found is not None else "none"
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"


def table(*columns: str, right: Sequence[str] = ()) -> Table:
    """A table without lines."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(
            column, justify="right" if column in right else "left", overflow="fold", no_wrap=column == "id"
        )
    return made


def facts(pairs: Iterable[tuple[str, RenderableType]]) -> Table:
    """Names and values, one pair a line."""
    made = Table(box=None, pad_edge=False, show_header=False)
    made.add_column(style="bold")
    made.add_column(overflow="fold")
    for name, value in pairs:
        made.add_row(name, value)
    return made


def schedule(wire: object) -> str:
    """A schedule in one line."""
    if not isinstance(wire, dict):
        return NOTHING
    match wire:
        case {"cron": expression, "timezone": zone}:
            return f"{expression} {zone}"
        case {"cron": expression}:
            return str(expression)
        case {"every": step}:
            return f"every {step}"
        case {"at": instant}:
            return f"at {instant}"
        case _:
            return str(wire)


def occurrences(found: Sequence[Occurrence]) -> Table:
    """When a schedule fires, on both clocks."""
    made = table("UTC", "local", "")
    for each in found:
        marks = [f"moved ({each.moved})"] if each.moved else []
        marks += [f"excluded by {each.excluded}"] if each.excluded else []
        made.add_row(moment(each.at), each.local, Text(", ".join(marks), style="yellow"))
    return made


def jobs(found: Iterable[Job]) -> Table:
    """Jobs as a list."""
    made = table("job", "state", "schedule", "tier", "next")
    for job in found:
        following = moment(job.next[0].at) if job.next else NOTHING
        made.add_row(
            job.name, state(job.state, job.state_reason), schedule(job.schedule), job.tier, following
        )
    return made


def job(value: Job) -> Group:
    """A job in full."""
    rows: list[tuple[str, RenderableType]] = [
        ("job", f"{value.team}/{value.name}  (uid {value.uid}, revision {value.revision})"),
        ("state", state(value.state, value.state_reason)),
        ("schedule", schedule(value.schedule) + (f"  ({value.says})" if value.says else "")),
        ("target", target(value.target)),
        ("tier", f"{value.tier}, overlap {value.overlap}, misfire {value.misfire.get('policy')}"),
    ]
    if value.paused_by:
        until = f" until {moment(value.paused_until)}" if value.paused_until else ""
        rows.append(("paused", f"by {value.paused_by}{until}"))
    if value.labels:
        rows.append(("labels", ", ".join(f"{name}:{each}" for name, each in value.labels.items())))
    if value.description:
        rows.append(("says", value.description))
    rows += [("warning", Text(warning, style="yellow")) for warning in value.warnings]
    if value.cancelled:
        rows.append(("cancelled", ", ".join(value.cancelled)))
    return Group(facts(rows), occurrences(value.next))


def target(wire: object) -> str:
    """A target in one line."""
    if not isinstance(wire, dict) or len(wire) != 1:
        return NOTHING
    ((kind, fields),) = wire.items()
    first = next(iter(fields.values()), "") if isinstance(fields, dict) else ""
    return f"{kind} {first}"


def executions(found: Iterable[Execution], *, job_shown: bool = False) -> Table:
    """Records as a list."""
    made = table(
        *(["job"] if job_shown else []), "due", "state", "late", "tries", "id", right=("late", "tries")
    )
    for each in found:
        tries = str(len(each.attempts) + each.attempts_dropped)
        row: list[RenderableType] = [
            moment(each.due),
            state(each.state, each.reason),
            lateness(each.lateness_ms),
            tries,
            each.id,
        ]
        made.add_row(*([each.job] if job_shown else []), *row)
    return made


def lateness(milliseconds: int | None) -> str:
    """How late a firing began."""
    if milliseconds is None:
        return NOTHING
    return f"{milliseconds} ms" if milliseconds < 10_000 else f"{milliseconds / 1000:,.1f} s"


def pause(wire: object) -> str:
    """One pause of a team or the stage."""
    if not isinstance(wire, dict):
        return str(wire)
    until = f" until {wire['until']}" if wire.get("until") else ""
    note = f": {wire['note']}" if wire.get("note") else ""
    return f"{wire.get('tier')} by {wire.get('by')}{until}{note}"


def length(span: timedelta) -> str:
    """A length in its two largest units."""
    if span < timedelta(seconds=1):
        return f"{span // timedelta(milliseconds=1)} ms"
    rest, parts = span // timedelta(seconds=1), []
    for unit, size in (("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2])


def execution(value: Execution) -> Group:
    """A record in full."""
    rows: list[tuple[str, RenderableType]] = [
        ("execution", value.id),
        ("job", f"{value.team}/{value.job}"),
        ("state", state(value.state, value.reason)),
        ("due", moment(value.due)),
        ("claimed", moment(value.claimed_at)),
        ("started", f"{moment(value.started_at)}  (late {lateness(value.lateness_ms)})"),
        ("ended", moment(value.ended_at)),
        ("fence", str(value.fence)),
        ("origin", value.origin + (f", by {value.actor}" if value.actor else "")),
    ]
    if value.coalesced:
        least = "at least " if value.coalesced.at_least else ""
        stands = f"{least}{value.coalesced.count:,} occurrences up to {moment(value.coalesced.until)}"
        rows.append(("stands for", stands))
    if value.retry_at:
        rows.append(("tried again", moment(value.retry_at)))
    if value.note:
        rows.append(("note", value.note))
    tries = table("attempt", "fence", "started", "ended", "outcome", "status", "error")
    for each in value.attempts:
        tries.add_row(
            str(each.number),
            str(each.fence),
            moment(each.started_at),
            moment(each.ended_at),
            each.outcome or "running",
            NOTHING if each.status is None else str(each.status),
            each.error or "",
        )
    return Group(facts(rows), tries) if value.attempts else Group(facts(rows))
