"""Draws a plan from a seed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.simulation.faults import Fault, Kind
from tests.simulation.kernel import MINUTE, MS, SECOND
from tests.simulation.labels import JOB_MOVES, MOVES
from tests.simulation.plan import FAULTS_END, TIERS, JobPlan, OpPlan, Plan, TeamPlan, Trouble
from tests.simulation.profiles import PROFILES, Profile

DAYS = (datetime(2026, 3, 2, 10, tzinfo=UTC), datetime(2026, 7, 14, 21, tzinfo=UTC))
CHANGES = (datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC))
RATES = {"*/2": 60, "*/3": 40, "*/4": 30, "*/5": 24, "*/6": 20, "*/10": 12, "*/12": 10, "*/15": 8, "*/20": 6}
EVERY = {75: 96, 120: 60, 150: 48, 210: 34, 300: 24, 360: 20, 600: 12, 660: 11, 900: 8}
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata")
QUIET_MINUTES = 3


def plan_of(seed: int, profile: str = "mixed") -> Plan:
    """The plan of a seed; the same for ever."""
    return _Drawing(random.Random(f"{profile}/{seed}"), PROFILES[profile]).plan(seed, profile)


class _Drawing:
    """One seed's chance, used up in a fixed order."""

    def __init__(self, chance: random.Random, profile: Profile) -> None:
        self.chance = chance
        self.profile = profile

    def plan(self, seed: int, profile: str) -> Plan:
        chance, mix = self.chance, self.profile
        begin = chance.choice(CHANGES) if chance.random() < 0.1 else chance.choice(DAYS)
        begin += timedelta(minutes=chance.randrange(60)) if begin in DAYS else timedelta(0)
        teams = tuple(self._team(n) for n in range(self._number(mix.teams)))
        jobs = self._jobs(teams, begin)
        ops = tuple(self._op(n, jobs, begin) for n in range(self._number(mix.ops)))
        return Plan(
            seed=seed,
            profile=profile,
            begin=begin,
            shards=chance.choice((1, 1, 1, 2)),
            latency=self._latency(),
            page_size=chance.choice((1, 3, 25, 25)),
            slowest=chance.randint(*mix.slowest),
            skews=chance.choice((0, mix.skews // 4, mix.skews)),
            strict=seed % 20 == 0,
            teams=teams,
            jobs=jobs,
            ops=ops,
            faults=tuple(self._fault(n) for n in range(self._number(mix.faults))),
            troubles=self._troubles(),
            odds={kind: odds for kind, odds in mix.mail.items() if chance.random() < 0.6},
            deaf=chance.choice((0.0, mix.deaf)),
        )

    def _number(self, bounds: tuple[int, int]) -> int:
        return self.chance.randint(*bounds)

    def _weighed(self, weights: Mapping[str, float]) -> str:
        return self.chance.choices(list(weights), list(weights.values()))[0]

    def _latency(self) -> tuple[int, int]:
        """From a quick network to one where calls of neighbours lie beside each other for seconds."""
        low, high = self.profile.latency
        slow = self.chance.choice((low, low, high // 5, high))
        return (2 * MS, max(slow, 4 * MS))

    def _team(self, number: int) -> TeamPlan:
        wanted = (
            "dead",
            *self.chance.sample(("succeeded", "skipped", "late"), self.chance.choice((0, 0, 1))),
        )
        return TeamPlan(name=f"team-{number}", cap=self._number(self.profile.caps), notify_on=wanted)

    def _jobs(self, teams: tuple[TeamPlan, ...], begin: datetime) -> tuple[JobPlan, ...]:
        """Some fire often and most seldom, so that together they fire about as often as the profile wants."""
        jobs: list[JobPlan] = []
        count, left = self._number(self.profile.jobs), float(self.profile.firings)
        for number in range(count):
            schedule, rate = self._schedule(begin, left / (count - number))
            left = max(0.0, left - rate)
            team = teams[number % len(teams)].name
            jobs.append(self._job(number, team, schedule))
        return tuple(jobs)

    def _job(self, number: int, team: str, schedule: Mapping[str, Any]) -> JobPlan:
        chance = self.chance
        return JobPlan(
            number=number,
            team=team,
            name=f"job-{number:02d}",
            at=chance.randint(0, 90 * SECOND),
            schedule=schedule,
            settings=self._settings(),
            timeout=chance.choice((1, 3, 10)),
            odds=self._answers(),
        )

    def _settings(self) -> dict[str, Any]:
        chance, mix = self.chance, self.profile
        overlap = chance.choice(("skip", "queue")) if chance.random() < mix.overlap else "allow"
        policy = "catch_up" if chance.random() < mix.catch_up else chance.choice(("run_once_late", "skip"))
        return {
            "tier": chance.choice(TIERS),
            "overlap": overlap,
            "misfire": {
                "policy": policy,
                "window": chance.choice((5, 20, 24 * 60)),
                "max_runs": chance.choice((1, 3, 10)) if policy == "catch_up" else 1,
            },
            "retry": {
                "max_attempts": chance.choice((1, 2, 3, 4)),
                "initial": chance.choice((1, 5, 20)),
                "multiplier": chance.choice((1.0, 2.0, 3.0)),
                "ceiling": chance.choice((20, 120)),
            },
            "lease": chance.choice((30, 45, 60)),
            "max_run": chance.choice((60, 120, 240)),
        }

    def _answers(self) -> dict[str, float]:
        chance, mix = self.chance, self.profile
        if chance.random() < mix.workers:
            return {"accept": 0.8, "fail": 0.05, "hang": 0.05}
        if chance.random() >= mix.flaky:
            return {"fail": 0.04, "hang": 0.01}
        if chance.random() < 0.2:
            return {"fail": 0.9, "never": 0.05}
        return {
            "fail": 0.15,
            "busy": 0.1,
            "never": 0.03,
            "hang": 0.08,
            "late": 0.05,
            "lie": 0.1,
            "accept": 0.1,
        }

    def _schedule(self, begin: datetime, rate: float = 12.0) -> tuple[dict[str, Any], float]:
        """A schedule that fires about `rate` times in two hours, and how often it does."""
        chance, kind = self.chance, self.chance.random()
        if rate < 3 or kind < 0.06:
            return self._rare(begin), 1
        if kind < 0.35:
            steps = self._near(EVERY, rate)
            anchor = begin - timedelta(seconds=chance.choice((0, 1, 7, 3600)))
            raw: dict[str, Any] = {"every": f"PT{steps}S", "anchor": _wire(anchor)}
            return self._bounded(raw, begin), EVERY[steps]
        step = self._near(RATES, rate)
        if chance.random() < 0.3:
            minutes = sorted(chance.sample(range(60), max(1, min(12, int(rate / 2)))))
            raw = {"cron": f"{','.join(map(str, minutes))} * * * *", "timezone": chance.choice(ZONES)}
            return self._bounded(raw, begin), 2 * len(minutes)
        raw = {"cron": f"{step} * * * *", "timezone": chance.choice(ZONES)}
        return self._bounded(raw, begin), RATES[step]

    def _near(self, table: Mapping[Any, int], rate: float) -> Any:
        ranked = sorted(table, key=lambda each: abs(table[each] - rate))
        return self.chance.choice(ranked[:3])

    def _rare(self, begin: datetime) -> dict[str, Any]:
        chance = self.chance
        if chance.random() < 0.5:
            at = begin + timedelta(seconds=chance.randint(240, 5400))
            return {"at": _wire(at)}
        if begin in CHANGES:
            return {"cron": f"{chance.choice((0, 30))} 2 * * *", "timezone": "Europe/Berlin"}
        hour = (begin + timedelta(hours=1)).hour
        return {"cron": f"{chance.randrange(60)} {hour} * * *", "timezone": "UTC"}

    def _bounded(self, raw: dict[str, Any], begin: datetime) -> dict[str, Any]:
        chance = self.chance
        if chance.random() < 0.1:
            raw["jitter_seconds"] = chance.choice((5, 30, 90))
        if chance.random() < 0.05:
            raw["max_firings"] = chance.randint(1, 6)
        if chance.random() < 0.05:
            raw["end_at"] = _wire(begin + timedelta(seconds=chance.randint(1200, 6000)))
        return raw

    def _op(self, number: int, jobs: tuple[JobPlan, ...], begin: datetime) -> OpPlan:
        chance, mix = self.chance, self.profile
        what, job = self._weighed(mix.op_weights), chance.choice(jobs)
        at = chance.randint(QUIET_MINUTES * MINUTE, FAULTS_END)
        aimed = chance.random() < mix.aimed_ops
        if not aimed and chance.random() < 0.5:
            at = (
                at // MINUTE * MINUTE
                + chance.choice((-2, -1, 0, 0, 1, 2)) * SECOND
                + chance.randrange(SECOND)
            )
        return OpPlan(
            number=number,
            at=at,
            what=what,
            team=job.team,
            job=job.name,
            on=self._aim() if aimed else None,
            facts=self._op_facts(what, begin),
        )

    def _op_facts(self, what: str, begin: datetime) -> dict[str, Any]:
        chance = self.chance
        match what:
            case "edit" | "create" | "recreate":
                schedule, _ = self._schedule(begin, chance.choice((6, 12, 24)))
                return {"schedule": schedule, "settings": self._settings()}
            case "retune":
                return {"settings": self._settings()}
            case "pause":
                return {"cancel_started": chance.random() < 0.3}
            case "cap":
                return {"cap": self._number(self.profile.caps)}
            case _:
                return {}

    def _aim(self) -> str:
        if self.profile.aims:
            return self._weighed(self.profile.aims)
        return self.chance.choice((*MOVES, *JOB_MOVES))

    def _fault(self, number: int) -> Fault:
        chance, mix = self.chance, self.profile
        kind = Kind(self._weighed(mix.fault_weights))
        aimed = number >= 5 and chance.random() < mix.aimed_faults
        amounts = {
            Kind.LATE_EFFECT: (10 * MS, 5 * SECOND),
            Kind.PAUSE_BEFORE: (5 * SECOND, 15 * MINUTE),
            Kind.PAUSE_AFTER: (5 * SECOND, 15 * MINUTE),
        }
        low, high = amounts.get(kind, (1, 1))
        return Fault(
            number=number,
            kind=kind,
            at=chance.randint(MINUTE, FAULTS_END - 10 * MINUTE),
            on=self._aim() if aimed else None,
            skip=0 if aimed else chance.randint(0, 30),
            amount=int(low * (high / low) ** chance.random()),
            repeat=chance.choice((0, 0, 1, 2, 6)) if kind in {Kind.THROTTLE, Kind.CONFLICT} else 0,
        )

    def _troubles(self) -> tuple[Trouble, ...]:
        chance, mix = self.chance, self.profile
        found = []
        for _ in range(self._number(mix.troubles)):
            begins = chance.randint(4 * MINUTE, FAULTS_END - 10 * MINUTE)
            longest = min(mix.longest_gap, FAULTS_END - begins)
            lasts = int(MINUTE * (longest / MINUTE) ** chance.random())
            found.append(Trouble(kind=self._weighed(mix.trouble_weights), begins=begins, ends=begins + lasts))
        return tuple(found)


def _wire(instant: datetime) -> str:
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")
