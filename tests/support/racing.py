"""A stage of real processes on the local engine: tickers, scanners, deliverers and owners, killed and stopped at random.

Run as a module it is the supervisor: ``python -m tests.support.racing ENDPOINT PREFIX FOLDER SEED SECONDS``. It forks
the processes, so that a new one takes a killed one's place at once, and ends when the time is over and every one of
them has gone. What targets were asked for and what teams were told lies in FOLDER, a line each, written in one piece.
"""

from __future__ import annotations

import io
import json
import os
import select
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, cast

import boto3

from fencepost.adapters.aws import Patience, client_config
from fencepost.adapters.dynamodb.schema import table_names
from fencepost.adapters.dynamodb.setup import create_tables
from fencepost.adapters.dynamodb.store import DynamoDbStore
from fencepost.adapters.queue_settings import QUEUE_SETTINGS
from fencepost.adapters.sqs import SqsQueues
from fencepost.adapters.sqs_setup import create_queues
from fencepost.application import keys
from fencepost.application.ports import QueueName
from fencepost.application.store import Put, Store
from fencepost.domain.delivery import Delivery
from fencepost.domain.instants import MINUTE, floor_minute, to_ms, to_wire
from fencepost.domain.limits import Limits
from fencepost.domain.model import NotifyTargets
from fencepost.domain.notification import Notification
from fencepost.domain.outcome import Delivered, Failed, Outcome
from fencepost.local.engine import delivery, upkeep
from fencepost.local.poller import to_event
from fencepost.local.ticker import event
from fencepost.runtime.clock import SystemClock, monotonic_ms, sleep_ms
from fencepost.runtime.entropy import SystemEntropy
from fencepost.runtime.observability import observability
from fencepost.runtime.settings import Settings
from functions.api.handler import build
from functions.tick import handler as tick
from tests.support.api import ADMIN, ADMIN_ROLE, OWNER_ROLE, Front, MemoryStage

REGION = "us-east-1"
SECOND = timedelta(seconds=1)
PAYMENTS = "/v1/teams/payments"
JOBS = tuple(f"job-{number}" for number in range(8))
FIVE_SECONDS = {"every": "PT5S"}
ROLES = ("ticker", "scanner", "scanner", "deliverer", "deliverer", "deliverer", "owner", "owner")
LEASES = {
    "lease_margin": 4 * SECOND,
    "holder_stops": SECOND,
    "taker_waits": SECOND,
    "slot_margin": 2 * SECOND,
}
LIMITS = replace(
    Limits(shards=2, horizon=MINUTE, backlog_lanes=1),
    **cast("Any", LEASES),
    scan_lease=SECOND,
    tick_lease=SECOND,
)
HIDDEN = 8 * SECOND
WATCHED = (QueueName.STANDARD, QueueName.RECOVERY)


class _Silent:
    """Answers are held to the document elsewhere."""

    def check(self, *_: object) -> None:
        """Nothing."""


@dataclass(frozen=True)
class Log:
    """Lines that processes add, each in one write, so that none is torn by a kill."""

    path: Path

    def add(self, **facts: Any) -> None:
        """One line."""
        with self.path.open("ab", buffering=0) as file:
            file.write(json.dumps(facts).encode() + b"\n")

    def lines(self) -> list[dict[str, Any]]:
        """All of them."""
        return (
            [json.loads(line) for line in self.path.read_bytes().splitlines()] if self.path.exists() else []
        )


@dataclass(frozen=True)
class LoggedTargets:
    """Answers at random, after a while; every call is in the log before it is answered."""

    log: Log
    dice: Random

    def call(self, delivery: Delivery, *, timeout: timedelta) -> Outcome:
        """See `Targets`."""
        facts = delivery.facts
        body = facts.body.decode()
        self.log.add(
            execution=facts.execution_id, fence=facts.fence, body=body, at=to_ms(SystemClock().now())
        )
        sleep_ms(self.dice.randrange(5, 120))
        return (
            Failed(status=500, error="answered 500") if self.dice.random() < 0.15 else Delivered(status=200)
        )


@dataclass(frozen=True)
class LoggedNotifier:
    """Takes everything."""

    log: Log

    def notify(self, notification: Notification, targets: NotifyTargets) -> bool:
        """See `Notifier`."""
        self.log.add(id=notification.id, execution=notification.execution_id)
        return True


class Racer:
    """What every process has: the ports over the engine, and a stage of them."""

    def __init__(self, endpoint: str, prefix: str, folder: Path, seed: int = 0) -> None:
        session = boto3.Session(aws_access_key_id="local", aws_secret_access_key="local", region_name=REGION)
        config = client_config(Patience(read_seconds=20))
        dynamodb = session.client("dynamodb", endpoint_url=endpoint, config=config)
        sqs = session.client("sqs", endpoint_url=endpoint, config=config)
        clock = SystemClock()
        settings = {name: replace(each, visibility=HIDDEN) for name, each in QUEUE_SETTINGS.items()}
        urls = create_queues(sqs, prefix, settings)
        self.dice = Random(seed)
        self.store: Store = DynamoDbStore(dynamodb, table_names(prefix), clock=clock, entropy=SystemEntropy())
        self.queues = SqsQueues(sqs, urls)
        self.calls, self.told = Log(folder / "calls"), Log(folder / "told")
        self.stage = MemoryStage(
            clock=cast("Any", clock),
            store=self.store,
            queues=cast("Any", self.queues),
            targets=cast("Any", LoggedTargets(self.calls, self.dice)),
            notifier=cast("Any", LoggedNotifier(self.told)),
            entropy=cast("Any", SystemEntropy()),
            settings=Settings(stage="race", limits=LIMITS, admins=frozenset({ADMIN_ROLE}), queues=urls),
            observed=observability("race", io.StringIO()),
        )
        self.front = Front(stage=self.stage, memory=cast("Any", self.store), contract=cast("Any", _Silent()))
        self.front.handler = build(self.stage)

    def ticker(self) -> None:
        """Far more often than once a minute."""
        handler = tick.build(self.stage)
        while True:
            handler(event(self.stage.clock.now(), "tick"), None)
            sleep_ms(self.dice.randrange(400, 1_500))

    def scanner(self) -> None:
        """Scans, pumps, dead letters."""
        self._serve({feed.queue: feed.build(self.stage) for feed in upkeep()})

    def deliverer(self) -> None:
        """Firings."""
        self._serve({feed.queue: feed.build(self.stage) for feed in delivery() if feed.queue in WATCHED})

    def owner(self) -> None:
        """Changes of mind."""
        while True:
            self.change(self.dice.choice(JOBS))
            sleep_ms(self.dice.randrange(100, 500))

    def change(self, name: str) -> None:
        """One change of a job; whether it is allowed in the job's state does not matter."""
        path = f"{PAYMENTS}/jobs/{name}"
        match self.dice.randrange(6):
            case 0:
                self.front.post(path + "/pause", {"cancel_started": self.dice.random() < 0.5})
            case 1 | 2:
                self.front.post(path + "/resume")
            case 3:
                every = self.dice.choice(["PT5S", "PT6S", "PT7S"])
                self.front.patch(path, {"schedule": {"every": every}, "payload": self.dice.randrange(100)})
            case 4:
                self.front.post(path + "/run", {})
            case _:
                self.front.call("PATCH", PAYMENTS, {"max_concurrency": self.dice.randrange(1, 5)}, by=ADMIN)

    def _serve(self, handlers: Mapping[QueueName, Callable[[Any, object], Any]]) -> None:
        while True:
            if not [queue for queue, handler in handlers.items() if self._batch(queue, handler)]:
                sleep_ms(50)

    def _batch(self, queue: QueueName, handler: Callable[[Any, object], Any]) -> bool:
        messages = self.queues.receive(queue, 5, timedelta(0))
        if messages:
            answer = handler(to_event(messages, self.stage.settings), None)
            refused = {each["itemIdentifier"] for each in answer["batchItemFailures"]}
            self.queues.delete([each for each in messages if each.message_id not in refused])
        return bool(messages)


def prepare(endpoint: str, prefix: str, folder: Path) -> Racer:
    """A stage with a team of few slots and eight jobs, each every five seconds."""
    session = boto3.Session(aws_access_key_id="local", aws_secret_access_key="local", region_name=REGION)
    create_tables(session.client("dynamodb", endpoint_url=endpoint), prefix)
    racer = Racer(endpoint, prefix, folder)
    proven = to_ms(floor_minute(racer.stage.clock.now()) - MINUTE)
    for key in (*map(keys.watermark, range(LIMITS.shards)), keys.agenda_cursor()):
        racer.store.write(Put(key=key, item={"v": 1, "m": proven}))
    team = {"principals": [OWNER_ROLE], "max_concurrency": 3}
    assert racer.front.put(PAYMENTS, team, by=ADMIN).status == 201
    retry = {"initial_delay_seconds": 1, "multiplier": 1, "max_attempts": 100}
    for number, name in enumerate(JOBS):
        overlap = ("allow", "skip", "queue")[number % 3]
        target = {"webhook": {"url": f"https://example.com/{name}", "timeout_seconds": 1}}
        body = {"schedule": FIVE_SECONDS, "target": target, "retry": retry, "overlap": overlap}
        assert racer.front.put(f"{PAYMENTS}/jobs/{name}", body).status == 201
    return racer


class Supervisor:
    """Forks, kills, stops, lets go on."""

    def __init__(self, arguments: tuple[str, str, Path], seed: int) -> None:
        self._arguments = arguments
        self._dice = Random(seed)
        self._alive: dict[int, str] = {}
        self._stopped: dict[int, int] = {}
        self.kills = self.stops = self.failed = 0

    def run(self, seconds: float) -> None:
        """Chaos for as long; then everybody goes on in peace until a line comes in, and is ended."""
        for role in ROLES:
            self._fork(role)
        end = monotonic_ms() + seconds * 1000
        while monotonic_ms() < end:
            self._wake_up()
            self._replace()
            self._strike(self._dice.choice(sorted(self._alive)))
            sleep_ms(self._dice.randrange(150, 600))
        for pid in self._stopped:
            os.kill(pid, signal.SIGCONT)
        self._end({"owner"})
        print(f"{self.kills} killed, {self.stops} stopped, {self.failed} ended by an error", flush=True)
        while not select.select([sys.stdin], [], [], 0.2)[0]:
            self._replace()
        self._end(set(ROLES))

    def _strike(self, pid: int) -> None:
        drawn = self._dice.random()
        if drawn < 0.45:
            os.kill(pid, signal.SIGKILL)
            self.kills += 1
        elif drawn < 0.8 and pid not in self._stopped:
            os.kill(pid, signal.SIGSTOP)
            self._stopped[pid] = monotonic_ms() + self._dice.choice([300, 1_500, 4_000, 8_000])
            self.stops += 1

    def _wake_up(self) -> None:
        for pid, until in list(self._stopped.items()):
            if monotonic_ms() >= until:
                os.kill(pid, signal.SIGCONT)
                del self._stopped[pid]

    def _replace(self) -> None:
        """Whoever has died is followed by another of its kind."""
        while self._alive:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            self.failed += not os.WIFSIGNALED(status)
            self._stopped.pop(pid, None)
            self._fork(self._alive.pop(pid))

    def _end(self, roles: set[str]) -> None:
        for pid in [pid for pid, role in self._alive.items() if role in roles]:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            del self._alive[pid]

    def _fork(self, role: str) -> None:
        seed = self._dice.randrange(2**32)
        pid = os.fork()
        if pid:
            self._alive[pid] = role
            return
        with suppress(BaseException):
            getattr(Racer(*self._arguments, seed), role)()
        os._exit(1)


def ended(racer: Racer) -> None:
    """No job fires any more: what was begun comes to its end."""
    for name in JOBS:
        racer.front.post(f"{PAYMENTS}/jobs/{name}/resume")
        reply = racer.front.post(f"{PAYMENTS}/jobs/{name}/pause", {"note": to_wire(racer.stage.clock.now())})
        assert reply.status == 200, reply.body


if __name__ == "__main__":
    Supervisor((sys.argv[1], sys.argv[2], Path(sys.argv[3])), int(sys.argv[4])).run(float(sys.argv[5]))
