"""CPU of a firing: ours beside the floor, interleaved, minima. The store answers from another process.

Three ways to do the same work against the same endpoint:
- *ours*: the use case over its adapters, as the function runs it;
- *bare*: the very AWS calls that ours made, their parameters ready, through botocore clients;
- *signed*: the very requests, signed by hand and sent by urllib3, answers parsed as JSON: the bound.
"""

from __future__ import annotations

import gc
import hashlib
import hmac
import io
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from unittest.mock import patch
from urllib.parse import urlsplit

import boto3
import urllib3

from fencepost.adapters.aws import Patience, client_config
from fencepost.adapters.clients import Clients
from fencepost.adapters.dynamodb.schema import table_names
from fencepost.adapters.dynamodb.store import DynamoDbStore
from fencepost.adapters.sqs import SqsQueues
from fencepost.application import messages
from fencepost.application.ports import QueueName, Received
from fencepost.application.scanning.report import ScanReport
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import MINUTE, from_wire, to_ms
from fencepost.domain.limits import Limits
from fencepost.local.poller import to_event
from fencepost.runtime import delivering, scanning
from fencepost.runtime.function import Handler
from fencepost.runtime.observability import observability
from fencepost.runtime.settings import Settings
from functions.deliver import handler as deliver
from tests.bench.jobs import uid_of
from tests.bench.ondemand import PREFIX, Register, configuration, running
from tests.bench.stage import BenchStage
from tests.support.clock import CountingEntropy, SettableClock
from tests.support.world import ScriptedTargets, ToldTeams

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_sqs import SQSClient

NOW = "2026-03-02T10:58:00.000Z"
DUE = "2026-03-02T11:00:00.000Z"
SINCE = "2025-01-01T00:00:00.000Z"
CLAIMED = 330
BATCH = 10
REGION = "us-east-1"
KEY, SECRET = "testing", "testing"


@dataclass(frozen=True, slots=True)
class Sent:
    """One AWS call: as botocore was asked for it, and as it went out."""

    service: str
    operation: str
    parameters: Mapping[str, Any]
    target: str
    body: bytes
    content_type: str


@dataclass(frozen=True, slots=True)
class Slept:
    """So many jobs, of which a crowd comes due at `due` and is read at `now`."""

    registered: int = 1_000_000
    due: str = DUE
    now: str = NOW


class Recorder:
    """Writes down the calls of clients."""

    def __init__(self) -> None:
        self.calls: list[Sent] = []
        self._parameters: Mapping[str, Any] = {}

    def attach(self, client: Any) -> None:
        """Listens to `client`."""
        client.meta.events.register_first("before-parameter-build.*.*", self._asked)
        client.meta.events.register("before-send.*.*", self._sent)

    def detach(self, client: Any) -> None:
        """Listens no longer."""
        client.meta.events.unregister("before-parameter-build.*.*", self._asked)
        client.meta.events.unregister("before-send.*.*", self._sent)

    def _asked(self, params: Mapping[str, Any], **_: object) -> None:
        self._parameters = dict(params)

    def _sent(self, request: Any, event_name: str, **_: object) -> None:
        service, operation = event_name.split(".")[1:]
        body = request.body if isinstance(request.body, bytes) else str(request.body).encode()
        target, kind = (_text(request.headers[name]) for name in ("X-Amz-Target", "Content-Type"))
        self.calls.append(Sent(service, operation, self._parameters, target, body, kind))


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


class Signed:
    """Sends recorded requests with nothing but SigV4 by hand, urllib3 and json."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._host = urlsplit(endpoint).netloc
        self._pool = urllib3.PoolManager(maxsize=10)

    def send(self, call: Sent) -> Any:
        """One request and its parsed answer."""
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        headers = {
            "Content-Type": call.content_type,
            "X-Amz-Date": stamp,
            "X-Amz-Target": call.target,
        }
        digest = hashlib.sha256(call.body).hexdigest()
        names = "content-type;host;x-amz-date;x-amz-target"
        canonical = (
            f"POST\n/\n\ncontent-type:{call.content_type}\nhost:{self._host}\nx-amz-date:{stamp}\n"
            f"x-amz-target:{call.target}\n\n{names}\n{digest}"
        )
        scope = f"{stamp[:8]}/{REGION}/{call.service}/aws4_request"
        text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        signature = hmac.new(_signing_key(stamp[:8], call.service), text.encode(), hashlib.sha256).hexdigest()
        headers["Authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={KEY}/{scope}, SignedHeaders={names}, Signature={signature}"
        )
        answer = self._pool.request("POST", self._endpoint, body=call.body, headers=headers)
        return json.loads(answer.data)


_SIGNING_KEYS: dict[tuple[str, str], bytes] = {}


def _signing_key(day: str, service: str) -> bytes:
    if (day, service) not in _SIGNING_KEYS:
        key = f"AWS4{SECRET}".encode()
        for part in (day, REGION, service, "aws4_request"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        _SIGNING_KEYS[day, service] = key
    return _SIGNING_KEYS[day, service]


class Works:
    """One stage's functions, fed by hand: a scan, and environments of the delivery function."""

    def __init__(self, stage: BenchStage, register: Register) -> None:
        self.stage = stage
        self.register = register
        self._scan = scanning.scan(stage)
        self._beside = deliver.build(stage)
        with patch.object(delivering, "MAX_BATCH", 1):
            self._in_turn = deliver.build(stage)
        self.now = NOW
        self._batches = 0

    def claim(self) -> None:
        """Scans and claims the crowd, as a pass does with one bucket; nothing waits for its pace."""
        report = ScanReport()
        self.stage.clock.set(self.now)
        self._scan.bucket(self.register.bucket, None, report)
        assert report.handed_over == self.register.crowd, report

    def deliver(self) -> None:
        """One batch that just came due, its messages in turn."""
        self._deliver(self._in_turn)

    def deliver_beside(self) -> None:
        """The same, all messages at once, in threads."""
        self._deliver(self._beside)

    def _deliver(self, handler: Handler) -> None:
        self._batches += 1  # each a minute later than the one before, so that nothing is remembered
        self.stage.clock.set(self.register.due + self._batches * MINUTE)
        answer = handler(self._event(), None)
        assert answer == {"batchItemFailures": []}
        self.stage.targets.calls.clear()
        self.stage.observed.telemetry.flush()

    def _event(self) -> dict[str, Any]:
        uids = [uid_of(number) for number in self.register.numbers()[:BATCH]]
        bodies = [messages.wake_body(ExecutionId.occurrence(uid, self.register.due)) for uid in uids]
        held = [
            Received(queue=QueueName.STANDARD, body=body, receipt="r", receive_count=1, message_id=f"m{n}")
            for n, body in enumerate(bodies)
        ]
        return to_event(held, self.stage.settings)


class Lab:
    """Stages over the process that answers, one with each kind of client, and the floors below them."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        config = client_config(Patience(read_seconds=20))
        session = boto3.Session(KEY, SECRET, region_name=REGION)
        self.clients: dict[str, Any] = {
            "dynamodb": session.client("dynamodb", endpoint_url=endpoint, config=config),
            "sqs": session.client("sqs", endpoint_url=endpoint, config=config),
        }
        self.signed = Signed(endpoint)
        self.register = self.hold(registered=10_000)

    def hold(self, *, registered: int, due: str = DUE, crowd: int = CLAIMED) -> Register:
        """So many jobs, of which `crowd` come due at `due`."""
        due_ms, since_ms = to_ms(from_wire(due)), to_ms(from_wire(SINCE))
        self.register = Register(registered, crowd, due_ms, since_ms)
        headers = {"X-Amz-Target": "Bench.Register"}
        urllib3.request("POST", self._endpoint, body=configuration(self.register), headers=headers)
        return self.register

    def by_wire(self) -> Works:
        """As on AWS."""
        environ = {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_SESSION_TOKEN": "testing",
            "AWS_ENDPOINT_URL": self._endpoint,
        }
        clock, entropy = SettableClock(NOW), CountingEntropy()
        clients = Clients(region=REGION, clock=clock, entropy=entropy, environ=environ)
        patience = Patience(read_seconds=20)
        return self._works(clients.dynamodb(patience), clients.sqs(patience), clock)

    def by_botocore(self) -> Works:
        """The same through botocore."""
        return self._works(self.clients["dynamodb"], self.clients["sqs"], SettableClock(NOW))

    def _works(self, dynamodb: DynamoDBClient, sqs: SQSClient, clock: SettableClock) -> Works:
        urls = {name: f"{self._endpoint}/000000000000/{PREFIX}{name}" for name in QueueName}
        tables, entropy = table_names(PREFIX), CountingEntropy()
        stage = BenchStage(
            settings=Settings(stage="bench", limits=Limits(), tables=tables, queues=urls),
            observed=observability("bench", io.StringIO()),
            clock=clock,
            entropy=entropy,
            store=DynamoDbStore(dynamodb, tables, clock=clock, entropy=entropy),
            queues=SqsQueues(sqs, urls),
            targets=ScriptedTargets(clock, takes=timedelta(0)),
            notifier=ToldTeams(),
        )
        return Works(stage, self.register)

    def recorded(self, work: Callable[[], None]) -> list[Sent]:
        """The AWS calls that `work` makes."""
        recorder = Recorder()
        for client in self.clients.values():
            recorder.attach(client)
        work()
        for client in self.clients.values():
            recorder.detach(client)
        return recorder.calls

    def bare(self, calls: list[Sent]) -> Callable[[], None]:
        """The same calls through botocore, one after the other."""
        ready = [(self._method(call), call.parameters) for call in calls]

        def send() -> None:
            for method, parameters in ready:
                method(**parameters)

        return send

    def by_hand(self, calls: list[Sent]) -> Callable[[], None]:
        """The same requests, signed by hand."""

        def send() -> None:
            for call in calls:
                self.signed.send(call)

        return send

    def _method(self, call: Sent) -> Callable[..., Any]:
        client = self.clients[call.service]
        names = client.meta.method_to_api_mapping
        method: Callable[..., Any] = getattr(
            client, next(n for n, op in names.items() if op == call.operation)
        )
        return method


def minima(works: Mapping[str, Callable[[], None]], firings: int, rounds: int) -> dict[str, float]:
    """CPU microseconds of this process per firing: the best of `rounds` interleaved goes of each."""
    best = dict.fromkeys(works, float("inf"))
    for work in works.values():
        work()
    gc.collect()
    for _ in range(rounds):
        for name, work in works.items():
            start = time.process_time_ns()
            work()
            best[name] = min(best[name], (time.process_time_ns() - start) / firings / 1000)
    return best


@contextmanager
def lab() -> Iterator[Lab]:
    """A lab, and the process that answers it."""
    with running() as endpoint:
        yield Lab(endpoint)


def firing(rounds: int = 15) -> dict[str, dict[str, float]]:
    """Microseconds per firing of scan + claim and of delivery, ours and the floors."""
    with lab() as here:
        ours, other = here.by_wire(), here.by_botocore()
        found = {}
        calls = here.recorded(other.claim)
        works = {
            "ours": ours.claim,
            "ours over botocore": other.claim,
            "bare": here.bare(calls),
            "signed": here.by_hand(calls),
        }
        found["scan + claim"] = minima(works, here.register.crowd, rounds)
        found["scan + claim"]["calls"] = len(calls) / here.register.crowd
        calls = here.recorded(other.deliver)
        works = {
            "ours": ours.deliver,
            "ours, ten threads": ours.deliver_beside,
            "ours over botocore": other.deliver,
            "bare": here.bare(calls),
            "signed": here.by_hand(calls),
        }
        found["delivery"] = minima(works, BATCH, 4 * rounds)
        found["delivery"]["calls"] = len(calls) / BATCH
    return found


TEN = "2026-03-02T10:00:00.000Z"
SIZES = {
    "10 thousand jobs": Slept(10_000),
    "1 million jobs": Slept(1_000_000),
    "10 million jobs": Slept(10_000_000),
}
SLEEPS = {
    "a minute": Slept(due=TEN, now="2026-03-02T10:01:01.000Z"),
    "a day": Slept(due=TEN, now="2026-03-03T10:01:01.000Z"),
    "a year": Slept(due=TEN, now="2027-03-02T10:01:01.000Z"),
}


def flat(cases: Mapping[str, Slept], rounds: int = 15) -> dict[str, dict[str, float]]:
    """Microseconds and calls per claimed firing, by how many jobs there are or for how long nobody read their timers."""
    found: dict[str, dict[str, float]] = {}
    with lab() as here:
        ours, other = here.by_wire(), here.by_botocore()
        for name, case in cases.items():
            other.register, other.now = here.hold(registered=case.registered, due=case.due), case.now
            calls = len(here.recorded(other.claim)) / here.register.crowd
            found[name] = {"us": float("inf"), "calls": calls}
        for _ in range(rounds):
            for name, case in cases.items():
                ours.register, ours.now = here.hold(registered=case.registered, due=case.due), case.now
                best = minima({"us": ours.claim}, here.register.crowd, 1)["us"]
                found[name]["us"] = min(found[name]["us"], best)
    return found
