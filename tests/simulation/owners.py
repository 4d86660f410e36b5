"""What owners do, as requests to API hosts: each a task of its own that may crash, lose its answer, or come too late."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from fencepost.application.delivery.cancel import CancelledNow
from fencepost.application.registry import lifecycle
from fencepost.application.registry.drafts import JobDraft, Settings
from fencepost.application.registry.jobs import JobRequest, declare
from fencepost.application.registry.reading import find_job
from fencepost.domain.faults import Faults
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import floor_ms
from fencepost.domain.model import (
    LongWork,
    Misfire,
    MisfirePolicy,
    Overlap,
    RetryPolicy,
    Tier,
)
from fencepost.domain.states import Reason
from tests.simulation import administration
from tests.simulation.administration import OWNER, named
from tests.simulation.plan import JobPlan, OpPlan, TeamPlan
from tests.simulation.stage import SimStage


def settings_of(raw: Mapping[str, Any]) -> Settings:
    """A drawn job's settings."""
    misfire, retry = raw["misfire"], raw["retry"]
    return Settings(
        tier=Tier(raw["tier"]),
        overlap=Overlap(raw["overlap"]),
        misfire=Misfire(
            policy=MisfirePolicy(misfire["policy"]),
            window=timedelta(minutes=misfire["window"]),
            max_runs=misfire["max_runs"],
        ),
        retry=RetryPolicy(
            max_attempts=retry["max_attempts"],
            initial_delay=timedelta(seconds=retry["initial"]),
            multiplier=retry["multiplier"],
            max_delay=timedelta(seconds=retry["ceiling"]),
        ),
        pause_after_dead=raw.get("pause_after_dead"),
        delete_after_completion=raw.get("delete_after_completion", False),
        long_work=LongWork(lease=timedelta(seconds=raw["lease"]), max_run=timedelta(seconds=raw["max_run"])),
    )


def draft_of(job: JobPlan, schedule: Mapping[str, Any], settings: Mapping[str, Any]) -> JobDraft:
    """The declaration of a drawn job."""
    target = {"webhook": {"url": f"https://{job.host}/hook", "timeout_seconds": job.timeout}}
    return JobDraft(schedule=schedule, target=target, payload=b'{"n":1}', settings=settings_of(settings))


class Owners:
    """Carries out what a plan says owners do. `jobs` by team and name: what was declared first."""

    def __init__(self, jobs: Mapping[tuple[str, str], JobPlan]) -> None:
        self._jobs = jobs

    def declare_team(self, stage: SimStage, team: TeamPlan) -> str:
        """Creates the team, and its calendar."""
        quiet = administration.calendar(stage, team.name, team.quiet)
        made = administration.team(
            stage, team.name, cap=team.cap, hosts=team.hosts, notify_on=frozenset(team.notify_on)
        )
        return f"{made}, {quiet}"

    def declare(self, stage: SimStage, job: JobPlan) -> str:
        """Creates the job as drawn."""
        draft = draft_of(job, job.schedule, job.settings)
        return self._answered(stage, job.team, job.name, draft)

    def act(self, stage: SimStage, op: OpPlan) -> str:
        """One operation; what the owner was answered."""
        match op.what:
            case "edit" | "retune" | "same":
                return self._edit(stage, op)
            case "create":
                return self._create(stage, op, f"{op.job.partition('-b')[0]}-b{op.number}")
            case "recreate":
                deleted = self._delete(stage, op)
                return f"{deleted}, {self._create(stage, op, op.job)}"
            case "delete":
                return self._delete(stage, op)
            case "pause":
                return self._pause(stage, op)
            case "resume":
                return named(lifecycle.resume(stage.registry, self._request(op.team, op.job)))
            case "run_now":
                return self._run_now(stage, op)
            case _:
                return administration.act(stage, op)

    def _pause(self, stage: SimStage, op: OpPlan) -> str:
        minutes = op.facts["minutes"]
        until = None if minutes is None else floor_ms(stage.clock.now() + timedelta(minutes=minutes))
        request, cancel = self._request(op.team, op.job), op.facts["cancel_started"]
        return named(lifecycle.pause(stage.registry, request, until=until, cancel_started=cancel))

    def redrive(self, stage: SimStage, team: str, execution: str) -> str:
        """Brings a dead execution back."""
        redrive = stage.delivery.redrive
        return named(redrive.one(OWNER, team, ExecutionId.parse(execution), stage.clock.now()))

    def cancel(self, stage: SimStage, execution: str, *, begun_too: bool) -> str:
        """Cancels one execution."""
        identity = ExecutionId.parse(execution)
        answer = stage.delivery.cancel.execution(
            identity, Reason.PAUSED, stage.clock.now(), begun_too=begun_too
        )
        return f"{named(answer)}" if isinstance(answer, CancelledNow) else named(answer)

    def _planned(self, op: OpPlan) -> JobPlan | None:
        """The plan of the job, or of the one beside which it was created."""
        return self._jobs.get((op.team, op.job.partition("-b")[0]))

    def _edit(self, stage: SimStage, op: OpPlan) -> str:
        job = self._planned(op)
        if job is None:
            return "Missing"
        found = find_job(stage.store, op.team, op.job)
        if found is None:
            return "Missing"
        schedule = op.facts.get("schedule", job.schedule)
        settings = op.facts.get("settings", job.settings)
        return self._answered(stage, op.team, op.job, draft_of(job, schedule, settings))

    def _create(self, stage: SimStage, op: OpPlan, name: str) -> str:
        job = self._planned(op)
        if job is None:
            return "Missing"
        draft = draft_of(job, op.facts["schedule"], op.facts["settings"])
        return self._answered(stage, op.team, name, draft)

    def _delete(self, stage: SimStage, op: OpPlan) -> str:
        return named(lifecycle.delete(stage.registry, self._request(op.team, op.job)))

    def _run_now(self, stage: SimStage, op: OpPlan) -> str:
        job = find_job(stage.store, op.team, op.job)
        if job is None or job.state != "ACTIVE":
            return "Missing"
        key = f"request-{op.number}"
        return named(stage.delivery.run_now.start(job, key, OWNER, stage.clock.now()))

    def _answered(self, stage: SimStage, team: str, name: str, draft: JobDraft) -> str:
        try:
            return named(declare(stage.registry, self._request(team, name), lambda _: draft))
        except Faults as refused:
            return f"Faults: {refused.faults[0].rule}"

    def _request(self, team: str, name: str) -> JobRequest:
        return JobRequest(caller=OWNER, team=team, name=name)
