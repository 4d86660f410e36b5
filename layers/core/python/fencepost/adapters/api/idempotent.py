"""Idempotency-Key on requests that change something."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import assert_never

from fencepost.adapters.api.http import Answer, Request
from fencepost.adapters.api.problems import conflict, unavailable
from fencepost.adapters.api.reading import compact_json
from fencepost.application.idempotency import (
    Begun,
    Effected,
    InProgress,
    OtherRequest,
    Recorded,
    Replayed,
    RequestKey,
    release,
    settle,
    take,
)
from fencepost.application.ports import KeyUnavailableError, Secrets
from fencepost.application.store import StoreBusyError
from fencepost.domain.faults import Fault, Faults
from fencepost.domain.identity import digest

HEADER = "idempotency-key"
REPLAYED = "Idempotency-Replayed"
_KEY = re.compile(r"[\x21-\x7e]{1,128}")
Keep = Callable[[bytes], bytes | None]
"""What is kept of an answer's text."""


def once(
    method: str, request: Request, handle: Callable[[Request], Answer], secrets: Secrets | None = None
) -> Answer:
    """`handle(request)`, or the first answer to its key. A refusal is not kept, since nothing was done: the same key
    may come again with the fault mended. `secrets` keeps the answer, where it must not lie about in plain.
    """
    key = _key(request.headers)
    if key is None:
        return handle(request)
    named = RequestKey(team=request.path.get("team", "-"), key=key, digest=_digest(method, request))
    taken = take(request.services.store, named, request.now)
    match taken:
        case Begun(accepted_at=accepted_at):
            keep = _plain if secrets is None else _sealing(secrets, named.team)
            again = accepted_at != request.now
            accepted = replace(request, now=accepted_at, key=key, marked_by=named, again=again)
            return _begun(accepted, named, handle, keep)
        case Effected(accepted_at=accepted_at, effect=effect):
            keep = _plain if secrets is None else _sealing(secrets, named.team)
            return _begun(replace(request, now=accepted_at, key=key, effect=effect), named, handle, keep)
        case Replayed(answer=recorded):
            return _replayed(recorded) if secrets is None else _reopened(recorded, secrets)
        case OtherRequest():
            return conflict("key-reused", "this Idempotency-Key was used for another request of the team")
        case InProgress():
            return conflict("in-progress", "the first request with this Idempotency-Key is not answered yet")
        case _:
            assert_never(taken)


def _begun(request: Request, named: RequestKey, handle: Callable[[Request], Answer], keep: Keep) -> Answer:
    try:
        answer = handle(request)
    except StoreBusyError:
        release(request.services.store, named)
        raise
    if answer.status < 400:
        settle(request.services.store, named, _recorded(answer, keep))
    else:
        release(request.services.store, named)
    return answer


def _key(headers: Mapping[str, str]) -> str | None:
    key = headers.get(HEADER)
    if key is not None and not _KEY.fullmatch(key):
        rule = "must be 1..128 visible ASCII characters"
        raise Faults([Fault(field="Idempotency-Key", value=key, rule=rule)])
    return key


def _digest(method: str, request: Request) -> str:
    """What makes two requests the same: who, what, where, how."""
    facts = [
        request.caller.principal,
        method,
        request.resource,
        sorted(request.path.items()),
        sorted((name, str(value)) for name, value in request.query.items()),
        request.headers.get("if-match"),
        request.headers.get("if-none-match"),
        request.body,
    ]
    return digest(json.dumps(facts, sort_keys=True))


def _plain(body: bytes) -> bytes | None:
    return body


def _sealing(secrets: Secrets, team: str) -> Keep:
    def seal(body: bytes) -> bytes | None:
        try:
            return secrets.seal(body.decode(), team).encode()
        except KeyUnavailableError:
            return None  # the work is done: better an answer that can't be repeated than a secret in plain

    return seal


def _reopened(recorded: Recorded, secrets: Secrets) -> Answer:
    if recorded.body is None:
        return _replayed(recorded)
    try:
        return _replayed(replace(recorded, body=secrets.open(recorded.body.decode()).encode()))
    except KeyUnavailableError:
        return unavailable("the key service does not answer")


def _recorded(answer: Answer, keep: Keep) -> Recorded:
    body = None if answer.body is None else keep(compact_json([answer.media, answer.body]))
    return Recorded(status=answer.status, body=body, etag=answer.headers.get("ETag"))


def _replayed(recorded: Recorded) -> Answer:
    media, body = ("application/json", None) if recorded.body is None else json.loads(recorded.body)
    headers = {REPLAYED: "true"} | ({} if recorded.etag is None else {"ETag": recorded.etag})
    return Answer(status=recorded.status, body=body, headers=headers, media=media)
