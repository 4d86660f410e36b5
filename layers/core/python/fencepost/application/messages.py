"""What travels in queues: a hint to look at a record, and nothing that a receiver would trust."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from fencepost.application.codec import NewerShapeError, UndecodableError
from fencepost.application.errands.errand import Errand
from fencepost.application.ports import Outgoing, QueueName, dead_queue, tier_queue
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import floor_minute, from_ms, to_ms
from fencepost.domain.limits import Limits
from fencepost.domain.model import Execution
from fencepost.domain.notification import Notification, notification_of

VERSION = 1


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """Scan one shard; `now` is the tick's instant."""

    shard: int
    now: datetime


def wake(record: Execution, *, at: datetime, now: datetime, limits: Limits) -> Outgoing:
    """The message that wakes `record` at `at`, on its tier's queue; surfaces a second early (protocol D8)."""
    return Outgoing(
        queue=tier_queue(record.tier),
        body=wake_body(record.id),
        delay=delay_seconds(at - now, limits),
        group=record.team,
    )


def wake_body(identity: ExecutionId) -> str:
    """The body of every wake-up, on every queue."""
    return json.dumps({"v": VERSION, "execution": str(identity)}, separators=(",", ":"))


def delay_seconds(ahead: timedelta, limits: Limits) -> int:
    """max(0, ceil(ahead) - 1), at most a queue's longest delay."""
    whole = -(-ahead // timedelta(seconds=1))
    early = limits.early_send // timedelta(seconds=1)
    return int(min(max(0, whole - early), limits.max_delay // timedelta(seconds=1)))


def dead(record: Execution) -> Outgoing:
    """The message that takes a dead record through its tier's dead-letter queue."""
    return Outgoing(queue=dead_queue(record.tier), body=wake_body(record.id), group=record.team)


def scan(request: ScanRequest, delay: int = 0) -> Outgoing:
    """Asks for one shard's pass, in `delay` seconds."""
    body = {"v": VERSION, "shard": request.shard, "now": to_ms(request.now)}
    return Outgoing(queue=QueueName.SCAN, body=json.dumps(body, separators=(",", ":")), delay=delay)


def pump(team: str, now: datetime) -> Outgoing:
    """Asks for one pass over a marked team's backlog."""
    body = {"v": VERSION, "team": team, "minute": to_ms(floor_minute(now))}
    return Outgoing(queue=QueueName.PUMP, body=json.dumps(body, separators=(",", ":")), group=team)


def step(errand: Errand) -> Outgoing:
    """Asks for the next step of an errand."""
    body = {"v": VERSION, "errand": str(errand)}
    return Outgoing(
        queue=QueueName.PUMP, body=json.dumps(body, separators=(",", ":")), group=errand.team or None
    )


def notice(fields: Mapping[str, Any]) -> Outgoing:
    """Takes a notice through a dead-letter queue; `fields` are its wire form."""
    body = json.dumps({"v": VERSION, "notice": dict(fields)}, separators=(",", ":"))
    return Outgoing(queue=QueueName.DEAD_RECOVERY, body=body, group=str(fields["team"]))


def read(body: str) -> dict[str, Any]:
    """The message's fields. Raises UndecodableError for what is no message of ours, NewerShapeError for what a later
    version sent.
    """
    try:
        fields = json.loads(body)
    except ValueError as error:
        raise UndecodableError(f"message is not JSON: {error}") from error
    if not isinstance(fields, dict) or not isinstance(fields.get("v"), int):
        raise UndecodableError(f"message has no version: {body[:200]!r}")
    if fields["v"] > VERSION:
        raise NewerShapeError(f"message has version {fields['v']}, this service knows up to {VERSION}")
    return fields


def read_wake(body: str) -> ExecutionId:
    """The execution to look at. Raises UndecodableError."""
    fields = read(body)
    try:
        return ExecutionId.parse(fields["execution"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UndecodableError(f"not a wake-up: {error}") from error


def read_grave(body: str) -> ExecutionId | Notification:
    """What lies in a dead-letter queue: an execution to look at, or a notice to tell. Raises UndecodableError."""
    fields = read(body).get("notice")
    if fields is None:
        return read_wake(body)
    try:
        return notification_of(fields)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UndecodableError(f"not a notice: {error}") from error


def read_scan(body: str) -> ScanRequest:
    """The shard to scan. Raises UndecodableError."""
    fields = read(body)
    try:
        return ScanRequest(int(fields["shard"]), from_ms(fields["now"]))
    except (KeyError, TypeError, ValueError) as error:
        raise UndecodableError(f"not a scan request: {error}") from error


def read_upkeep(body: str) -> str | Errand:
    """The team to pump, or the errand whose next step is to be taken. Raises UndecodableError."""
    errand = read(body).get("errand")
    return Errand.parse(errand) if isinstance(errand, str) else read_pump(body)


def read_pump(body: str) -> str:
    """The team to pump. Raises UndecodableError."""
    team = read(body).get("team")
    if not isinstance(team, str) or not team:
        raise UndecodableError(f"not a pump request: {body[:200]!r}")
    return team
