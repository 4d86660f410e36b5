"""Draws what owners and administrators do, and when: at an instant, or beside a move that is under way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product
from typing import Any

from tests.simulation.draw_jobs import Drawing, Jobs, Teams, wire
from tests.simulation.faults import PATIENCE
from tests.simulation.kernel import MINUTE, SECOND
from tests.simulation.labels import ARROWS, JOB_ARROWS, JOB_MOVES, MOVES
from tests.simulation.plan import FAULTS_END, TIERS, JobPlan, OpPlan, Plan, TeamPlan

QUIET_MINUTES = 3
ALL_MOVES, ALL_ARROWS = (*MOVES, *JOB_MOVES), (*ARROWS, *JOB_ARROWS)
SWITCHED = (*TIERS, "recovery")


@dataclass(frozen=True, slots=True)
class Ops(Drawing):
    """Draws operations."""

    def ops(self, jobs: tuple[JobPlan, ...], teams: tuple[TeamPlan, ...]) -> tuple[OpPlan, ...]:
        """All of a history. Whatever is switched off is switched on again when the faults end."""
        favoured = self.chance.sample(jobs, self.profile.focus) if self.profile.focus else jobs
        drawn = tuple(self._op(number, favoured) for number in range(self.number(self.profile.ops)))
        return drawn + self._all_on(drawn, teams)

    def refreshes(self, plan: Plan) -> tuple[OpPlan, ...]:
        """Of every team, in the minute after a newer release of the time-zone database was deployed."""
        assert plan.zones_at is not None
        return tuple(
            OpPlan(
                number=len(plan.ops) + number,
                at=plan.zones_at + self.chance.randint(SECOND, MINUTE),
                what="refresh",
                team=team.name,
                job="",
            )
            for number, team in enumerate(plan.teams)
        )

    def _op(self, number: int, jobs: tuple[JobPlan, ...] | list[JobPlan]) -> OpPlan:
        chance, mix = self.chance, self.profile
        what, job = self.weighed(mix.op_weights), chance.choice(jobs)
        at = chance.randint(QUIET_MINUTES * MINUTE, FAULTS_END)
        aimed = chance.random() < mix.aimed_ops
        if not aimed and chance.random() < 0.5:
            at = (
                at // MINUTE * MINUTE
                + chance.choice((-2, -1, 0, 0, 1, 2)) * SECOND
                + chance.randrange(SECOND)
            )
        facts = self._facts(what, at, job, aimed=aimed)
        return OpPlan(
            number=number,
            at=at,
            what=what,
            team=job.team,
            job=job.name,
            on=self.aim() if aimed else None,
            facts=facts | ({"there": True} if aimed and chance.random() < 0.7 else {}),
        )

    def aim(self) -> str:
        """A move, or something else that a call may do."""
        if self.profile.aims:
            return self.weighed(self.profile.aims)
        return self.chance.choice(ALL_MOVES if self.chance.random() < 0.5 else ALL_ARROWS)

    def _facts(self, what: str, at: int, job: JobPlan, *, aimed: bool) -> dict[str, Any]:
        chance = self.chance
        teams = Teams(chance, self.profile, self.begin, self.changes)
        match what:
            case "edit" | "create" | "recreate" | "retune" | "pause":
                return self._of_job(what, job)
            case "cap":
                return {"cap": self.number(self.profile.caps)}
            case "hosts":
                return {"hosts": {} if chance.random() < 0.2 else teams.hosts(job.team)}
            case "calendar":
                return {"quiet": teams.quiet()}
            case "halt" | "halt_stage" | "unhalt" | "unhalt_stage":
                return {"tiers": self._tiers(), "until": self._back(at, aimed=aimed)}
            case "backfill":
                return self._backfill()
            case _:
                return {}

    def _of_job(self, what: str, job: JobPlan) -> dict[str, Any]:
        chance, jobs = self.chance, Jobs(self.chance, self.profile, self.begin, self.changes)
        if what == "pause":
            minutes = chance.choice((1, 2, 5, 15)) if chance.random() < self.profile.expiring else None
            return {"cancel_started": chance.random() < 0.3, "minutes": minutes}
        settings = {"settings": jobs.settings()}
        if what == "retune":
            return settings
        if what == "edit" and self.profile.alike:
            return {"schedule": self._alike(job.schedule)} | settings
        return {"schedule": jobs.schedule(chance.choice((6, 12, 24)))[0]} | settings

    def _alike(self, schedule: Mapping[str, Any]) -> dict[str, Any]:
        """Another schedule with the same instants: it ends by a part of a second later, or tomorrow. What a calendar left
        out may be in it again.
        """
        ends = datetime.fromisoformat(str(schedule.get("end_at", wire(self.begin + timedelta(days=1)))))
        again = {**schedule, "end_at": wire(ends + timedelta(milliseconds=self.chance.randrange(1, 1_000)))}
        if "exclude" in again and self.chance.random() < 0.5:
            del again["exclude"]
        return again

    def _tiers(self) -> tuple[str, ...]:
        chance = self.chance
        return SWITCHED if chance.random() < 0.5 else (chance.choice(SWITCHED), chance.choice(TIERS))

    def _back(self, at: int, *, aimed: bool) -> str | None:
        """When a switch ends by itself. One whose moment nobody knows beforehand always does."""
        if not aimed and self.chance.random() < 0.5:
            return None
        begins = at + (self.chance.randrange(PATIENCE) if aimed else 0)
        ends = begins + self.chance.choice((1, 3, 3, 10, 25)) * MINUTE
        return wire(self.instant(min(ends, FAULTS_END)))

    def _backfill(self) -> dict[str, Any]:
        chance = self.chance
        before = chance.choice((0, 0, 5, 30))
        return {
            "first": before + chance.choice((5, 15, 40, 90)),
            "before": before,
            "rate": chance.choice((2, 6, 30, 45, 60)),
            "overlap": chance.choice((None, "allow", "skip", "queue")),
            "force": chance.random() < 0.3,
        }

    def _all_on(self, drawn: tuple[OpPlan, ...], teams: tuple[TeamPlan, ...]) -> tuple[OpPlan, ...]:
        """Switches without an end end with the faults; asked for twice, since a request may be lost."""
        endless = [op for op in drawn if op.what.startswith("halt") and op.facts["until"] is None]
        scopes = {("unhalt_stage", teams[0].name) for op in endless if op.what == "halt_stage"}
        scopes |= {("unhalt", op.team) for op in endless if op.what == "halt"}
        scopes |= {("refresh", team.name) for team in teams if self.profile.zones}
        return tuple(
            OpPlan(
                number=len(drawn) + number,
                at=FAULTS_END + number * SECOND + again,
                what=what,
                team=team,
                job="",
                facts={"tiers": SWITCHED, "until": None},
            )
            for number, (again, (what, team)) in enumerate(product((0, 9 * MINUTE), sorted(scopes)))
        )
