"""Builds a history's stage from its plan, lets it happen, and hands over what happened."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from fencepost.application import keys
from fencepost.domain.limits import Limits
from fencepost.runtime.settings import Settings
from tests.simulation import zones
from tests.simulation.boundary import Boundary
from tests.simulation.dice import Die
from tests.simulation.faults import Armed
from tests.simulation.functions import QUEUES, Functions
from tests.simulation.hosts import Hosts
from tests.simulation.journal import ASKED, BROKEN, WRITE, Journal
from tests.simulation.kernel import HOUR, MINUTE, MS, Host, Kernel, Task
from tests.simulation.labels import execution_move
from tests.simulation.mail import Mail
from tests.simulation.plan import Plan
from tests.simulation.requests import Requests
from tests.simulation.speed import forget, remember
from tests.simulation.stage import HostClock, Ports, SimStage, TaskEntropy
from tests.simulation.store import SimStore
from tests.simulation.targets import Odds, SimNotifier, SimTargets
from tests.simulation.ticks import Ticks

FEWEST_FIRINGS = 200
LONGER = 3 * HOUR
"""How much longer than planned a history goes on at most, until enough has fired."""
keys.MARK_PARTITIONS = 2
remember()


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What checkers read: the plan, the journal, and what is left at the end. `firings`: executions that were begun.
    `ticks`: when which kind of tick came."""

    plan: Plan
    journal: Journal
    store: SimStore
    mail: Mail
    ended_at: int
    firings: int
    ticks: tuple[tuple[int, str], ...]


class World:
    """One history on its way."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.journal = Journal()
        self.kernel = Kernel(f"{plan.profile}/{plan.seed}", self._broke)
        self.journal.kernel = self.kernel
        self._pages = Die(f"{self.kernel.seed}/pages")
        self.hosts = Hosts(self.kernel, plan.skews, self._stage_for)
        self.store = SimStore(
            self.journal,
            lambda: self.instant(self.kernel.now),
            between=self._between,
            page_size=self._page_size,
            strict=plan.strict,
        )
        self.functions = Functions(
            self.kernel, self.journal, host_for=self.hosts.one, stage_of=self.hosts.stage
        )
        self.mail = Mail(self.kernel, self.journal, self.functions.ready, dict(plan.odds), plan.asleep)
        self.functions.mail = self.mail
        self.requests = Requests(plan, self.kernel, self.journal, self.store, self.hosts)
        self.ticks = Ticks(self.kernel, plan.troubles, lambda: self.functions.invoke("tick"))
        zones.restore()
        for at in plan.sweeps:
            self.kernel.at(at, lambda _: self.functions.invoke("sweep"))
        if plan.zones_at is not None:
            self.kernel.at(plan.zones_at, self._deployed)
        self._answers = {f"{job.team}/{job.name}": job.odds for job in plan.jobs}
        self._ports = self._wired()

    def run(self) -> History:
        """Lets it happen, to its end, and on until enough has fired."""
        plan = self.plan
        self.requests.begin()
        end = plan.ends
        self.ticks.until(end)
        self.kernel.run(end)
        while plan.whole and end < plan.ends + LONGER and self._firings() < FEWEST_FIRINGS:
            end += 10 * MINUTE
            self.ticks.until(end)
            self.kernel.run(end)
        self._come_to_rest(end)
        zones.restore()
        history = History(
            plan=plan,
            journal=self.journal,
            store=self.store,
            mail=self.mail,
            ended_at=end,
            firings=self._firings(),
            ticks=tuple(self.ticks.came),
        )
        self._let_go()
        return history

    def instant(self, at: int) -> datetime:
        """True time as an instant."""
        return self.plan.begin + timedelta(microseconds=at)

    def _wired(self) -> Ports:
        plan = self.plan
        armed = Armed([*map(replace, plan.faults), *self.requests.traps()])
        boundary = Boundary(
            self.kernel,
            self.journal,
            self.store,
            armed,
            latency=plan.latency,
            send=self.mail.send,
            killed=self.hosts.killed,
        )
        targets = SimTargets(
            self.kernel, self.journal, odds=self._odds_of, work=self.requests.work, slowest=plan.slowest
        )
        return Ports(
            store=self.store,
            queues=self.mail,
            targets=targets,
            notifier=SimNotifier(self.kernel, self.journal, plan.deaf),
            boundary=boundary,
            entropy=TaskEntropy(self.kernel),
            settings=Settings(
                stage="sim", limits=Limits(shards=plan.shards, backlog_lanes=plan.lanes), queues=QUEUES
            ),
            journal=self.journal,
        )

    def _deployed(self, _: Any) -> None:
        """A newer release of the time-zone database, and every process anew."""
        self.journal.note(ASKED, "zones")
        zones.release()
        self.hosts.replaced()

    def _stage_for(self, host: Host) -> SimStage:
        return SimStage(self._ports, HostClock(self.kernel, host, self.plan.begin))

    def _odds_of(self, job: str) -> Odds:
        return self._answers.get(job) or self._answers.get(job.rpartition("-b")[0]) or {}

    def _broke(self, task: Task, error: Exception) -> None:
        self.journal.note(BROKEN, f"{type(error).__name__}: {error}", task=task)

    def _page_size(self) -> int:
        """How many items the next page has; now and then none, where pages are short."""
        size = self.plan.page_size
        return 0 if size < 10 and self._pages.roll() < 0.1 else size

    def _between(self, what: str) -> None:
        """Between two looks of one read others may write."""
        task = self.kernel.current
        if task is not None and (what == "page" or task.die.roll() < 0.3):
            task.torn = True
            self.kernel.pause(task.die.between(MS, self.plan.latency[1]))

    def _firings(self) -> int:
        """How many executions were leased."""
        begun = {
            (entry[5], entry[6])
            for entry in self.journal.entries
            if entry[0] == WRITE
            and entry[4] == "executions"
            and not entry[5].startswith("D#")
            and execution_move(entry[7], entry[8]) == "lease"
        }
        return len(begun)

    def _come_to_rest(self, end: int) -> None:
        """Nothing new begins; what is under way comes to its end."""
        latest = end + 3 * HOUR
        while not self.kernel.idle and end < latest:
            end += MINUTE
            self.kernel.run(end)

    def _let_go(self) -> None:
        """Nothing refers to itself any more, so that all of it goes with the last who looks at it."""
        self.kernel.forget()
        self.hosts.forget()
        self.functions.mail = None
        vars(self).clear()
        forget()


def simulate(plan: Plan) -> History:
    """The history of a plan."""
    return World(plan).run()
