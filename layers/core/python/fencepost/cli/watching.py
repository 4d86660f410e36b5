"""`fencepost watch`: a team's firings as they happen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated

import typer
from rich.text import Text

from fencepost.cli import drawing
from fencepost.cli.completing import job_names
from fencepost.cli.reading import instant
from fencepost.cli.session import Session, session
from fencepost.client import Execution, Fencepost, Job, NotFoundError

LOOK = timedelta(seconds=1)
RELIST = timedelta(seconds=20)
AHEAD = timedelta(seconds=30)
_GRACE = timedelta(seconds=10)


def watch(
    context: typer.Context,
    jobs: Annotated[
        list[str] | None, typer.Argument(help="Only these jobs; all by default.", autocompletion=job_names)
    ] = None,
    duration: Annotated[str | None, typer.Option("--for", help="Stop after this length: 10m.")] = None,
) -> None:
    """Show firings as they happen, a line for each change, until Ctrl-C.

    Example: fencepost watch nightly --for 3s
    """
    run = session(context)
    clock = run.around.clock
    began = clock.now()
    until = instant(duration, began, ahead=True)
    watcher = Watcher(client=run.mine, names=frozenset(jobs or ()), since=began)
    run.warn(f"watching {run.team}: a line for each change; Ctrl-C ends it")
    while True:
        for record in watcher.look(clock.now()):
            _tell(run, record)
        if until is not None and clock.now() >= until:
            return
        clock.sleep(LOOK)


@dataclass(kw_only=True)
class Watcher:
    """Asks only about jobs that are due, and about executions that are not finished."""

    client: Fencepost
    names: frozenset[str]
    since: datetime
    _due: dict[str, datetime] = field(default_factory=dict)
    _seen: dict[str, str] = field(default_factory=dict)
    _open: set[str] = field(default_factory=set)
    _listed_at: datetime | None = None

    def look(self, now: datetime) -> Iterator[Execution]:
        """Every record that is new or has changed its state since the last look."""
        if self._listed_at is None or now - self._listed_at >= RELIST:
            self._listed_at = now
            for job in self._jobs(now):
                if job.next:
                    self._due.setdefault(job.name, job.next[0].at)
        yield from self._news(self._opened())
        for name in [name for name, due in self._due.items() if due <= now]:
            yield from self._news(self._recent(name, now))

    def _jobs(self, now: datetime) -> Iterable[Job]:
        if not self.names:
            return self.client.jobs(due_before=now + AHEAD)
        return [self.client.job(name).get() for name in sorted(self.names)]

    def _recent(self, name: str, now: datetime) -> list[Execution]:
        """A due job's newest records. It is asked about until the occurrence has one, or is long over."""
        due = self._due[name]
        try:
            found = list(self.client.job(name).executions(since=min(due, self.since), page_size=10))
        except NotFoundError:
            found = []
        if any(each.due >= due for each in found) or now - due > _GRACE:
            del self._due[name]
        return found

    def _opened(self) -> list[Execution]:
        return [self.client.execution(each).get() for each in sorted(self._open)]

    def _news(self, found: list[Execution]) -> Iterator[Execution]:
        for record in sorted(found, key=lambda each: each.due):
            if self._seen.get(record.id) == _standing(record):
                continue
            self._seen[record.id] = _standing(record)
            (self._open.discard if record.finished else self._open.add)(record.id)
            yield record


def _standing(record: Execution) -> str:
    return f"{record.state} {len(record.attempts) + record.attempts_dropped}"


def _tell(run: Session, record: Execution) -> None:
    if run.choice.json:
        run.line(record.raw)
        return
    last = record.attempts[-1] if record.attempts else None
    text = Text(f"{drawing.moment(record.due)}  {record.job:24} ")
    text.append_text(drawing.state(f"{record.state:10}", record.reason))
    text.append(f" late {drawing.lateness(record.lateness_ms)}, attempt {last.number if last else 0}")
    if last is not None and last.error:
        text.append(f": {last.error}", style="red")
    run.around.out.print(text, soft_wrap=True)
