"""Where every item lies: the one page that knows the shape of partition and sort keys."""

from __future__ import annotations

from datetime import UTC, datetime

from fencepost.application.store import Key, Table
from fencepost.domain.identity import ExecutionId, ExecutionKind, hashed, stamp
from fencepost.domain.model import Bucket, Execution, Tier, Timer, TimerKind

MARK_PARTITIONS = 16


def team(name: str) -> Key:
    """The team's own item."""
    return Key(Table.JOBS, f"T#{name}", "T")


def team_revision(name: str, revision: int) -> Key:
    """What one change of a team did: actor, before, after."""
    return Key(Table.JOBS, f"T#{name}", f"R#{revision:010d}")


def team_listed(name: str) -> Key:
    """All teams of the stage share a partition, which lists them."""
    return Key(Table.JOBS, "TEAMS", name)


def stage() -> Key:
    """The switches of the whole stage. Read with the teams of a batch, so it lies in no busy partition."""
    return Key(Table.CONTROL, "Z", "stage")


def stage_revision(revision: int) -> Key:
    """What one change of the stage's switches did."""
    return Key(Table.JOBS, "STAGE", f"R#{revision:010d}")


def name_claim(team_name: str, job_name: str) -> Key:
    """Who holds a job name in a team. All names of a team share a partition, which lists its jobs."""
    return Key(Table.JOBS, f"N#{team_name}", job_name)


def job(uid: str) -> Key:
    """The job's hot item; a deleted job's stays as its tombstone."""
    return Key(Table.JOBS, f"J#{uid}", "J")


def job_revision(uid: str, revision: int) -> Key:
    """What one change of a job did: actor, before, after."""
    return Key(Table.JOBS, f"J#{uid}", f"R#{revision:010d}")


def ended_generation(uid: str, generation: int) -> Key:
    """How an earlier generation decided, and until when."""
    return Key(Table.JOBS, f"J#{uid}", f"G#{generation:010d}")


def detail(uid: str, digest: str) -> Key:
    """The immutable target and payload of this digest."""
    return Key(Table.JOBS, f"J#{uid}", f"P#{digest}")


def backfill(uid: str, identity: str) -> Key:
    """One backfill of a job; a job's backfills lie in the order in which they were asked for."""
    return Key(Table.JOBS, f"J#{uid}", f"B#{identity}")


def bucket_partition(bucket: Bucket) -> str:
    """One UTC minute of one shard, e.g. ``20261129T1821#0007``."""
    return f"{bucket.minute:%Y%m%dT%H%M}#{bucket.shard:04d}"


def parse_bucket(partition: str) -> Bucket:
    """Reads `bucket_partition`. Raises ValueError."""
    minute, _, shard = partition.partition("#")
    return Bucket(datetime.strptime(minute, "%Y%m%dT%H%M").replace(tzinfo=UTC), int(shard))


def timer(value: Timer) -> Key:
    """Protocol B1: bucket, instant, kind, whom, generation or attempt or fence."""
    whom = value.uid if value.kind is TimerKind.FIRE else str(value.execution)
    sk = f"{stamp(value.instant)}#{value.kind}#{whom}#{value.sequence:015d}"
    return Key(Table.TIMERS, bucket_partition(value.bucket), sk)


def quarantine(shard: int, timer_key: Key) -> Key:
    """Where a timer lies that nobody could understand."""
    return Key(Table.TIMERS, quarantine_partition(shard), f"{timer_key.pk}|{timer_key.sk}")


def quarantine_partition(shard: int) -> str:
    """The partition of a shard's timers that were set aside."""
    return f"Q#{shard:04d}"


def execution(identity: ExecutionId) -> Key:
    """The record of one execution, found from its id alone."""
    return Key(Table.EXECUTIONS, identity.uid, execution_sk(identity.kind, identity.key))


def execution_sk(kind: ExecutionKind, key: str) -> str:
    """Sorts a job's records by kind, then by instant."""
    return f"{kind}#{key}"


def dead_letter(record: Execution, died_at: datetime) -> Key:
    """A team's dead letters share a partition, the oldest first."""
    return Key(Table.EXECUTIONS, f"D#{record.team}", f"{stamp(died_at)}#{record.id}")


def slot(team_name: str, number: int, per_lane: int) -> Key:
    """Slot `number` (from 0) of a team; lanes of `per_lane` slots spread the load over partitions."""
    return Key(Table.CONTROL, slot_lane(team_name, number // per_lane), f"{number:05d}")


def slot_lane(team_name: str, lane: int) -> str:
    """The partition of one lane of a team's slots."""
    return f"S#{team_name}#{lane:03d}"


HELD = "~"


def backlog_lane(record: Execution, lanes: int, *, held: bool = False) -> str:
    """The partition in which an execution waits for a slot; `held`: that of those whom a switch held."""
    tier = f"{record.tier}{HELD}" if held else record.tier
    return f"B#{record.team}#{tier}#{hashed(str(record.id), lanes)}"


def tier_of_lane(lane: str) -> Tier:
    """The tier whose executions wait in a lane of the backlog."""
    return Tier(lane.split("#")[2].removesuffix(HELD))


def is_held_lane(lane: str | None) -> bool:
    """Whether those who wait in the lane were held by a switch."""
    return lane is not None and lane.startswith("B#") and lane.split("#")[2].endswith(HELD)


def waiting_entry(record: Execution) -> Key | None:
    """The place of a WAITING execution in its lane, the oldest due first; None where it waits in none."""
    return (
        None if record.lane is None else Key(Table.CONTROL, record.lane, f"{stamp(record.due)}#{record.id}")
    )


def overlap_lane(uid: str) -> str:
    """The partition in which firings of one job wait for their turn."""
    return f"O#{uid}"


def overlap_lock(uid: str) -> Key:
    """The job's lock under overlap `skip` or `queue`; it keeps the last fence."""
    return Key(Table.CONTROL, f"L#{uid}", "L")


def mark_partition(team_name: str) -> str:
    """The partition of the marks of a team's lanes; the tick reads all `MARK_PARTITIONS` of them."""
    return f"M#{hashed(team_name, MARK_PARTITIONS):02d}"


def mark(team_name: str, lane: str) -> Key:
    """Says that somebody may wait in `lane` (a backlog or an overlap partition)."""
    return Key(Table.CONTROL, mark_partition(team_name), f"{team_name}|{lane}")


def watermark(shard: int) -> Key:
    """The minute up to which a shard is proven empty."""
    return Key(Table.CONTROL, f"W#{shard:04d}", "W")


def scan_lease(shard: int) -> Key:
    """Who scans the shard now (advisory)."""
    return Key(Table.CONTROL, f"W#{shard:04d}", "L")


def tick_lease(minute: datetime) -> Key:
    """Who fans out this minute's tick (advisory)."""
    return Key(Table.CONTROL, "K", stamp(minute))


def circuit(host: str) -> Key:
    """The circuit breaker of one target host."""
    return Key(Table.CONTROL, f"C#{host}", "C")


def idempotency(team_name: str, key: str) -> Key:
    """The first answer to a request key of a team."""
    return Key(Table.CONTROL, f"I#{team_name}", key)


def usage(team_name: str) -> Key:
    """How much of its limits a team uses, nearly."""
    return Key(Table.CONTROL, f"U#{team_name}", "U")


def set_aside(queue: str, message_id: str) -> Key:
    """A message that nobody could understand."""
    return Key(Table.CONTROL, f"X#{queue}", message_id)


def cursor_key() -> Key:
    """The stage's secret with which the API seals cursors."""
    return Key(Table.CONTROL, "Z", "cursors")


def agenda(minute: datetime, uid: str, revision: int) -> Key:
    """What is to be done to a job in a minute: a pause that ends by itself."""
    return Key(Table.CONTROL, agenda_partition(minute), f"{uid}#{revision:010d}")


def agenda_partition(minute: datetime) -> str:
    """All that is to be done in one UTC minute."""
    return f"A#{minute:%Y%m%dT%H%M}"


def agenda_cursor() -> Key:
    """The last minute whose agenda is done."""
    return Key(Table.CONTROL, "A", "cursor")


def errand(kind: str, subject: str) -> Key:
    """Work of several steps that is not done yet."""
    return Key(Table.CONTROL, f"E#{kind}", subject)


def calendar(team_name: str, name: str) -> Key:
    """An exclusion calendar as it is now; a deleted one's stays, so that no version is used twice."""
    return Key(Table.JOBS, f"E#{team_name}", f"C#{name}")


def calendar_version(team_name: str, name: str, version: int) -> Key:
    """What one change of a calendar did: actor, before, after."""
    return Key(Table.JOBS, f"E#{team_name}#{name}", f"R#{version:010d}")


def calendar_use(team_name: str, name: str, uid: str) -> Key:
    """Says that a job names the calendar."""
    return Key(Table.JOBS, f"E#{team_name}", f"U#{name}#{uid}")


def host_place(team_name: str, host: str, number: int) -> Key:
    """Place `number` (from 0) among the calls that a host takes of a team at once."""
    return Key(Table.CONTROL, f"P#{team_name}#{host}", f"{number:04d}")


def host_rate(team_name: str, host: str) -> Key:
    """The next free instant among the calls that a host takes of a team in a minute."""
    return Key(Table.CONTROL, f"P#{team_name}#{host}", "rate")
