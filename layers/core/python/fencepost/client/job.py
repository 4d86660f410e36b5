"""One job, by its name (or `~uid`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Unpack

from fencepost.client.calls import Call, Caller, path, precondition
from fencepost.client.decoding import decode
from fencepost.client.paging import walk
from fencepost.client.results import Execution, Job, JobChange, Revision
from fencepost.client.shapes import BackfillFields, JobFields
from fencepost.client.upkeep import Backfill
from fencepost.domain.instants import to_wire


@dataclass(frozen=True, slots=True)
class JobHandle:
    """What can be done with a job. Nothing is sent before a method is called.

    `if_revision` makes a write happen only while the job is at that revision (ChangedError otherwise; 0: only while it
    is not there); a Job stands for its revision and for itself: a later job of the same name is another. `key` is an
    Idempotency-Key of one's own: the same write with the same key happens once, however often it is made.
    """

    caller: Caller
    team: str
    name: str

    def put(
        self,
        *,
        if_revision: int | Job | None = None,
        key: str | None = None,
        **declaration: Unpack[JobFields],
    ) -> Job:
        """Declares the job in full: what is left out has its default. Saying the same again changes nothing."""
        return self._job(self._write("PUT", (), dict(declaration), if_revision, key))

    def patch(
        self, *, if_revision: int | Job | None = None, key: str | None = None, **changes: Unpack[JobFields]
    ) -> Job:
        """Changes what is named, and nothing else."""
        return self._job(self._write("PATCH", (), dict(changes), if_revision, key))

    def get(self) -> Job:
        """The job with its next occurrences. Raises NotFoundError."""
        return self._job(self.caller.call(Call(method="GET", path=self._path())).body)

    def delete(self, *, if_revision: int | Job | None = None, key: str | None = None) -> Job:
        """Frees the name; what runs may end, all else is cancelled."""
        return self._job(self._write("DELETE", (), None, if_revision, key))

    def pause(
        self,
        note: str | None = None,
        *,
        until: datetime | None = None,
        cancel_started: bool = False,
        key: str | None = None,
    ) -> Job:
        """Nothing of the schedule starts any more, until `until` or until somebody resumes it."""
        body = _pausing(note, until, cancel_started=cancel_started)
        return self._job(self._write("POST", ("pause",), body, None, key))

    def resume(self, note: str | None = None, *, key: str | None = None) -> Job:
        """Fires again from the next occurrence on."""
        return self._job(self._write("POST", ("resume",), {"note": note}, None, key))

    def run(self, note: str | None = None, *, key: str | None = None) -> Execution:
        """Once now, outside of the schedule. The same `key` names the same run."""
        return decode(Execution, self._write("POST", ("run",), {"note": note}, None, key))

    def would_put(self, **declaration: Unpack[JobFields]) -> JobChange:
        """What `put` would change."""
        return self._would("PUT", (), dict(declaration))

    def would_patch(self, **changes: Unpack[JobFields]) -> JobChange:
        """What `patch` would change."""
        return self._would("PATCH", (), dict(changes))

    def would_delete(self) -> JobChange:
        """What `delete` would change."""
        return self._would("DELETE", (), None)

    def would_pause(self, *, until: datetime | None = None, cancel_started: bool = False) -> JobChange:
        """What `pause` would change."""
        return self._would("POST", ("pause",), _pausing(None, until, cancel_started=cancel_started))

    def would_resume(self) -> JobChange:
        """What `resume` would change."""
        return self._would("POST", ("resume",), {})

    def executions(
        self,
        *,
        state: str | None = None,
        since: datetime | None = None,
        before: datetime | None = None,
        backfill: str | None = None,
        page_size: int = 100,
    ) -> Iterator[Execution]:
        """What became of its occurrences, the newest instant first; pages are fetched as they are needed."""
        query = {
            "state": state,
            "backfill": backfill,
            "since": None if since is None else to_wire(since),
            "before": None if before is None else to_wire(before),
            "limit": page_size,
        }
        return walk(self.caller, self._path("executions"), query, Execution)

    def backfill(
        self, since: datetime, before: datetime, *, key: str | None = None, **how: Unpack[BackfillFields]
    ) -> Backfill:
        """Runs the past occurrences from `since` on and before `before` again, beside the live ones. Those that
        succeeded or are under way are left out unless forced.
        """
        body = {"from": to_wire(since), "to": to_wire(before), **how}
        return decode(Backfill, self._write("POST", ("backfills",), body, None, key))

    def backfills(self) -> Iterator[Backfill]:
        """Its backfills, the last one asked for first."""
        return walk(self.caller, self._path("backfills"), {"limit": 100}, Backfill)

    def get_backfill(self, backfill: str) -> Backfill:
        """One backfill, with what became of its executions. Raises NotFoundError."""
        return decode(
            Backfill, self.caller.call(Call(method="GET", path=self._path("backfills", backfill))).body
        )

    def cancel_backfill(self, backfill: str) -> Backfill:
        """Nothing of it begins any more; what has begun goes on."""
        return decode(Backfill, self._write("DELETE", ("backfills", backfill), None, None, None))

    def history(self, *, page_size: int = 100) -> Iterator[Revision]:
        """Every change of the job, the newest first."""
        return walk(self.caller, self._path("revisions"), {"limit": page_size}, Revision)

    def why(self, instant: datetime) -> Execution | None:
        """The one record that explains this nominal instant: its own, or the range that holds it. None: there is none,
        since the instant is not one of its occurrences, or not yet claimed.
        """
        query = {"at": to_wire(instant)}
        return next(walk(self.caller, self._path("executions"), query, Execution), None)

    def _path(self, *more: str) -> str:
        return path("teams", self.team, "jobs", self.name, *more)

    def _job(self, body: object) -> Job:
        return decode(Job, body)

    def _write(
        self, method: str, more: tuple[str, ...], body: object, if_revision: int | Job | None, key: str | None
    ) -> Any:  # noqa: ANN401 - the answer's JSON
        call = Call(
            method=method,
            path=self._path(*more),
            body=body,
            headers=_only_if(if_revision),
            key=key,
            keyed=True,
        )
        return self.caller.call(call).body

    def _would(self, method: str, more: tuple[str, ...], body: object) -> JobChange:
        call = Call(method=method, path=self._path(*more), body=body, query={"dry_run": True})
        found = self.caller.call(call).body
        if isinstance(found, dict) and not found.get("dry_run"):  # the job itself: nothing would change
            same = {"before": found, "after": found, "cancels": []}
            found = {**same, "next_before": found.get("next"), "next_after": found.get("next")}
        return decode(JobChange, found)


def _only_if(seen: int | Job | None) -> dict[str, str]:
    return precondition(seen.revision, seen.uid) if isinstance(seen, Job) else precondition(seen)


def _pausing(note: str | None, until: datetime | None, *, cancel_started: bool) -> dict[str, Any]:
    return {
        "note": note,
        "until": None if until is None else to_wire(until),
        "cancel_started": cancel_started,
    }
