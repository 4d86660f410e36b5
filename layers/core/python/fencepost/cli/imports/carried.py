"""What an import found: jobs, what each of them lost on the way, and what could not come at all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from fencepost.domain.faults import Faults
from fencepost.domain.schedule import Schedule, parse_schedule

LONGEST_NAME = 63
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """A job, where it came from, and what it meant there that it doesn't mean here."""

    name: str
    where: str
    job: Mapping[str, Any]
    schedule: Schedule
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What could not be carried over, and why."""

    where: str
    what: str
    why: str


@dataclass(slots=True)
class Cargo:
    """Everything of one source. Names are made unique as they come."""

    carried: list[Carried] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    _taken: set[str] = field(default_factory=set)

    def name(self, wish: str, fallback: str = "job") -> str:
        """A free job name close to `wish`."""
        base = _NOT_IN_NAMES.sub("-", wish.lower()).strip("-")[:LONGEST_NAME].strip("-") or fallback
        found, number = base, 1
        while found in self._taken:
            number += 1
            found = f"{base[: LONGEST_NAME - len(str(number)) - 1]}-{number}"
        self._taken.add(found)
        return found

    def leave(self, where: str, what: str, why: str) -> None:
        """Notes what stays behind."""
        self.left.append(Left(where=where, what=what[:200], why=why))

    def take(
        self, where: str, wish: str, job: Mapping[str, Any], now: datetime, lost: Iterable[str] = ()
    ) -> None:
        """Takes a job whose schedule the service would accept, or leaves it with the reasons why not."""
        try:
            schedule = parse_schedule(job["schedule"], now=now)
        except Faults as refused:
            self.leave(where, str(job["schedule"].get("cron", job["schedule"])), str(refused))
            return
        self.carried.append(
            Carried(name=self.name(wish), where=where, job=job, schedule=schedule, lost=tuple(lost))
        )

    def document(self, *, jitter: int | None = None) -> dict[str, Any]:
        """The file of jobs. `jitter`: every job is spread over so many seconds, unless it says otherwise."""
        jobs: dict[str, Any] = {}
        for each in self.carried:
            schedule = dict(each.job["schedule"])
            if jitter and "at" not in schedule:
                schedule.setdefault("jitter_seconds", jitter)
            jobs[each.name] = {**each.job, "schedule": schedule}
        return {"version": 1, **_shared(jobs), "jobs": jobs}


def _shared(jobs: dict[str, Any]) -> dict[str, Any]:
    """The target as a default, and out of the jobs, where it is every job's."""
    targets = [job["target"] for job in jobs.values()]
    if len(targets) < 2 or any(target != targets[0] for target in targets):
        return {}
    for name, job in jobs.items():
        jobs[name] = {field: value for field, value in job.items() if field != "target"}
    return {"defaults": {"target": targets[0]}}
