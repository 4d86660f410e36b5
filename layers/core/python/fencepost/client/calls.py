"""One call of the API: signed anew for every try, repeated where that is safe, refusals as exceptions."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlencode

from fencepost.client import refusals
from fencepost.client.credentials import Signer
from fencepost.client.errors import UnexpectedAnswerError, UnreachableError
from fencepost.client.system import Clock, Entropy
from fencepost.client.transport import HttpAnswer, HttpRequest, NoAnswerError, Transport

AGENT = "fencepost-client/1"
_REPEATED = frozenset({429, 500, 502, 503, 504})
_SECONDS = re.compile(r"[0-9]{1,4}")

Query = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrying:
    """How often a call is tried and how long is waited in between: exponential, with full jitter."""

    attempts: int = 5
    first: timedelta = timedelta(milliseconds=200)
    longest: timedelta = timedelta(seconds=10)

    def delay(self, attempt: int, fraction: float, asked: timedelta | None) -> timedelta:
        """The wait after attempt number `attempt` (from 1); what the service asked for is the least."""
        ceiling: timedelta = min(self.longest, self.first * 2.0 ** (attempt - 1))
        return max(ceiling * fraction, min(asked, self.longest) if asked else timedelta(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What is asked. `path` is built by `path()`. `key`: the Idempotency-Key; with `keyed` one is drawn where none is
    given, so that the call's own repetitions are one.
    """

    method: str
    path: str
    query: Query = field(default_factory=dict)
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    key: str | None = None
    keyed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A good answer: its JSON, its entity tag's revision, and all its headers."""

    status: int
    body: Any
    headers: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Makes calls. Thread-safe where its transport is."""

    endpoint: str
    signer: Signer
    transport: Transport
    clock: Clock
    entropy: Entropy
    retrying: Retrying = field(default_factory=Retrying)

    def call(self, call: Call) -> Reply:
        """The answer. Raises ApiError for a refusal, UnreachableError where none came."""
        request = self._request(call)
        for attempt in range(1, self.retrying.attempts + 1):
            last = attempt == self.retrying.attempts
            try:
                answer = self.transport.send(self.signer.sign(request))
            except NoAnswerError as error:
                if last:
                    raise UnreachableError(f"no answer from {self.endpoint}: {error}") from error
                self._wait(attempt, None)
                continue
            if last or not _worth_repeating(answer):
                return _read(answer)
            self._wait(attempt, answer)
        raise UnreachableError("not one attempt is allowed")

    def _request(self, call: Call) -> HttpRequest:
        query = urlencode(
            [(name, each) for name, value in call.query.items() for each in _texts(value)], quote_via=quote
        )
        headers = {"Accept": "application/json", "User-Agent": AGENT, **call.headers}
        body = b""
        if call.body is not None:
            body = json.dumps(call.body, separators=(",", ":"), ensure_ascii=False).encode()
            headers["Content-Type"] = "application/json"
        key = call.key or (self.entropy.token() if call.keyed else None)
        if key is not None:
            headers["Idempotency-Key"] = key
        url = self.endpoint.rstrip("/") + call.path + (f"?{query}" if query else "")
        return HttpRequest(method=call.method, url=url, headers=headers, body=body)

    def _wait(self, attempt: int, answer: HttpAnswer | None) -> None:
        asked = None
        if answer is not None and _SECONDS.fullmatch(answer.headers.get("retry-after", "")):
            asked = timedelta(seconds=int(answer.headers["retry-after"]))
        self.clock.sleep(self.retrying.delay(attempt, self.entropy.fraction(), asked))


def precondition(revision: int | None, uid: str | None = None) -> dict[str, str]:
    """The header that makes a write happen only at this revision (and of this job, not of a later one of its name);
    0 stands for "not there", None for whatever is.
    """
    match revision:
        case None:
            return {}
        case 0:
            return {"If-None-Match": "*"}
        case _:
            return {"If-Match": f'"{revision}"' if uid is None else f'"{revision}.{uid}"'}


def path(*parts: str) -> str:
    """The path of a resource under /v1, each part escaped."""
    return "/v1/" + "/".join(quote(part, safe="~") for part in parts)


def _texts(value: object) -> list[str]:
    match value:
        case None:
            return []
        case bool():
            return ["true" if value else "false"]
        case list() | tuple():
            return [str(each) for each in value]
        case _:
            return [str(value)]


def _worth_repeating(answer: HttpAnswer) -> bool:
    """Trouble that passes. The first request with the same key may still be under way: its answer is worth waiting
    for.
    """
    return answer.status in _REPEATED or (
        answer.status == 409 and refusals.kind_of(answer) == refusals.IN_PROGRESS
    )


def _read(answer: HttpAnswer) -> Reply:
    if answer.status >= 400:
        raise refusals.error_of(answer)
    if not 200 <= answer.status < 300 and answer.status != 304:
        raise UnexpectedAnswerError(f"the answer's status is {answer.status}: is this a Fencepost endpoint?")
    if not answer.body:
        return Reply(status=answer.status, body=None, headers=answer.headers)
    try:
        body = json.loads(answer.body)
    except ValueError as error:
        raise UnexpectedAnswerError("the answer is no JSON: is this a Fencepost endpoint?") from error
    return Reply(status=answer.status, body=body, headers=answer.headers)
