"""Backfills and live firings of one team beside each other: neither starves the other."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from random import Random
from typing import Any

from fencepost.domain.instants import from_wire
from tests.support.api import ADMIN, HOOK, Front
from tests.support.clients import Machine
from tests.support.clock import CountingEntropy

PAYMENTS = "/v1/teams/payments"


class Dice(CountingEntropy):
    """Fractions drawn by a seed."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._draw = Random(seed)

    def fraction(self) -> float:
        """The next one."""
        return self._draw.random()


class Paced(Machine):
    """A machine whose minutes end on time, however much is left to do: the next tick comes."""

    def _drain(self, end: datetime) -> None:
        clock = self.front.clock
        while clock.now() < end:
            if [queue for queue in self._handlers if clock.now() < end and self._handle(queue)]:
                continue
            moment = self.front.stage.queues.next_visible()
            if moment is None or moment > end:
                return
            clock.set(max(clock.now(), moment))


def opened(cap: int, takes: timedelta) -> Front:
    front = Front.at("2026-03-01T12:00:30Z")
    front.stage.entropy = Dice(7)
    front.stage.targets.takes = takes
    front.patch(PAYMENTS, {"max_concurrency": cap}, by=ADMIN)
    return front


def backfilled(front: Front, *, hours: int, rate: int) -> str:
    front.job("history", {"cron": "0 * * * *"})
    begin = from_wire("2026-03-01T12:00:00Z") - timedelta(hours=hours)
    body = {"from": begin.isoformat(), "to": "2026-03-01T12:00:00Z", "rate": rate}
    reply = front.post(f"{PAYMENTS}/jobs/history/backfills", body)
    assert reply.status == 202
    return f"{PAYMENTS}/jobs/history/backfills/{reply.body['id']}"


def storm(front: Front, tier: str, jobs: int) -> list[str]:
    """`jobs` jobs of a tier, each every 5 s."""
    names = [f"{tier}-{number}" for number in range(jobs)]
    for name in names:
        front.put(f"{PAYMENTS}/jobs/{name}", {"schedule": {"every": "PT5S"}, "target": HOOK, "tier": tier})
    return names


def executions(front: Front, job: str):
    found: list[dict[str, Any]] = []
    cursor: str | None = ""
    while cursor is not None:
        more = cursor and f"&cursor={cursor}"
        body = front.get(f"{PAYMENTS}/jobs/{job}/executions?limit=100{more}").body
        found += body["items"]
        cursor = body["next"]
    return found


def test_H06_live_firings_keep_their_promise_beside_a_backfill():
    front = opened(cap=5, takes=timedelta(milliseconds=20))
    machine = Machine(front)
    [live] = storm(front, "standard", 1)
    backfill = backfilled(front, hours=300, rate=100)
    machine.run("2026-03-01T12:04:00Z")
    records = executions(front, live)
    fired = [record for record in records if record["started_at"] is not None]
    assert len(fired) >= 36
    assert {record["state"] for record in fired} == {"SUCCEEDED"}
    assert max(record["lateness_ms"] for record in fired) <= 5_000
    assert front.get(backfill).body["executions"]["succeeded"] == 300


def test_H06_a_backfill_has_its_share_while_live_firings_fill_the_cap():
    """One slot, and work for more than two: the backfill gets its turn in thirteen, and live firings most of them."""
    front = opened(cap=1, takes=timedelta(seconds=1))
    machine = Paced(front)
    for tier in ("critical", "standard", "bulk"):
        storm(front, tier, 4)
    backfill = backfilled(front, hours=100, rate=600)
    machine.run("2026-03-01T12:06:00Z")
    done = Counter(call.url for call in front.stage.targets.calls)
    total = sum(done.values())
    succeeded = front.get(backfill).body["executions"]["succeeded"]
    assert total > 200
    assert total / 26 <= succeeded <= total / 4
