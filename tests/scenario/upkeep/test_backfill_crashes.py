"""Whatever single call of a port fails while a backfill is asked for, expanded or cancelled: nothing is lost or doubled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

import pytest

from fencepost.adapters.seam import PortCall
from fencepost.application.backfills.reading import list_backfills
from fencepost.application.codec import decode_execution
from fencepost.application.registry.aftermath import KEEPER
from fencepost.application.registry.reading import find_team
from fencepost.application.store import Table
from fencepost.domain.identity import ExecutionKind
from fencepost.domain.model import TimerKind
from fencepost.domain.states import ExecutionState, Reason
from fencepost.runtime.api import services
from tests.support.api import Front
from tests.support.faults import Fault, FaultAt, Killed
from tests.support.steps import calling, errands_left, in_peace, stepping

REPORT = "/v1/teams/payments/jobs/report"
RANGE = {"from": "2026-03-01T00:00:00Z", "to": "2026-03-01T05:00:00Z"}
KEY = {"Idempotency-Key": "once"}
S = ExecutionState
T = TypeVar("T")


def opened() -> Front:
    front = Front.at("2026-03-01T08:10:00Z")
    front.job(schedule={"cron": "0 * * * *"})
    return front


def asks(front: Front, fault: FaultAt) -> None:
    calling(front, fault, "POST", REPORT + "/backfills", {**RANGE, "rate": 600}, headers=KEY)


def expands(front: Front, fault: FaultAt) -> None:
    front.post(REPORT + "/backfills", {**RANGE, "rate": 3})
    front.clock.advance(seconds=60)
    stepping(front, fault)


def cancels(front: Front, fault: FaultAt) -> None:
    backfill = front.post(REPORT + "/backfills", {**RANGE, "rate": 3}).body
    in_peace(front, minutes=0)
    calling(front, fault, "DELETE", f"{REPORT}/backfills/{backfill['id']}")


def sweeps(front: Front, fault: FaultAt) -> None:
    backfill = front.post(REPORT + "/backfills", {**RANGE, "rate": 3}).body
    team = find_team(front.memory, "payments")
    assert team is not None
    backfills = services(front.stage).upkeep.backfills
    backfills.call_off(backfill["uid"], backfill["id"], KEEPER, team, front.clock.now())
    stepping(front, fault)


def backfilled(front: Front):
    found = [item for item in front.memory.everything(Table.EXECUTIONS) if "state" in item]
    records = [decode_execution(item) for item in found]
    return [record for record in records if record.id.kind is ExecutionKind.BACKFILL]


def check_done(front: Front) -> None:
    records = backfilled(front)
    assert [record.state for record in records] == [S.SUCCEEDED] * 5
    [uid] = {record.id.uid for record in records}
    assert [backfill.released for backfill in list_backfills(front.memory, uid)] == [5]
    calls = Counter(call.execution for call in front.stage.targets.calls)
    assert all(calls[str(record.id)] == 1 for record in records)


def check_cancelled(front: Front) -> None:
    for record in backfilled(front):
        begun = any(call.execution == str(record.id) for call in front.stage.targets.calls)
        assert record.state is (S.SUCCEEDED if begun else S.CANCELLED)
        assert record.reason is (None if begun else Reason.BACKFILL_CANCELLED)
    assert len(backfilled(front)) == 3


def at_rest(front: Front) -> None:
    assert errands_left(front) == []
    timers = [
        item for item in front.memory.everything(Table.TIMERS) if f"#{TimerKind.FIRE}#" not in item["sk"]
    ]
    assert timers == []


STORIES = {"asks": (asks, check_done), "expands": (expands, check_done)}
STORIES |= {"cancels": (cancels, check_cancelled), "sweeps": (sweeps, check_cancelled)}


@pytest.mark.parametrize("fault", Fault)
@pytest.mark.parametrize("name", STORIES)
def test_A1_a_failing_call_loses_and_doubles_nothing_of_a_backfill(name, fault):
    act, check = STORIES[name]
    clean = FaultAt()
    act(opened(), clean)
    assert 3 < len(clean.calls) < 80
    for place in range(len(clean.calls)):
        front, failing = opened(), FaultAt(place, fault)
        act(front, failing)
        in_peace(front, minutes=4)
        try:
            check(front)
            at_rest(front)
        except AssertionError as error:
            raise AssertionError(f"{fault}: call {place}, {failing.calls[place]}: {error}") from error


class BreaksOff:
    """Kills the step before its second transaction."""

    def __init__(self) -> None:
        self.transactions = 0

    def __call__(self, call: PortCall, proceed: Callable[[], T], /) -> T:
        self.transactions += call.method == "transact"
        if self.transactions == 2:
            raise Killed
        return proceed()


def test_its_rate_holds_though_a_step_of_it_breaks_off():
    """Two chunks a minute. A step breaks off between them, and the next one follows at once: it must not give away
    anew what the broken one has given away of the minute."""
    front = opened()
    front.post(REPORT + "/backfills", {"from": "2026-02-24T00:00:00Z", "to": RANGE["from"], "rate": 45})
    front.clock.advance(seconds=60)
    stepping(front, BreaksOff())
    stepping(front, FaultAt())
    in_peace(front, minutes=4)
    released = sorted(record.not_before for record in backfilled(front) if record.not_before is not None)
    assert len(released) == 120
    gaps = [later - earlier for earlier, later in zip(released, released[45:], strict=False)]
    assert min(gaps) >= timedelta(seconds=59.9)
