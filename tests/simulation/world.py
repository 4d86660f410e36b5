"""Builds a history's stage from its plan, lets it happen, and hands over what happened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from fencepost.application import keys
from fencepost.application.store import Key, OutcomeUnknownError, Put, StoreBusyError, Table
from fencepost.domain.identity import ExecutionId
from fencepost.domain.limits import Limits
from fencepost.runtime.settings import Settings
from tests.simulation import labels
from tests.simulation.boundary import Boundary
from tests.simulation.dice import Die
from tests.simulation.faults import Armed, Fault, Trap
from tests.simulation.functions import QUEUES, Functions
from tests.simulation.journal import ASKED, BROKEN, REPLIED, WORKER, WRITE, Journal
from tests.simulation.kernel import HOUR, MINUTE, MS, SECOND, Host, Kernel, Task
from tests.simulation.mail import Mail
from tests.simulation.owners import Owners
from tests.simulation.plan import JobPlan, OpPlan, Plan
from tests.simulation.speed import remember
from tests.simulation.stage import HostClock, Ports, SimStage, TaskEntropy
from tests.simulation.store import SimStore
from tests.simulation.targets import Call, SimNotifier, SimTargets, shift

HOSTS = {"tick": 2, "scan": 2, "deliver": 3, "dead": 2, "pump": 2, "api": 2}
FEWEST_FIRINGS = 200
TRIES = 3
keys.MARK_PARTITIONS = 2
remember()


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What checkers read: the plan, the journal, and what is left at the end. `ticks`: when which kind of tick came."""

    plan: Plan
    journal: Journal
    store: SimStore
    mail: Mail
    ended_at: int
    leases: int
    ticks: tuple[tuple[int, str], ...]


class World:
    """One history on its way."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.journal = Journal()
        self.kernel = Kernel(f"{plan.profile}/{plan.seed}", self._broke)
        self.journal.kernel = self.kernel
        self._die = Die(f"{self.kernel.seed}/world")
        self._serial = 0
        self.hosts: dict[str, list[Host]] = {kind: [] for kind in HOSTS}
        self.store = SimStore(
            self.journal,
            lambda: self.instant(self.kernel.now),
            between=self._between,
            page_size=self._page_size,
            strict=plan.strict,
        )
        self.functions = Functions(self.kernel, self.journal, host_for=self.host_for, stage_of=self.stage_of)
        self.mail = Mail(self.kernel, self.journal, self.functions.ready, self._odds())
        self.functions.mail = self.mail
        self.owners = Owners({(job.team, job.name): job for job in plan.jobs})
        self._answers = {f"{job.team}/{job.name}": job.odds for job in plan.jobs}
        self._jobs = {(job.team, job.name): job for job in plan.jobs}
        self._ports = self._wired()
        self._ticks: list[tuple[int, str]] = []
        for kind, count in HOSTS.items():
            for _ in range(count):
                self._add_host(kind)

    def run(self) -> History:
        """Lets it happen, to its end, and on until enough has fired."""
        plan = self.plan
        self._begin()
        self._draw_ticks()
        end = plan.ends
        self.kernel.run(end)
        while plan.whole and self._leases() < FEWEST_FIRINGS and end < plan.ends + HOUR:
            end += 10 * MINUTE
            self._tick_until(end)
            self.kernel.run(end)
        self._come_to_rest(end)
        return History(
            plan=plan,
            journal=self.journal,
            store=self.store,
            mail=self.mail,
            ended_at=end,
            leases=self._leases(),
            ticks=tuple(self._ticks),
        )

    def instant(self, at: int) -> datetime:
        """True time as an instant."""
        return self.plan.begin + timedelta(microseconds=at)

    def host_for(self, kind: str, fraction: float) -> Host:
        """One of the hosts of a kind that does not stand still."""
        awake = [host for host in self.hosts[kind] if host.frozen_until <= self.kernel.now]
        if not awake:
            return self._add_host(kind)
        return awake[int(fraction * len(awake))]

    def stage_of(self, host: Host) -> SimStage:
        """The host's stage, made when it is first needed."""
        stage = host.memory.get("stage")
        if stage is None:
            clock = HostClock(self.kernel, host, self.plan.begin)
            stage = host.memory["stage"] = SimStage(self._ports, clock)
        return stage

    def ask(
        self, name: str, work: Callable[[SimStage], str], told: Callable[[str], None] | None = None
    ) -> None:
        """A request to an API host. An owner who gets no good answer asks again, a few times."""
        self._ask(name, work, told, TRIES)

    def _ask(
        self, name: str, work: Callable[[SimStage], str], told: Callable[[str], None] | None, tries: int
    ) -> None:
        host = self.host_for("api", self._die.roll())
        self._serial += 1
        answered: list[str] = []

        def serve() -> None:
            self.journal.note(ASKED, name)
            try:
                answer = work(self.stage_of(host))
            except (StoreBusyError, OutcomeUnknownError) as error:
                answer = type(error).__name__
            self.journal.note(REPLIED, name, answer)
            answered.append(answer)
            if told is not None:
                told(answer)

        def patience(_: Any) -> None:
            unanswered = not answered or answered[0].endswith("Error")
            if unanswered and tries > 1 and self.kernel.now < self.plan.faults_end:
                self._ask(name, work, told, tries - 1)

        self.kernel.spawn(f"{host.name}/{name}.{self._serial}", host, serve)
        self.kernel.at(self.kernel.now + 70 * SECOND, patience)

    def _wired(self) -> Ports:
        plan = self.plan
        armed = Armed([*map(replace, plan.faults), *self._traps()])
        boundary = Boundary(
            self.kernel,
            self.journal,
            self.store,
            armed,
            latency=plan.latency,
            send=self.mail.send,
            killed=self._killed,
        )
        targets = SimTargets(
            self.kernel, self.journal, odds=self._odds_of, work=self._work, slowest=plan.slowest
        )
        return Ports(
            store=self.store,
            queues=self.mail,
            targets=targets,
            notifier=SimNotifier(self.kernel, self.journal, plan.deaf),
            boundary=boundary,
            entropy=TaskEntropy(self.kernel),
            settings=Settings(stage="sim", limits=Limits(shards=plan.shards), queues=QUEUES),
            journal=self.journal,
        )

    def _odds(self) -> dict[str, float]:
        return dict(self.plan.odds)

    def _odds_of(self, job: str) -> dict[str, float]:
        known = self._answers.get(job) or self._answers.get(job.rpartition("-b")[0]) or {}
        return dict(known)

    def _add_host(self, kind: str) -> Host:
        self._serial += 1
        skews = self.plan.skews
        skew = self._die.below(2 * skews + 1) - skews
        host = Host(f"{kind}-{self._serial}", kind, skew)
        self.hosts[kind].append(host)
        return host

    def _killed(self, host: Host) -> None:
        if host in self.hosts[host.kind]:
            self.hosts[host.kind].remove(host)
        self._add_host(host.kind)

    def _broke(self, task: Task, error: Exception) -> None:
        self.journal.note(BROKEN, f"{type(error).__name__}: {error}", task=task)

    def _page_size(self) -> int:
        """How many items the next page has; now and then none, where pages are short."""
        size = self.plan.page_size
        return 0 if size < 10 and self._die.roll() < 0.1 else size

    def _between(self, what: str) -> None:
        """Between two looks of one read others may write."""
        task = self.kernel.current
        if task is not None and (what == "page" or task.die.roll() < 0.3):
            task.torn = True
            self.kernel.pause(task.die.between(MS, self.plan.latency[1]))

    def _begin(self) -> None:
        plan = self.plan
        for team in plan.teams:
            self.ask(f"create {team.name}", partial(self.owners.declare_team, team=team))
        for job in plan.jobs:
            self.kernel.at(20 * SECOND + job.at, self._declare, job)
        for op in plan.ops:
            if op.on is None:
                self.kernel.at(op.at, self._do, op)

    def _declare(self, job: JobPlan) -> None:
        self.ask(f"create {job.team}/{job.name}", partial(self.owners.declare, job=job))

    def _traps(self) -> list[Fault | Trap]:
        return [
            Trap(1000 + op.number, op.at, op.on, op.what, partial(self._do, op))
            for op in self.plan.ops
            if op.on is not None
        ]

    def _do(self, op: OpPlan, about: str | None = None) -> None:
        """An owner does something, to the job `about` if its moment is that job's."""
        op = self._moved_to(op, about)
        name = f"{op.what} {op.team}/{op.job} (op {op.number})"
        match op.what:
            case "redrive":
                found = self._some("DEAD", op)
                if found is not None:
                    again = partial(self.owners.redrive, team=op.team, execution=found)
                    self.ask(f"redrive {found}", again)
            case "cancel":
                found = self._some("QUEUED", op) or self._some("RETRY_WAIT", op) or self._some("WAITING", op)
                if found is not None:
                    away = partial(self.owners.cancel, execution=found, begun_too=op.number % 2 == 0)
                    self.ask(f"cancel {found}", away)
            case "corrupt":
                self._corrupt(op)
            case _:
                self.ask(name, partial(self.owners.act, op=op))

    def _moved_to(self, op: OpPlan, about: str | None) -> OpPlan:
        item = None if about is None or "there" not in op.facts else self.store.peek(keys.job(about))
        return op if item is None else replace(op, team=str(item["team"]), job=str(item["name"]))

    def _some(self, state: str, op: OpPlan) -> str | None:
        """The id of an execution of the team in `state`, of that very job if it has one; the same for the same op."""
        found = [
            (item["job"], f"{item['pk']}-{str(item['sk']).replace('#', '-', 1)}")
            for item in self.store.everything(Table.EXECUTIONS)
            if item.get("state") == state and item.get("team") == op.team
        ]
        chosen = [each for job, each in found if job == op.job] or [each for _, each in found]
        return chosen[op.number % len(chosen)] if chosen else None

    def _corrupt(self, op: OpPlan) -> None:
        """Something writes nonsense over a job's timer that is not claimed yet."""
        claim = self.store.peek(keys.name_claim(op.team, op.job))
        for item in self.store.everything(Table.TIMERS):
            named = str(item["sk"]).split("#")
            if claim is not None and named[1] == "F" and named[2] == claim["uid"]:
                broken = {name: value for name, value in item.items() if name not in {"pk", "sk", "due"}}
                self.store.write(Put(key=Key(Table.TIMERS, item["pk"], item["sk"]), item=broken))
                return

    def _draw_ticks(self) -> None:
        self._next_tick = 0
        self._tick_until(self.plan.ends)

    def _tick_until(self, end: int) -> None:
        """A tick a minute at an unknown second, but where the plan says otherwise."""
        while self._next_tick < end:
            minute = self._next_tick
            self._next_tick += MINUTE
            at = minute + self._die.below(MINUTE // 2)
            trouble = next((t for t in self.plan.troubles if t.begins <= minute < t.ends), None)
            match None if trouble is None else trouble.kind:
                case "missing":
                    continue
                case "late":
                    self._tick(at + self._die.between(SECOND, 4 * MINUTE), "late")
                case "doubled":
                    self._tick(at, "normal")
                    self._tick(at + self._die.between(MS, 20 * SECOND), "doubled")
                case "bunched":
                    for _ in range(3):
                        self._tick(
                            minute - minute % (3 * MINUTE) + 3 * MINUTE + self._die.below(SECOND), "bunched"
                        )
                case _:
                    self._tick(at, "normal")

    def _tick(self, at: int, kind: str) -> None:
        def tick(_: Any) -> None:
            self._ticks.append((self.kernel.now, kind))
            self.functions.invoke("tick")

        self.kernel.at(at, tick)

    def _work(self, call: Call) -> None:
        """A worker takes over; it talks to the API."""
        job = self._jobs.get((call.team, call.job))
        lease = (45 if job is None else int(job.settings["lease"])) * SECOND
        die = Die(f"{self.kernel.seed}/worker/{call.execution}/{call.fence % 997}")
        at = self.kernel.now
        for after, says in shift(die, lease).steps:
            at += after
            self.kernel.at(at, self._says, (call, says))

    def _says(self, said: tuple[Call, str]) -> None:
        call, says = said
        self.ask(f"worker of {call.execution} says {says}", lambda s: self._heard(s, call, says))

    def _heard(self, stage: SimStage, call: Call, says: str) -> str:
        workers, now = stage.delivery.workers, stage.clock.now()
        identity = ExecutionId.parse(call.execution)
        match says:
            case "heartbeat":
                answer: object = workers.heartbeat(call.team, identity, call.fence, now)
            case "complete":
                answer = workers.complete(call.team, identity, call.fence, "done", now)
            case _:
                retryable = says == "fail"
                answer = workers.fail(call.team, identity, call.fence, "no", now, retryable=retryable)
        named = type(answer).__name__
        self.journal.note(WORKER, (call.execution, call.fence, says, named))
        return named

    def _leases(self) -> int:
        return sum(
            1
            for entry in self.journal.entries
            if entry[0] == WRITE
            and entry[4] == "executions"
            and labels.label(entry[4], entry[5], entry[6], entry[7], entry[8]) == "lease"
        )

    def _come_to_rest(self, end: int) -> None:
        """Nothing new begins; what is under way comes to its end."""
        while not self.kernel.idle and end < self.plan.ends + 3 * HOUR:
            end += MINUTE
            self.kernel.run(end)


def simulate(plan: Plan) -> History:
    """The history of a plan."""
    return World(plan).run()
