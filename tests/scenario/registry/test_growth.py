"""What time makes more of goes by itself: a stage that runs twice as long keeps no more that stays for ever."""

from __future__ import annotations

from collections import Counter

from fencepost.application.store import Table
from fencepost.domain.outcome import Refused
from tests.support.api import Front
from tests.support.clients import Machine
from tests.support.world import OK

EVERY_MINUTE = {"cron": "* * * * *", "timezone": "UTC"}
GONE = Refused(status=410, error="answered 410: never again")


def lasting(front: Front) -> Counter[tuple[Table, str]]:
    """How many items of each kind no date of expiry is written on."""
    found: Counter[tuple[Table, str]] = Counter()
    for table in Table:
        items = [item for item in front.memory.everything(table) if "expires" not in item]
        found.update(
            (table, "" if table is Table.TIMERS else str(item["pk"]).partition("#")[0]) for item in items
        )
    return found


def test_F03_twice_as_long_a_life_leaves_no_more_that_never_goes():
    """Live firings, dead letters, ticks, answered requests: successes and failures alike."""
    front = Front.at("2026-03-01T12:00:30Z")
    front.job("report", schedule=EVERY_MINUTE)
    front.job("doomed", schedule=EVERY_MINUTE)
    front.stage.targets.then = lambda call: GONE if call.facts.job == "doomed" else OK
    machine = Machine(front)
    machine.run("2026-03-01T12:10:30Z")
    once, records = lasting(front), len(front.memory.everything(Table.EXECUTIONS))
    machine.run("2026-03-01T12:20:30Z")
    assert len(front.memory.everything(Table.EXECUTIONS)) > records + 20
    assert lasting(front) == once
