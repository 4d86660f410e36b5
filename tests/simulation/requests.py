"""What comes to the API hosts of a history: owners' operations at their moments, and workers' reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from fencepost.application import keys
from fencepost.application.store import Key, OutcomeUnknownError, Put, StoreBusyError, Table
from fencepost.domain.identity import ExecutionId
from tests.simulation.dice import Die
from tests.simulation.faults import Trap
from tests.simulation.hosts import Hosts
from tests.simulation.journal import ASKED, REPLIED, WORKER, Journal
from tests.simulation.kernel import SECOND, Kernel
from tests.simulation.owners import Owners
from tests.simulation.plan import JobPlan, OpPlan, Plan
from tests.simulation.stage import SimStage
from tests.simulation.store import SimStore
from tests.simulation.targets import Call, shift

PATIENCE = 70 * SECOND
SETTLING_IN = 20 * SECOND
USUAL_LEASE = 45

Work = Callable[[SimStage], str]


class Requests:
    """Each request is a task of its own, on some API host."""

    def __init__(self, plan: Plan, kernel: Kernel, journal: Journal, store: SimStore, hosts: Hosts) -> None:
        self._plan = plan
        self._kernel = kernel
        self._journal = journal
        self._store = store
        self._hosts = hosts
        self._die = Die(f"{kernel.seed}/requests")
        self._serial = 0
        self._jobs = {(job.team, job.name): job for job in plan.jobs}
        self._owners = Owners(self._jobs)

    def begin(self) -> None:
        """Teams and jobs are declared, and operations come, each at its instant."""
        for team in self._plan.teams:
            self._ask(f"create {team.name}", partial(self._owners.declare_team, team=team))
        for job in self._plan.jobs:
            self._kernel.at(SETTLING_IN + job.at, self._declare, job)
        for op in self._plan.ops:
            if op.on is None:
                self._kernel.at(op.at, self._do, op)

    def traps(self) -> list[Trap]:
        """The operations that wait for a move."""
        return [
            Trap(1000 + op.number, op.at, op.on, op.what, partial(self._do, op))
            for op in self._plan.ops
            if op.on is not None
        ]

    def work(self, call: Call) -> None:
        """A worker takes over; it talks to the API."""
        job = self._jobs.get((call.team, call.job))
        lease = (USUAL_LEASE if job is None else int(job.settings["lease"])) * SECOND
        die = Die(f"{self._kernel.seed}/worker/{call.execution}/{call.fence % 997}")
        at = self._kernel.now
        for after, says in shift(die, lease).steps:
            at += after
            self._kernel.at(at, self._says, (call, says))

    def _ask(self, name: str, work: Work, tries: int | None = None) -> None:
        """A request. An owner who gets no good answer asks again, a few times."""
        left = self._plan.asks if tries is None else tries
        host = self._hosts.one("api", self._die.roll())
        self._serial += 1
        answered: list[str] = []

        def serve() -> None:
            self._journal.note(ASKED, name)
            try:
                answer = work(self._hosts.stage(host))
            except (StoreBusyError, OutcomeUnknownError) as error:
                answer = type(error).__name__
            self._journal.note(REPLIED, name, answer)
            answered.append(answer)

        def patience(_: Any) -> None:
            unanswered = not answered or answered[0].endswith("Error")
            if unanswered and left > 1 and self._kernel.now < self._plan.faults_end:
                self._ask(name, work, left - 1)

        self._kernel.spawn(f"{host.name}/{name}.{self._serial}", host, serve)
        self._kernel.at(self._kernel.now + PATIENCE, patience)

    def _declare(self, job: JobPlan) -> None:
        self._ask(f"create {job.team}/{job.name}", partial(self._owners.declare, job=job))

    def _do(self, op: OpPlan, about: str | None = None) -> None:
        """An owner does something, to the job `about` if its moment is that job's."""
        op = self._moved_to(op, about)
        match op.what:
            case "redrive":
                found = self._some("DEAD", op)
                if found is not None:
                    again = partial(self._owners.redrive, team=op.team, execution=found)
                    self._ask(f"redrive {found}", again)
            case "cancel":
                found = self._some("QUEUED", op) or self._some("RETRY_WAIT", op) or self._some("WAITING", op)
                if found is not None:
                    away = partial(self._owners.cancel, execution=found, begun_too=op.number % 2 == 0)
                    self._ask(f"cancel {found}", away)
            case "corrupt":
                self._corrupt(op)
            case _:
                name = f"{op.what} {op.team}/{op.job} (op {op.number})"
                self._ask(name, partial(self._owners.act, op=op))

    def _moved_to(self, op: OpPlan, about: str | None) -> OpPlan:
        item = None if about is None or "there" not in op.facts else self._store.peek(keys.job(about))
        return op if item is None else replace(op, team=str(item["team"]), job=str(item["name"]))

    def _some(self, state: str, op: OpPlan) -> str | None:
        """The id of an execution of the team in `state`, of that very job if it has one; the same for the same op."""
        found = [
            (item["job"], f"{item['pk']}-{str(item['sk']).replace('#', '-', 1)}")
            for item in self._store.everything(Table.EXECUTIONS)
            if item.get("state") == state and item.get("team") == op.team
        ]
        chosen = [each for job, each in found if job == op.job] or [each for _, each in found]
        return chosen[op.number % len(chosen)] if chosen else None

    def _corrupt(self, op: OpPlan) -> None:
        """Something writes nonsense over a timer of a job, of whatever kind it is."""
        claim = self._store.peek(keys.name_claim(op.team, op.job))
        found = [
            item
            for item in self._store.everything(Table.TIMERS)
            if claim is not None and str(item["sk"]).split("#")[2].startswith(claim["uid"])
        ]
        if found:
            item = found[op.number % len(found)]
            broken = {name: value for name, value in item.items() if name not in {"pk", "sk", "due"}}
            self._store.write(Put(key=Key(Table.TIMERS, item["pk"], item["sk"]), item=broken))

    def _says(self, said: tuple[Call, str]) -> None:
        call, says = said
        self._ask(f"worker of {call.execution} says {says}", lambda stage: self._heard(stage, call, says))

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
        self._journal.note(WORKER, (call.execution, call.fence, says, named))
        return named
