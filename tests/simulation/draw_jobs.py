"""Draws teams and jobs: how often they fire, what their owners chose, how their targets behave."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tests.simulation.kernel import SECOND
from tests.simulation.mix import Profile
from tests.simulation.plan import CALENDAR, HostLimits, JobPlan, TeamPlan

RATES = {"*/2": 60, "*/3": 40, "*/4": 30, "*/5": 24, "*/6": 20, "*/10": 12, "*/12": 10, "*/15": 8, "*/20": 6}
EVERY = {75: 96, 120: 60, 150: 48, 210: 34, 300: 24, 360: 20, 600: 12, 660: 11, 900: 8}
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata")
MOVED = "Asia/Kolkata"
"""The zone that a newer release moves, where one is deployed."""
SHARED = "shared"


def wire(instant: datetime) -> str:
    """As declarations have it."""
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Drawing:
    """One seed's chance, used up in a fixed order. `changes`: the history begins where zones change their clocks."""

    chance: random.Random
    profile: Profile
    begin: datetime
    changes: bool

    def number(self, bounds: tuple[int, int]) -> int:
        """One of them, both included."""
        return self.chance.randint(*bounds)

    def weighed(self, weights: Mapping[str, float]) -> str:
        """One of the words, by its weight."""
        return self.chance.choices(list(weights), list(weights.values()))[0]

    def instant(self, at: int) -> datetime:
        """True time as an instant."""
        return self.begin + timedelta(microseconds=at)


@dataclass(frozen=True, slots=True)
class Teams(Drawing):
    """Draws teams."""

    def team(self, number: int) -> TeamPlan:
        """One team."""
        wanted = (
            "dead",
            *self.chance.sample(("succeeded", "skipped", "late"), self.chance.choice((0, 0, 1))),
        )
        name = f"team-{number}"
        return TeamPlan(
            name=name,
            cap=self.number(self.profile.caps),
            notify_on=wanted,
            hosts=self.hosts(name) if self.chance.random() < self.profile.sparing else {},
            quiet=self.quiet(),
        )

    def hosts(self, team: str) -> HostLimits:
        """What the team spares its shared host to, and one of its jobs' own."""
        names = (f"{SHARED}-{team}.example.com", f"job-{self.chance.randrange(20):02d}.example.com")
        return {name: self._manners() for name in names[: self.chance.choice((1, 1, 2))]}

    def _manners(self) -> tuple[int | None, int | None]:
        chance = self.chance
        parallel, minute = chance.choice((1, 1, 2, 3)), chance.choice((4, 6, 12, 30))
        return chance.choice(((parallel, None), (None, minute), (parallel, minute)))

    def quiet(self) -> tuple[str, ...]:
        """Spans of a few minutes in which nothing fires that leaves them out; one lies before everything else."""
        chance = self.chance
        spans = [(-3600, -3500)]
        for _ in range(chance.randint(1, 3)):
            first = chance.randrange(0, 6_000)
            spans.append((first, first + chance.choice((60, 240, 900))))
        return tuple(f"{self._second(first)}/{self._second(last)}" for first, last in spans)

    def _second(self, second: int) -> str:
        return wire(self.begin + timedelta(seconds=second))


@dataclass(frozen=True, slots=True)
class Jobs(Drawing):
    """Draws jobs."""

    def jobs(self, teams: tuple[TeamPlan, ...]) -> tuple[JobPlan, ...]:
        """Some fire often and most seldom, so that together they fire about as often as the profile wants."""
        jobs: list[JobPlan] = []
        count, left = self.number(self.profile.jobs), float(self.profile.firings)
        for number in range(count):
            brisk = number < self.profile.brisk
            schedule, rate = self._brisk() if brisk else self.schedule(left / (count - number))
            left = max(0.0, left - rate)
            team = teams[number % len(teams)].name
            jobs.append(self._job(number, team, schedule))
        return tuple(jobs)

    def _job(self, number: int, team: str, schedule: Mapping[str, Any]) -> JobPlan:
        chance, name = self.chance, f"job-{number:02d}"
        shared = chance.random() < self.profile.sharing
        return JobPlan(
            number=number,
            team=team,
            name=name,
            at=chance.randint(0, 90 * SECOND),
            schedule=schedule,
            settings=self.settings(),
            timeout=chance.choice((1, 3, 10)),
            odds=self._answers() if self.profile.answers is None else self.profile.answers,
            host=f"{SHARED}-{team}.example.com" if shared else f"{name}.example.com",
        )

    def settings(self) -> dict[str, Any]:
        """What an owner chooses besides when and where."""
        chance, mix = self.chance, self.profile
        overlap = chance.choice(("skip", "queue")) if chance.random() < mix.overlap else "allow"
        policy = "catch_up" if chance.random() < mix.catch_up else chance.choice(("run_once_late", "skip"))
        return self._keeping() | {
            "tier": chance.choice(mix.tiers),
            "overlap": overlap,
            "misfire": {
                "policy": policy,
                "window": chance.choice((5, 20, 24 * 60)),
                "max_runs": chance.choice((1, 3, 10)) if policy == "catch_up" else 1,
            },
            "retry": {
                "max_attempts": chance.choice(mix.budgets),
                "initial": chance.choice((1, 5, 20)),
                "multiplier": chance.choice((1.0, 2.0, 3.0)),
                "ceiling": chance.choice((20, 120)),
            },
            "lease": chance.choice((30, 45, 60)),
            "max_run": chance.choice((60, 120, 240)),
        }

    def _keeping(self) -> dict[str, Any]:
        """What a job is to do by itself."""
        chance, mix = self.chance, self.profile
        if not mix.keeping or chance.random() >= mix.keeping:
            return {}
        return {
            "pause_after_dead": chance.choice((None, 1, 2, 3)),
            "delete_after_completion": chance.random() < 0.5,
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

    def schedule(self, rate: float = 12.0) -> tuple[dict[str, Any], float]:
        """A schedule that fires about `rate` times in two hours, and how often it does."""
        chance, kind = self.chance, self.chance.random()
        if self.profile.minutes:
            hourly = chance.choice(self.profile.minutes)
            raw: dict[str, Any] = {"cron": f"{hourly} * * * *", "timezone": self._zone()}
            return self._bounded(raw), 2 * len(hourly.split(","))
        if rate < 3 or kind < 0.06:
            return self._rare(), 1
        if kind < 0.35:
            steps = self._near(EVERY, rate)
            anchor = self.begin - timedelta(seconds=chance.choice((0, 1, 7, 3600)))
            raw = {"every": f"PT{steps}S", "anchor": wire(anchor)}
            return self._bounded(raw), EVERY[steps]
        step = self._near(RATES, rate)
        if chance.random() < 0.3:
            minutes = sorted(chance.sample(range(60), max(1, min(12, int(rate / 2)))))
            raw = {"cron": f"{','.join(map(str, minutes))} * * * *", "timezone": self._zone()}
            return self._bounded(raw), 2 * len(minutes)
        raw = {"cron": f"{step} * * * *", "timezone": self._zone()}
        return self._bounded(raw), RATES[step]

    def _brisk(self) -> tuple[dict[str, Any], float]:
        """Now and then for a few minutes only: so many firings are a history of their own."""
        seconds, begins = self.chance.choice((15, 20, 40)), self.chance.randrange(300, 3_000)
        ends = begins + 60 * seconds
        schedule = {"every": f"PT{seconds}S", "anchor": wire(self.begin), "start_at": self._second(begins)}
        return schedule | {"end_at": self._second(ends)}, 60

    def _second(self, second: int) -> str:
        return wire(self.begin + timedelta(seconds=second))

    def _zone(self) -> str:
        zone = self.chance.choice(ZONES)
        return MOVED if self.profile.zones and self.chance.random() < 0.8 else zone

    def _near(self, table: Mapping[Any, int], rate: float) -> Any:
        ranked = sorted(table, key=lambda each: abs(table[each] - rate))
        return self.chance.choice(ranked[:3])

    def _rare(self) -> dict[str, Any]:
        chance = self.chance
        if chance.random() < 0.5:
            at = self.begin + timedelta(seconds=chance.randint(240, 5400))
            return {"at": wire(at)}
        if self.profile.zones:
            here = self.begin + timedelta(minutes=self.chance.choice((330, 345, 390)))
            return {"cron": f"{here.minute} {here.hour} * * *", "timezone": MOVED}
        if self.changes:
            return {"cron": f"{chance.choice((0, 30))} 2 * * *", "timezone": "Europe/Berlin"}
        hour = (self.begin + timedelta(hours=1)).hour
        return {"cron": f"{chance.randrange(60)} {hour} * * *", "timezone": "UTC"}

    def _bounded(self, raw: dict[str, Any]) -> dict[str, Any]:
        chance, mix = self.chance, self.profile
        if chance.random() < 0.1:
            raw["jitter_seconds"] = chance.choice((5, 30, 90))
        if chance.random() < mix.ending:
            raw["max_firings"] = chance.randint(1, 6)
        if chance.random() < mix.ending:
            raw["end_at"] = wire(self.begin + timedelta(seconds=chance.randint(1200, 6000)))
        if chance.random() < mix.excluding:
            raw["exclude"] = [CALENDAR]
        return raw
