"""Timers and executions to stored items and back. Every item carries a version; absent means default.

Instants are epoch milliseconds, durations milliseconds. Readers ignore attributes they do not know (an older reader
meets a newer item), raise NewerShapeError for a version they do not know, and UndecodableError for what they cannot
understand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

from fencepost.application import keys
from fencepost.application.store import Item
from fencepost.domain.faults import Faults
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import from_ms, to_ms
from fencepost.domain.manners import HostWait
from fencepost.domain.model import Attempt, Execution, Origin, Overlap, Tier, Timer, TimerKind
from fencepost.domain.states import ExecutionState, Reason

VERSION = 1
T = TypeVar("T")


class UndecodableError(ValueError):
    """A stored item or a message that this version cannot understand; says what and why."""


class NewerShapeError(UndecodableError):
    """What a later version wrote: it is no fault, and stays as it is for whoever knows it (decision 17)."""


def compact(values: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is None: an absent attribute costs nothing and reads back as the default."""
    return {name: value for name, value in values.items() if value is not None}


def ms(instant: datetime | None) -> int | None:
    """Epoch milliseconds, None kept."""
    return None if instant is None else to_ms(instant)


def instant(value: int | None) -> datetime | None:
    """The instant of `ms`, None kept."""
    return None if value is None else from_ms(value)


def duration_ms(duration: timedelta) -> int:
    """Whole milliseconds."""
    return duration // timedelta(milliseconds=1)


def is_newer(item: Item) -> bool:
    """A later version wrote it."""
    version = item.get("v")
    return isinstance(version, int) and version > VERSION


def decoding(what: str, item: Item, read: Callable[[Item], T]) -> T:
    """Runs `read`, turning whatever goes wrong into UndecodableError that names the item; NewerShapeError where a later
    version wrote it.
    """
    version = item.get("v")
    if not isinstance(version, int) or version < 1:
        raise UndecodableError(f"{what} {item.get('pk')}/{item.get('sk')}: version is {version!r}")
    if is_newer(item):
        where = f"{item.get('pk')}/{item.get('sk')}"
        raise NewerShapeError(f"{what} {where}: has version {version}, this service knows up to {VERSION}")
    try:
        return read(item)
    except NewerShapeError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, Faults) as error:
        where = f"{item.get('pk')}/{item.get('sk')}"
        raise UndecodableError(f"{what} {where}: {type(error).__name__}: {error}"[:500]) from error


def encode_timer(timer: Timer) -> dict[str, Any]:
    """The stored form; most facts are in the key, and the rest only where the default differs."""
    return compact(
        {
            "v": VERSION,
            "due": to_ms(timer.due),
            "team": timer.team,
            "tier": timer.tier.value,
            "ordinal": timer.ordinal,
            "tz": timer.tzdata or None,
            "off": timer.offset or None,
            "chain": ms(timer.catch_up_until),
            "after": ms(timer.not_before),
        }
    )


def differing(old: Item, new: Item) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What to set and what to remove, so that an item that reads as `old` reads as `new`; what neither knows stays."""
    changed = {name: value for name, value in new.items() if old.get(name) != value}
    return changed, tuple(sorted(name for name in old if name not in new))


def decode_timer(item: Item) -> Timer:
    """Reads a stored timer. Raises UndecodableError."""
    return decoding("timer", item, _read_timer)


def _read_timer(item: Item) -> Timer:
    stamp, kind_text, whom, sequence = str(item["sk"]).split("#")
    kind = TimerKind(kind_text)
    execution = None if kind is TimerKind.FIRE else ExecutionId.parse(whom)
    return Timer(
        bucket=keys.parse_bucket(item["pk"]),
        kind=kind,
        instant=from_ms(int(stamp)),
        uid=whom if execution is None else execution.uid,
        sequence=int(sequence),
        due=from_ms(item["due"]),
        team=item.get("team", ""),
        tier=Tier(item.get("tier", Tier.STANDARD)),
        execution=execution,
        ordinal=item.get("ordinal", 1),
        tzdata=item.get("tz", ""),
        offset=item.get("off", 0),
        catch_up_until=instant(item.get("chain")),
        not_before=instant(item.get("after")),
    )


def encode_attempt(attempt: Attempt) -> dict[str, Any]:
    """The stored form of one attempt."""
    return compact(
        {
            "n": attempt.number,
            "fence": attempt.fence,
            "from": to_ms(attempt.started_at),
            "to": ms(attempt.ended_at),
            "outcome": attempt.outcome,
            "status": attempt.status,
            "error": attempt.error,
            "excerpt": attempt.excerpt,
        }
    )


def decode_attempt(raw: Mapping[str, Any]) -> Attempt:
    """Reads a stored attempt."""
    return Attempt(
        number=raw["n"],
        fence=raw["fence"],
        started_at=from_ms(raw["from"]),
        ended_at=instant(raw.get("to")),
        outcome=raw.get("outcome"),
        status=raw.get("status"),
        error=raw.get("error"),
        excerpt=raw.get("excerpt"),
    )


def encode_execution(record: Execution) -> dict[str, Any]:
    """The stored form. TTL (`expires`) is epoch seconds, as DynamoDB wants it."""
    expires = record.expires_at
    identity = {
        "v": VERSION,
        "team": record.team,
        "job": record.job,
        "state": record.state.value,
        "origin": record.origin.value,
        "tier": record.tier.value,
        "due": to_ms(record.due),
        "gen": record.generation,
        "planted": record.planted_generation,
        "claimed": to_ms(record.claimed_at),
        "reason": record.reason and record.reason.value,
        "note": record.note,
        "overlap": None if record.overlap is Overlap.ALLOW else record.overlap.value,
        "actor": record.actor,
        "expires": None if expires is None else to_ms(expires) // 1000,
    }
    return compact(identity | _encode_plan(record) | _encode_lease(record))


def _encode_plan(record: Execution) -> dict[str, Any]:
    return {
        "until": ms(record.until),
        "after": ms(record.not_before),
        "ordinal": record.ordinal,
        "tz": record.tzdata or None,
        "off": record.offset or None,
        "claim": record.claim_id or None,
        "replants": record.replants or None,
        "told": record.told or None,
    }


def _encode_lease(record: Execution) -> dict[str, Any]:
    return {
        "fence": record.fence,
        "lease": ms(record.lease_until),
        "run_until": ms(record.run_until),
        "attempt": record.attempt,
        "attempts": [encode_attempt(attempt) for attempt in record.attempts] or None,
        "dropped": record.attempts_dropped or None,
        "started": ms(record.started_at),
        "ended": ms(record.ended_at),
        "retry": ms(record.retry_at),
        "host": None if record.host_wait is None else _encode_host_wait(record.host_wait),
        "detail": record.detail,
        "hint": record.hint,
        "slot": record.slot,
        "lane": record.lane,
        "waited": ms(record.waited_from),
        "watch": record.watch,
        "losses": record.losses or None,
    }


def decode_execution(item: Item) -> Execution:
    """Reads a stored execution. Raises UndecodableError."""
    return decoding("execution", item, _read_execution)


def _read_execution(item: Item) -> Execution:
    expires = item.get("expires")
    return Execution(
        id=ExecutionId.parse(f"{item['pk']}-{str(item['sk']).replace('#', '-', 1)}"),
        team=item["team"],
        job=item["job"],
        state=ExecutionState(item["state"]),
        origin=Origin(item["origin"]),
        tier=Tier(item["tier"]),
        due=from_ms(item["due"]),
        generation=item["gen"],
        planted_generation=item["planted"],
        claimed_at=from_ms(item["claimed"]),
        reason=Reason(item["reason"]) if "reason" in item else None,
        note=item.get("note"),
        overlap=Overlap(item.get("overlap", Overlap.ALLOW)),
        actor=item.get("actor"),
        expires_at=None if expires is None else from_ms(expires * 1000),
        **_plan_facts(item),
        **_lease_facts(item),
    )


def _plan_facts(item: Item) -> dict[str, Any]:
    return {
        "until": instant(item.get("until")),
        "not_before": instant(item.get("after")),
        "ordinal": item.get("ordinal", 1),
        "tzdata": item.get("tz", ""),
        "offset": item.get("off", 0),
        "claim_id": item.get("claim", ""),
        "replants": item.get("replants", 0),
        "told": item.get("told", False),
    }


def _lease_facts(item: Item) -> dict[str, Any]:
    return {
        "fence": item.get("fence", 0),
        "lease_until": instant(item.get("lease")),
        "run_until": instant(item.get("run_until")),
        "attempt": item.get("attempt", 0),
        "attempts": tuple(decode_attempt(raw) for raw in item.get("attempts", ())),
        "attempts_dropped": item.get("dropped", 0),
        "started_at": instant(item.get("started")),
        "ended_at": instant(item.get("ended")),
        "retry_at": instant(item.get("retry")),
        "host_wait": _decode_host_wait(item.get("host")),
        "detail": item.get("detail"),
        "hint": item.get("hint"),
        "slot": item.get("slot"),
        "lane": item.get("lane"),
        "waited_from": instant(item.get("waited")),
        "watch": item.get("watch"),
        "losses": item.get("losses", 0),
    }


def _encode_host_wait(wait: HostWait) -> dict[str, Any]:
    return compact({"since": to_ms(wait.since), "ticket": wait.ticket})


def _decode_host_wait(raw: Mapping[str, Any] | None) -> HostWait | None:
    return None if raw is None else HostWait(since=from_ms(raw["since"]), ticket=raw.get("ticket"))
