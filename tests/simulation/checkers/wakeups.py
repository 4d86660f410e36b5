"""(i) At every step everything unfinished has a durable wake-up, and every active job a timer; nothing is left behind
by a watermark."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from tests.simulation.checkers.facts import Facts, Item, Violation, execution_id, woken_by
from tests.simulation.journal import GONE, SENT, WRITE, Entry

RULE = "i wake-ups"
UNFINISHED = frozenset({"QUEUED", "WAITING", "RUNNING", "RETRY_WAIT"})
PASSES = frozenset({"scan", "pump"})


@lru_cache(maxsize=4096)
def minute_of(partition: str) -> int:
    """The minute of a bucket, epoch milliseconds."""
    at = datetime.strptime(partition.partition("#")[0], "%Y%m%dT%H%M").replace(tzinfo=UTC)
    return int(at.timestamp()) * 1000


class _Ledger:
    """What wakes whom, kept step by step."""

    def __init__(self) -> None:
        self.records: dict[str, Item] = {}
        self.jobs: dict[str, Item] = {}
        self.timers: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self.fire: dict[tuple[str, int], set[tuple[str, str]]] = defaultdict(set)
        self.mail: dict[str, set[str]] = defaultdict(set)
        self.entries: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self.lanes: dict[str, set[str]] = defaultdict(set)
        self.marks: set[tuple[str, str]] = set()
        self.watermarks: dict[str, int] = {}
        self.buckets: dict[str, set[str]] = defaultdict(set)
        self.touched: set[str] = set()
        self.touched_jobs: set[str] = set()

    def live(self, timer: tuple[str, str]) -> bool:
        """A timer that a scan will still meet."""
        shard = timer[0].partition("#")[2]
        return minute_of(timer[0]) > self.watermarks.get(shard, 0)

    def awake(self, identity: str) -> bool:
        """Something durable will look at the execution."""
        if self.mail[identity] or any(self.live(timer) for timer in self.timers[identity]):
            return True
        team = self.records[identity]["team"]
        return any((team, lane) in self.marks for lane, _ in self.entries[identity])

    def needs(self, identity: str) -> bool:
        """It is unfinished, or its dead letter is not on its way."""
        record = self.records.get(identity)
        if record is None:
            return False
        state = record["state"]
        return state in UNFINISHED or (state == "DEAD" and not record.get("told"))

    def write(self, entry: Entry) -> None:
        _, _, _, _, table, pk, sk, old, new, _ = entry
        match table:
            case "executions" if not pk.startswith("D#"):
                identity = execution_id(pk, sk)
                self.records[identity] = new
                self.touched.add(identity)
            case "timers" if not pk.startswith("Q#"):
                self._timer(pk, sk, old, new)
            case "jobs" if sk == "J":
                self.jobs[pk[2:]] = new
                self.touched_jobs.add(pk[2:])
            case "control":
                self._control(pk, sk, new)
            case _:
                pass

    def _timer(self, pk: str, sk: str, old: Any, new: Any) -> None:
        _, kind, whom, sequence = sk.split("#")
        place = (pk, sk)
        if kind == "F":
            holders = [self.fire[whom, int(sequence)], self.timers[f"{whom}-s-{sk[:13]}"]]
            self.touched_jobs.add(whom)
            self.touched.add(f"{whom}-s-{sk[:13]}")
        else:
            holders = [self.timers[whom]]
            self.touched.add(whom)
        if new is None:
            for holder in holders:
                holder.discard(place)
        else:
            for holder in holders:
                holder.add(place)
        if new is not None:
            self.buckets[pk].add(sk)
        else:
            self.buckets[pk].discard(sk)
            if not self.buckets[pk]:
                del self.buckets[pk]

    def _control(self, pk: str, sk: str, new: Any) -> None:
        kind = pk[:2]
        if kind in {"B#", "O#"}:
            identity = sk.partition("#")[2]
            place = (pk, sk)
            self.touched.add(identity)
            if new is None:
                self.entries[identity].discard(place)
                self.lanes[pk].discard(identity)
            else:
                self.entries[identity].add(place)
                self.lanes[pk].add(identity)
        elif kind == "M#":
            team, _, lane = sk.partition("|")
            if new is None:
                self.marks.discard((team, lane))
                self.touched |= self.lanes[lane]
            else:
                self.marks.add((team, lane))
        elif kind == "W#" and sk == "W":
            self.watermarks[pk[2:]] = new["m"]

    def mailed(self, entry: Entry) -> None:
        kind, _, _, _, queue, message, body = entry
        if queue in PASSES:
            return
        identity = woken_by(body)
        if kind == SENT:
            self.mail[identity].add(message)
        else:
            self.mail[identity].discard(message)
            self.touched.add(identity)


def check(facts: Facts) -> list[Violation]:
    """Replays the journal, one step after the other."""
    ledger, found = _Ledger(), list[Violation]()
    step = -1
    before: Entry | None = None
    for entry in facts.entries:
        if entry[2] != step:
            if before is not None:
                found += _settled(ledger, before)
            step, before = entry[2], entry
        if entry[0] == WRITE:
            ledger.write(entry)
            if entry[4] == "control" and entry[5].startswith("W#") and entry[6] == "W":
                found += _left_behind(ledger, entry)
        elif entry[0] in {SENT, GONE}:
            ledger.mailed(entry)
    return found if before is None else found + _settled(ledger, before)


def _settled(ledger: _Ledger, entry: Entry) -> list[Violation]:
    """What is wrong after a step."""
    found = []
    for identity in ledger.touched:
        if ledger.needs(identity) and not ledger.awake(identity):
            state = ledger.records[identity]["state"]
            found.append(Violation(RULE, entry[1], identity, f"{state}, and nothing durable will wake it"))
    for uid in ledger.touched_jobs:
        item = ledger.jobs.get(uid)
        if item is None or item["state"] != "ACTIVE" or item.get("exhausted"):
            continue
        if not any(ledger.live(timer) for timer in ledger.fire[uid, item["gen"]]):
            found.append(Violation(RULE, entry[1], uid, "an active job without a timer"))
    ledger.touched.clear()
    ledger.touched_jobs.clear()
    return found


def _left_behind(ledger: _Ledger, entry: Entry) -> list[Violation]:
    """Timers in a minute that was just proven empty."""
    shard, mark, before = entry[5][2:], entry[8]["m"], (entry[7] or {}).get("m", entry[8]["m"] - 60_000)
    found = []
    for pk, keys in ledger.buckets.items():
        owner = pk.partition("#")[2]
        if owner == shard and keys and before < minute_of(pk) <= mark:
            found.append(Violation(RULE, entry[1], pk, f"proven empty, and {min(keys)} lies in it"))
    return found
