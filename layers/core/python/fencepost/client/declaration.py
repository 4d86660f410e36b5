"""A file of jobs: what a team wants to have.

    version: 1
    team: payments                 # optional: --team and FENCEPOST_TEAM say it as well
    defaults:                      # optional: for every job that does not say it itself
      tier: bulk
    jobs:
      nightly-report:
        schedule: {cron: "30 2 * * *", timezone: Europe/Berlin}
        target: {webhook: {url: "https://example.com/hook"}}

A job holds what a PUT of it holds; the service judges it. A job's own field takes the place of the default as a whole.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fencepost.client.errors import DeclarationError, FieldFault
from fencepost.client.shapes import JobFields
from fencepost.domain.identity import NAME_PATTERN

VERSION = 1
FIELDS = tuple(JobFields.__annotations__)
_TOP = ("version", "team", "defaults", "jobs")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsFile:
    """The jobs by name, defaults filled in."""

    jobs: Mapping[str, Mapping[str, Any]]
    team: str | None = None


def read_jobs(raw: object) -> JobsFile:
    """Reads the document of a file of jobs. Raises DeclarationError with every fault of its shape."""
    if not isinstance(raw, Mapping):
        raise DeclarationError((FieldFault(field="file", rule="must be a mapping with version and jobs"),))
    faults = list(_faults(raw))
    if faults:
        raise DeclarationError(tuple(faults))
    defaults = raw.get("defaults") or {}
    jobs = {str(name): {**defaults, **job} for name, job in raw["jobs"].items()}
    return JobsFile(team=raw.get("team"), jobs=jobs)


def _faults(raw: Mapping[str, Any]) -> Iterator[FieldFault]:
    yield from _unknown("", raw, _TOP)
    if raw.get("version") != VERSION:
        yield FieldFault(field="version", value=raw.get("version"), rule=f"must be {VERSION}")
    if not isinstance(raw.get("team", ""), str):
        yield FieldFault(field="team", rule="must be a name")
    yield from _job_faults("defaults", raw.get("defaults") or {})
    jobs = raw.get("jobs")
    if not isinstance(jobs, Mapping):
        yield FieldFault(field="jobs", rule="must be a mapping of names to jobs")
        return
    for name, job in jobs.items():
        if not NAME_PATTERN.fullmatch(str(name)):
            rule = "a job's name is 1..63 of a-z 0-9 -, and does not begin with -"
            yield FieldFault(field=f"jobs.{name}", rule=rule)
        yield from _job_faults(f"jobs.{name}", job)


def _job_faults(where: str, job: object) -> Iterator[FieldFault]:
    if not isinstance(job, Mapping):
        yield FieldFault(field=where, rule="must be a mapping")
        return
    yield from _unknown(f"{where}.", job, FIELDS)
    schedule = job.get("schedule")
    if isinstance(schedule, Mapping) and "in" in schedule:
        rule = "a delay would begin anew with every application; name the instant"
        yield FieldFault(field=f"{where}.schedule.in", rule=rule, value=schedule["in"], suggestion="at")


def _unknown(where: str, raw: Mapping[Any, Any], known: tuple[str, ...]) -> Iterator[FieldFault]:
    for name in raw:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            rule = f"unknown field; known: {', '.join(known)}"
            yield FieldFault(field=f"{where}{name}", rule=rule, suggestion=near[0] if near else None)
