"""The dead letter: an item of its own beside the record, which lists a team's dead and notes who was told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fencepost.application import keys
from fencepost.application.codec import VERSION, compact, decoding, instant
from fencepost.application.store import Delete, Item, Key, Put, Update, equals
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import from_ms, to_ms
from fencepost.domain.model import Execution
from fencepost.domain.states import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """What the list of dead letters shows. `notified_at`: when every target of the team had taken the notice."""

    id: ExecutionId
    team: str
    job: str
    due: datetime
    died_at: datetime
    reason: Reason | None
    fence: int
    attempts: int
    error: str | None
    notified_at: datetime | None = None


def dead_letter_key(record: Execution) -> Key:
    """Where the dead letter of a DEAD record lies."""
    if record.ended_at is None:
        raise ValueError(f"{record.id} has no end, so it has no dead letter")
    return keys.dead_letter(record, record.ended_at)


def dead_letter_put(record: Execution) -> Put:
    """Written with the move to DEAD; it leaves with the record, by redrive or by age."""
    expires = record.expires_at
    item = {
        "v": VERSION,
        "execution": str(record.id),
        "job": record.job,
        "due": to_ms(record.due),
        "reason": record.reason and record.reason.value,
        "fence": record.fence,
        "attempts": record.attempts_dropped + len(record.attempts),
        "error": _error(record),
        "expires": None if expires is None else to_ms(expires) // 1000,
    }
    return Put(key=dead_letter_key(record), item=compact(item))


def _error(record: Execution) -> str | None:
    """What it died of. A note may be of something else: of a wait, or of somebody who came too late."""
    if record.reason is Reason.UNDELIVERABLE or not record.attempts:
        return record.note
    return record.attempts[-1].error


def dead_letter_removed(record: Execution) -> Delete:
    """Written with the move out of DEAD."""
    return Delete(key=dead_letter_key(record))


def dead_letter_notified(record: Execution, now: datetime) -> Update:
    """Notes that the team was told of this death; lost where the dead letter has left meanwhile."""
    return Update(
        key=dead_letter_key(record), set={"notified": to_ms(now)}, condition=equals("fence", record.fence)
    )


def decode_dead_letter(item: Item) -> DeadLetter:
    """Reads a stored dead letter. Raises UndecodableError."""
    return decoding("dead letter", item, _read)


def _read(item: Item) -> DeadLetter:
    return DeadLetter(
        id=ExecutionId.parse(item["execution"]),
        team=str(item["pk"]).removeprefix("D#"),
        job=item["job"],
        due=from_ms(item["due"]),
        died_at=from_ms(int(str(item["sk"]).partition("#")[0])),
        reason=Reason(item["reason"]) if "reason" in item else None,
        fence=item["fence"],
        attempts=item["attempts"],
        error=item.get("error"),
        notified_at=instant(item.get("notified")),
    )
