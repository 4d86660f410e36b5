"""The client library and the command line over the API's real handler, in this process: nothing is listened to.

Who calls is told by the access key that signed, so signing is exercised; that signatures are true is the gateway's
affair, and its tests'.
"""

from __future__ import annotations

import io
import json
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fencepost.application.ports import QueueName
from fencepost.cli.app import run
from fencepost.cli.screen import Screen
from fencepost.cli.session import Surroundings
from fencepost.client import Fencepost, Keys
from fencepost.client.transport import HttpAnswer, HttpRequest, NoAnswerError
from fencepost.domain.instants import from_wire
from fencepost.local.engine import delivery, upkeep
from fencepost.local.poller import to_event
from fencepost.local.ticker import event
from functions.tick import handler as tick
from tests.support.api import ADMIN, OWNER, STRANGER, Front
from tests.support.clock import CountingEntropy, SettableClock

ENDPOINT = "https://a1b2c3.execute-api.eu-central-1.amazonaws.com/prod"
PEOPLE = {"AKIDOWNER": OWNER, "AKIDADMIN": ADMIN, "AKIDSTRANGER": STRANGER}
_KEY = re.compile(r"Credential=([^/]+)/")

Trouble = Exception | HttpAnswer | Callable[[HttpAnswer], HttpAnswer | Exception]


def keys_of(access_key_id: str = "AKIDOWNER") -> Keys:
    """A key of one of PEOPLE."""
    return Keys(access_key_id=access_key_id, secret_access_key="invented")


@dataclass
class InProcess:
    """`Transport` into a `Front`. `troubles` are met one per request: an exception or an answer in place of the service's
    (nothing arrived), or a function of the service's answer (it arrived, and then ...).
    """

    front: Front
    troubles: deque[Trouble] = field(default_factory=deque)
    requests: list[HttpRequest] = field(default_factory=list)

    def send(self, request: HttpRequest) -> HttpAnswer:
        """See `Transport.send`."""
        self.requests.append(request)
        trouble = self.troubles.popleft() if self.troubles else None
        if isinstance(trouble, Exception):
            raise trouble
        if isinstance(trouble, HttpAnswer):
            return trouble
        answer = self._answer(request)
        if trouble is None:
            return answer
        changed = trouble(answer)
        if isinstance(changed, Exception):
            raise changed
        return changed

    def _answer(self, request: HttpRequest) -> HttpAnswer:
        url = urlsplit(request.url)
        path = url.path.removeprefix("/prod")
        reply = self.front.call(
            request.method,
            f"{path}?{url.query}",
            by=_signer(request.headers),
            headers={
                name: value for name, value in request.headers.items() if not name.lower().startswith("x-amz")
            },
            raw=request.body.decode() or None,
        )
        body = b"" if reply.body is None else json.dumps(reply.body).encode()
        headers = {name.lower(): value for name, value in reply.headers.items()}
        return HttpAnswer(status=reply.status, headers=headers, body=body)


def lost(_: HttpAnswer) -> NoAnswerError:
    """The request arrived and was answered; the answer was lost."""
    return NoAnswerError("Read timed out.")


def _signer(headers: Mapping[str, str]) -> str | None:
    signed = _KEY.search(headers.get("Authorization", ""))
    return None if signed is None else PEOPLE[signed[1]]


def client(front: Front, *, by: str = "AKIDOWNER", transport: InProcess | None = None) -> Fencepost:
    """A client of `front` for team `payments`. It waits and draws by itself, so that the stage's clock stays."""
    return Fencepost(
        endpoint=ENDPOINT,
        team="payments",
        keys=keys_of(by),
        transport=transport or InProcess(front),
        clock=SettableClock(front.clock.now()),
        entropy=Tokens(),
    )


class Tokens(CountingEntropy):
    """Tokens that no stage and no other client of the process draws."""

    _drawn = count(1)

    def token(self) -> str:
        """The next one."""
        return f"client-{next(self._drawn)}"


@dataclass
class Machine:
    """Everything that is no API, over a front's stage: ticks, scans, deliveries, dead letters, on its settable clock."""

    front: Front

    def __post_init__(self) -> None:
        stage = self.front.stage
        queues = {name: f"https://sqs.eu-central-1.amazonaws.com/000000000000/{name}" for name in QueueName}
        stage.settings = replace(stage.settings, queues=queues)
        self._tick = tick.build(stage)
        self._handlers = {feed.queue: feed.build(stage) for feed in (*upkeep(), *delivery())}

    def run(self, until: str | datetime) -> None:
        """Lets time pass, and what is due happen."""
        end = from_wire(until) if isinstance(until, str) else until
        clock = self.front.clock
        while clock.now() < end:
            minute = clock.now().replace(second=0, microsecond=0) + timedelta(minutes=1)
            self._tick(event(clock.now(), "tick"), None)
            self._drain(min(minute, end))
            clock.set(max(clock.now(), min(minute, end)))

    def _drain(self, end: datetime) -> None:
        clock = self.front.clock
        while True:
            handled = [queue for queue in self._handlers if self._handle(queue)]
            if handled:
                continue
            moment = self.front.stage.queues.next_visible()
            if moment is None or moment > end:
                return
            clock.set(max(clock.now(), moment))

    def _handle(self, queue: QueueName) -> bool:
        queues = self.front.stage.queues
        messages: Sequence[Any] = queues.receive(queue, 10, timedelta(0))
        if messages:
            answer = self._handlers[queue](to_event(messages, self.front.stage.settings), None)
            refused = {each["itemIdentifier"] for each in answer["batchItemFailures"]}
            queues.delete([each for each in messages if each.message_id not in refused])
        return bool(messages)


@dataclass(frozen=True)
class Printed:
    """What a run of the program left behind."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON."""
        return self.read(self.out)

    @staticmethod
    def read(text: str) -> Any:
        """A text as JSON."""
        return json.loads(text)


@dataclass
class Terminal:
    """The program `fencepost`, run in this process in `directory` as the owner of team `payments`."""

    front: Front
    directory: Path = field(default_factory=Path)
    environment: dict[str, str] = field(default_factory=dict)
    interactive: bool = False

    def __post_init__(self) -> None:
        self.transport = InProcess(self.front)
        self.clock = SettableClock(self.front.clock.now())
        self.environment = {"FENCEPOST_ENDPOINT": ENDPOINT, "FENCEPOST_TEAM": "payments", **self.environment}

    def __call__(self, *words: str, by: str = "AKIDOWNER") -> Printed:
        """One run with these arguments."""
        self.clock.set(self.front.clock.now())
        out = Screen(file=io.StringIO(), width=160)
        err = Screen(file=io.StringIO(), width=160, force_terminal=self.interactive or None)
        around = Surroundings(
            out=out,
            err=err,
            interactive=self.interactive,
            environment=self.environment,
            directory=self.directory,
            transport=self.transport,
            keys=keys_of(by),
            clock=self.clock,
            entropy=Tokens(),
        )
        status = run(words, around)
        texts = [console.file.getvalue() for console in (out, err)]  # type: ignore[attr-defined]  # it is a StringIO
        return Printed(status, *texts)
