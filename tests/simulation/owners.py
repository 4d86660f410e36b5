"""What owners do, as requests to API hosts: each a task of its own that may crash, lose its answer, or come too late."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from fencepost.application.delivery.cancel import CancelledNow
from fencepost.application.registry import lifecycle
from fencepost.application.registry.drafts import JobDraft, Settings
from fencepost.application.registry.jobs import JobRequest, declare
from fencepost.application.registry.reading import find_job
from fencepost.application.registry.teams import TeamDraft, TeamRequest, declare_team
from fencepost.domain.faults import Faults
from fencepost.domain.identity import ExecutionId
from fencepost.domain.model import (
    Caller,
    LongWork,
    Misfire,
    MisfirePolicy,
    Overlap,
    RetryPolicy,
    Team,
    Tier,
)
from fencepost.domain.states import Reason
from tests.simulation.plan import JobPlan, OpPlan, TeamPlan
from tests.simulation.stage import SimStage

OWNER = Caller(principal="arn:aws:iam::111122223333:role/owner", admin=True)
SNS = "arn:aws:sns:eu-central-1:111122223333:told"


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
        long_work=LongWork(lease=timedelta(seconds=raw["lease"]), max_run=timedelta(seconds=raw["max_run"])),
    )


def draft_of(job: JobPlan, schedule: Mapping[str, Any], settings: Mapping[str, Any]) -> JobDraft:
    """The declaration of a drawn job."""
    target = {
        "webhook": {"url": f"https://{job.name}.example.com/hook", "timeout_seconds": job.timeout},
    }
    return JobDraft(schedule=schedule, target=target, payload=b'{"n":1}', settings=settings_of(settings))


class Owners:
    """Carries out what a plan says owners do. `jobs` by team and name: what was declared first."""

    def __init__(self, jobs: Mapping[tuple[str, str], JobPlan]) -> None:
        self._jobs = jobs

    def declare_team(self, stage: SimStage, team: TeamPlan, cap: int | None = None) -> str:
        """Creates the team, or changes its cap."""

        def draw(current: Team | None) -> TeamDraft:
            base = current or Team(name=team.name, notify_on=frozenset(team.notify_on))
            return TeamDraft(team=replace(base, max_concurrency=cap or team.cap), notify={"sns": SNS})

        request = TeamRequest(caller=OWNER, team=team.name)
        return type(declare_team(stage.registry, request, draw)).__name__

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
                return self._create(stage, op, f"{op.job}-b{op.number}")
            case "recreate":
                deleted = self._delete(stage, op)
                return f"{deleted}, {self._create(stage, op, op.job)}"
            case "delete":
                return self._delete(stage, op)
            case "pause":
                request = self._request(op.team, op.job)
                cancel = op.facts["cancel_started"]
                return _name(lifecycle.pause(stage.registry, request, cancel_started=cancel))
            case "resume":
                return _name(lifecycle.resume(stage.registry, self._request(op.team, op.job)))
            case "run_now":
                return self._run_now(stage, op)
            case _:
                raise ValueError(f"{op.what} is no operation of an owner")

    def redrive(self, stage: SimStage, team: str, execution: str) -> str:
        """Brings a dead execution back."""
        redrive = stage.delivery.redrive
        return _name(redrive.one(OWNER, team, ExecutionId.parse(execution), stage.clock.now()))

    def cancel(self, stage: SimStage, execution: str, *, begun_too: bool) -> str:
        """Cancels one execution."""
        identity = ExecutionId.parse(execution)
        answer = stage.delivery.cancel.execution(
            identity, Reason.PAUSED, stage.clock.now(), begun_too=begun_too
        )
        return f"{_name(answer)}" if isinstance(answer, CancelledNow) else _name(answer)

    def _edit(self, stage: SimStage, op: OpPlan) -> str:
        job = self._jobs.get((op.team, op.job))
        if job is None:
            return "Missing"
        found = find_job(stage.store, op.team, op.job)
        if found is None:
            return "Missing"
        schedule = op.facts.get("schedule", job.schedule)
        settings = op.facts.get("settings", job.settings)
        return self._answered(stage, op.team, op.job, draft_of(job, schedule, settings))

    def _create(self, stage: SimStage, op: OpPlan, name: str) -> str:
        job = self._jobs.get((op.team, op.job))
        if job is None:
            return "Missing"
        draft = draft_of(job, op.facts["schedule"], op.facts["settings"])
        return self._answered(stage, op.team, name, draft)

    def _delete(self, stage: SimStage, op: OpPlan) -> str:
        return _name(lifecycle.delete(stage.registry, self._request(op.team, op.job)))

    def _run_now(self, stage: SimStage, op: OpPlan) -> str:
        job = find_job(stage.store, op.team, op.job)
        if job is None or job.state != "ACTIVE":
            return "Missing"
        key = f"request-{op.number}"
        return _name(stage.delivery.run_now.start(job, key, OWNER, stage.clock.now()))

    def _answered(self, stage: SimStage, team: str, name: str, draft: JobDraft) -> str:
        try:
            return _name(declare(stage.registry, self._request(team, name), lambda _: draft))
        except Faults as refused:
            return f"Faults: {refused.faults[0].rule}"

    def _request(self, team: str, name: str) -> JobRequest:
        return JobRequest(caller=OWNER, team=team, name=name)


def _name(answer: object) -> str:
    return type(answer).__name__
