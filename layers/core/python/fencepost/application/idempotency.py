"""Request keys: the first answer to a key is the answer to every repetition; another request under it is refused.

Keys belong to a team. The key is taken before the work, so that two copies of one request never both do it; when a
worker dies between, the next copy takes over after a while, with the instant at which the first came in. Some writes
leave a mark in the key's item, in their own transaction: whoever finds it knows that the work was done, and only answers.
A request that does many things has a mark for each of them, in an item of its own.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from fencepost.application import keys
from fencepost.application.codec import VERSION, compact
from fencepost.application.store import (
    Absent,
    Condition,
    Delete,
    Item,
    Key,
    Lacks,
    Lost,
    Put,
    Query,
    Store,
    Update,
    equals,
    every,
    items,
)
from fencepost.domain.instants import from_ms, to_ms

KEPT = timedelta(hours=24)
ABANDONED_AFTER = timedelta(seconds=60)
MAX_STORED = 350_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """An answer that was given. `body` is None where it was too large to keep."""

    status: int
    body: bytes | None
    etag: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """The key is this caller's; the request counts as of `accepted_at`."""

    accepted_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Effected:
    """The work was done, and the answer lost: `effect` says what it was, and the request counts as of `accepted_at`."""

    accepted_at: datetime
    effect: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """The request was answered before."""

    answer: Recorded


@dataclass(frozen=True, slots=True)
class OtherRequest:
    """The key was used for something else."""


@dataclass(frozen=True, slots=True)
class InProgress:
    """The first copy is not done yet."""


Taken: TypeAlias = Begun | Effected | Replayed | OtherRequest | InProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestKey:
    """A team's key and the digest of the request under it."""

    team: str
    key: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartKey(RequestKey):
    """The mark of one thing among those that a request does. `part` tells it from the others, without blanks;
    `accepted_at`: as of when the request counts.
    """

    part: str
    accepted_at: datetime


def take(store: Store, request: RequestKey, now: datetime) -> Taken:
    """Takes the key for this request, or says what became of it. One whose time is over is as good as new, though the store
    may keep its item for days.
    """
    where = keys.idempotency(request.team, request.key)
    item = {"v": VERSION, "digest": request.digest, "since": to_ms(now), "try": to_ms(now)}
    outcome = store.write(Put(key=where, item={**item, "expires": _expiry(now)}, condition=Absent()))
    if not isinstance(outcome, Lost):
        return Begun(accepted_at=now)
    known = outcome.item or store.get(where)
    if known is None:
        return InProgress()
    if _over(known, now):
        write = Put(key=where, item={**item, "expires": _expiry(now)}, condition=_as_read(known))
        return InProgress() if isinstance(store.write(write), Lost) else Begun(accepted_at=now)
    return _known(store, request, known, now)


def settle(store: Store, request: RequestKey, answer: Recorded) -> None:
    """Keeps the answer for the copies to come; where two copies have worked, the one that was kept first stands."""
    body = None if answer.body is None else zlib.compress(answer.body)
    if body is not None and len(body) > MAX_STORED:
        body = None
    write = Update(
        key=keys.idempotency(request.team, request.key),
        set=compact({"status": answer.status, "body": body, "etag": answer.etag}),
        condition=every(equals("digest", request.digest), Lacks("status")),
    )
    store.write(write)


def mark(request: RequestKey, effect: Mapping[str, Any]) -> Update | Put:
    """Says in the transaction of the work itself that it is done, at most once: lost where another copy did it."""
    if isinstance(request, PartKey):
        item = {"v": VERSION, "effect": effect, "expires": _expiry(request.accepted_at)}
        return Put(key=_place(request), item=item, condition=Absent())
    return Update(
        key=keys.idempotency(request.team, request.key),
        set={"effect": effect},
        condition=every(equals("digest", request.digest), Lacks("effect")),
    )


def effects(store: Store, request: RequestKey, accepted_at: datetime) -> Mapping[str, Mapping[str, Any]]:
    """What copies of the request have done so far, by part."""
    first = _place(part_of(request, "", accepted_at))
    query = Query(table=first.table, pk=first.pk, first=first.sk, last=first.sk + "~")
    return {str(item["sk"]).removeprefix(first.sk): item["effect"] for item in items(store, query)}


def effect_of(store: Store, request: PartKey) -> Mapping[str, Any] | None:
    """What some copy of the request has done of this part by now."""
    item = store.get(_place(request))
    return None if item is None else item["effect"]


def part_of(request: RequestKey, part: str, accepted_at: datetime) -> PartKey:
    """The key of one thing that the request does."""
    return PartKey(
        team=request.team, key=request.key, digest=request.digest, part=part, accepted_at=accepted_at
    )


def _place(request: PartKey) -> Key:
    """No key holds a blank. One that is used again once it is forgotten meets no marks of its first use."""
    return keys.idempotency(request.team, f"{request.key} {to_ms(request.accepted_at)} {request.part}")


def release(store: Store, request: RequestKey) -> None:
    """Gives the key back: the request changed nothing. One that is marked is kept."""
    store.write(
        Delete(
            key=keys.idempotency(request.team, request.key),
            condition=every(equals("digest", request.digest), Lacks("status"), Lacks("effect")),
        )
    )


def _over(item: Item, now: datetime) -> bool:
    expires = item.get("expires")
    return isinstance(expires, int) and expires <= to_ms(now) // 1000


def _as_read(item: Item) -> Condition:
    return every(equals("since", item["since"]), equals("try", item["try"]))


def _known(store: Store, request: RequestKey, item: Item, now: datetime) -> Taken:
    if item["digest"] != request.digest:
        return OtherRequest()
    if "status" in item:
        body = None if "body" not in item else zlib.decompress(bytes(item["body"]))
        return Replayed(answer=Recorded(status=item["status"], body=body, etag=item.get("etag")))
    if "effect" in item:
        return Effected(accepted_at=from_ms(item["since"]), effect=item["effect"])
    if now - from_ms(item["try"]) < ABANDONED_AFTER:
        return InProgress()
    again = Update(
        key=keys.idempotency(request.team, request.key),
        set={"try": to_ms(now)},
        condition=every(equals("try", item["try"]), equals("digest", request.digest)),
    )
    if isinstance(store.write(again), Lost):
        return InProgress()
    return Begun(accepted_at=from_ms(item["since"]))


def _expiry(now: datetime) -> int:
    return to_ms(now + KEPT) // 1000
