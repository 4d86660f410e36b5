"""Into WAITING and out of it: record and entry together, whatever the store does meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from fencepost.application import keys
from fencepost.application.admission import lanes, waiting
from fencepost.application.codec import decode_execution
from fencepost.application.moves import cancelled, moved, rewritten
from fencepost.application.store import (
    Absent,
    Action,
    Cancelled,
    Cause,
    Check,
    Committed,
    InvalidWriteError,
    Key,
    Lost,
    OutcomeUnknownError,
    Present,
    Put,
    Reason,
    StoreBusyError,
    Table,
    Won,
)
from fencepost.domain import states
from fencepost.domain.model import Execution
from fencepost.domain.states import ExecutionState, Move
from tests.support.admissions import Office

CONFLICT = Cancelled((Reason(Cause.CONFLICT), Reason(Cause.NONE)))


def _waiting(office: Office, number: int = 0) -> Execution:
    record = office.firing(number)
    joined = waiting.enter(office.context, record, keys.backlog_lane(record, 8))
    assert joined is not None
    return joined


def _answers(office: Office, *answers: Cancelled | Exception | None) -> list[str | None]:
    """The next transactions get these answers; None: the store's own. Returns the tokens that were seen."""
    left = list(answers)
    tokens: list[str | None] = []
    real: Callable[..., Committed | Cancelled] = office.store.transact

    def transact(actions: Sequence[Action], token: str | None = None) -> Committed | Cancelled:
        tokens.append(token)
        answer = left.pop(0) if left else None
        if isinstance(answer, OutcomeUnknownError):
            real(actions, token)
        if isinstance(answer, Exception):
            raise answer
        return real(actions, token) if answer is None else answer

    office.store.transact = transact  # type: ignore[method-assign]  # a stand-in for one call
    return tokens


def test_E2_joining_writes_record_and_entry_together() -> None:
    office = Office.opened()
    joined = _waiting(office)
    assert office.read(joined) == joined
    assert joined.state is ExecutionState.WAITING
    (entry,) = office.entries()
    assert entry["sk"].endswith(str(joined.id))
    assert entry["pk"] == joined.lane


@pytest.mark.parametrize("way", ["lease", "cancel"])
def test_E2_every_move_out_of_waiting_takes_the_entry_along(way: str) -> None:
    office = Office.opened()
    team = office.team()
    joined = _waiting(office)
    if way == "lease":
        change = moved(joined, Move.LEASE, fence=1, lease_until=office.now, slot="0")
    else:
        change = cancelled(joined, states.Reason.DELETED, now=office.now, retention=team.retention)
    assert waiting.commit(office.context, joined, change) == Won()
    assert not office.entries()
    assert office.read(joined).lane is None


def test_E2_a_change_that_is_no_move_keeps_the_place() -> None:
    office = Office.opened()
    joined = _waiting(office)
    adopted = rewritten(joined, generation=2, planted_generation=2)
    assert waiting.commit(office.context, joined, adopted) == Won()
    assert len(office.entries()) == 1
    assert office.read(joined).state is ExecutionState.WAITING


def test_E2_a_lost_move_leaves_the_entry_and_tells_what_won() -> None:
    office = Office.opened()
    joined = _waiting(office)
    adopted = rewritten(joined, generation=2, planted_generation=2)
    waiting.commit(office.context, joined, adopted)
    stale = moved(joined, Move.LEASE, fence=1, lease_until=office.now, slot="0")
    lost = waiting.commit(office.context, joined, stale)
    assert isinstance(lost, Lost)
    assert lost.item is not None
    assert lost.item["gen"] == 2
    assert len(office.entries()) == 1


def test_E6_changing_lanes_moves_the_entry_and_beats_whoever_read_the_old_one() -> None:
    office = Office.opened()
    record = office.firing()
    first = waiting.enter(office.context, record, keys.overlap_lane(record.id.uid))
    assert first is not None
    second = waiting.enter(office.context, first, keys.backlog_lane(record, 8))
    assert second is not None
    assert [entry["pk"] for entry in office.entries()] == [second.lane]
    stale = moved(first, Move.LEASE, fence=1, lease_until=office.now, slot="0")
    assert isinstance(waiting.commit(office.context, first, stale), Lost)


def test_entering_the_lane_where_it_waits_already_writes_nothing() -> None:
    office = Office.opened()
    joined = _waiting(office)
    tokens = _answers(office)
    assert waiting.enter(office.context, joined, str(joined.lane)) == joined
    assert not tokens


def test_a_record_that_does_not_wait_is_one_plain_write() -> None:
    office = Office.opened()
    record = office.firing()
    tokens = _answers(office)
    change = moved(record, Move.LEASE, fence=1, lease_until=office.now, slot="0")
    assert waiting.commit(office.context, record, change) == Won()
    assert not tokens


def test_what_goes_along_is_written_with_the_move_or_not_at_all() -> None:
    office = Office.opened()
    record = office.firing()
    beside = Key(Table.CONTROL, "beside", "it")
    change = moved(record, Move.LEASE, fence=1, lease_until=office.now, slot="0")
    missing = Check(key=beside, condition=Present())
    lost = waiting.commit(office.context, record, change, missing)
    assert isinstance(lost, Lost)
    assert lost.item is not None
    assert decode_execution(lost.item) == record
    put = Put(key=beside, item={"v": 1}, condition=Absent())
    assert waiting.commit(office.context, record, change, put) == Won()
    assert office.store.get(beside) is not None


def test_F4_a_conflict_is_tried_again_with_jitter_and_never_read_as_lost() -> None:
    office = Office.opened()
    joined = _waiting(office)
    _answers(office, CONFLICT, StoreBusyError("throttled"))
    change = moved(joined, Move.LEASE, fence=1, lease_until=office.now, slot="0")
    assert waiting.commit(office.context, joined, change) == Won()
    assert [pause.total_seconds() for pause in office.clock.slept] == [0.02, 0.04]


def test_F4_three_conflicts_are_a_busy_store_and_nothing_is_written() -> None:
    office = Office.opened()
    joined = _waiting(office)
    _answers(office, CONFLICT, CONFLICT, CONFLICT)
    change = moved(joined, Move.LEASE, fence=1, lease_until=office.now, slot="0")
    with pytest.raises(StoreBusyError):
        waiting.commit(office.context, joined, change)
    assert office.read(joined) == joined


def test_a_lost_answer_is_asked_for_again_under_the_same_token() -> None:
    office = Office.opened()
    joined = _waiting(office)
    tokens = _answers(office, OutcomeUnknownError("no answer"))
    change = moved(joined, Move.LEASE, fence=1, lease_until=office.now, slot="0")
    assert waiting.commit(office.context, joined, change) == Won()
    assert len(tokens) == 2
    assert tokens[0] is not None
    assert len(set(tokens)) == 1


def test_an_answer_that_stays_lost_is_never_called_unwritten() -> None:
    office = Office.opened()
    joined = _waiting(office)
    _answers(office, OutcomeUnknownError("no answer"), CONFLICT, CONFLICT)
    change = moved(joined, Move.LEASE, fence=1, lease_until=office.now, slot="0")
    with pytest.raises(OutcomeUnknownError):
        waiting.commit(office.context, joined, change)


def test_a_transaction_that_the_store_refuses_is_a_bug_and_raises() -> None:
    office = Office.opened()
    joined = _waiting(office)
    _answers(office, Cancelled((Reason(Cause.INVALID), Reason(Cause.NONE))))
    change = moved(joined, Move.LEASE, fence=1, lease_until=office.now, slot="0")
    with pytest.raises(InvalidWriteError):
        waiting.commit(office.context, joined, change)


def test_E2_one_claims_an_entry_and_the_other_takes_the_next() -> None:
    office = Office.opened()
    joined = _waiting(office)
    (entry,) = lanes.heads(office.context, str(joined.lane), office.now).open
    claimed = lanes.claim(office.context, entry, "0", office.now)
    assert claimed is not None
    assert lanes.claim(office.context, entry, "1", office.now) is None
    assert waiting.reserved_slot(office.context, joined) == "0"
    assert not lanes.heads(office.context, str(joined.lane), office.now).open


def test_E2_a_claim_lapses_after_60_seconds() -> None:
    office = Office.opened()
    joined = _waiting(office)
    (entry,) = lanes.heads(office.context, str(joined.lane), office.now).open
    assert lanes.claim(office.context, entry, "0", office.now) is not None
    office.clock.advance(seconds=59.999)
    assert lanes.claim(office.context, entry, "1", office.now) is None
    office.clock.advance(seconds=0.001)
    assert lanes.claim(office.context, entry, "1", office.now) is not None


def test_E2_a_claim_is_given_back_by_whoever_made_it_only() -> None:
    office = Office.opened()
    joined = _waiting(office)
    (entry,) = lanes.heads(office.context, str(joined.lane), office.now).open
    old = lanes.claim(office.context, entry, "0", office.now)
    office.clock.advance(seconds=61)
    new = lanes.claim(office.context, entry, "1", office.now)
    assert old is not None
    assert new is not None
    lanes.unclaim(office.context, old)
    assert waiting.reserved_slot(office.context, joined) == "1"
    lanes.unclaim(office.context, new)
    assert waiting.reserved_slot(office.context, joined) is None


def test_E2_an_entry_that_is_gone_cannot_be_claimed_into_being() -> None:
    office = Office.opened()
    joined = _waiting(office)
    (entry,) = lanes.heads(office.context, str(joined.lane), office.now).open
    change = moved(joined, Move.LEASE, fence=1, lease_until=office.now, slot="0")
    waiting.commit(office.context, joined, change)
    assert lanes.claim(office.context, entry, "0", office.now) is None
    assert not office.entries()


def test_reserved_heads_are_read_past_in_growing_pages() -> None:
    office = Office.opened()
    record = office.firing()
    lane = keys.overlap_lane(record.id.uid)
    for number in range(60):
        joined = waiting.enter(office.context, office.firing(number + 1), lane)
        assert joined is not None
        if number < 50:
            (entry,) = [
                e for e in lanes.heads(office.context, lane, office.now).open if e.execution == joined.id
            ]
            lanes.claim(office.context, entry, None, office.now)
    heads = lanes.heads(office.context, lane, office.now)
    assert [entry.due for entry in heads.open] == sorted(entry.due for entry in heads.open)
    assert len(heads.open) == 10
    assert not heads.cut
    assert not heads.empty


def test_E2_an_entry_whose_execution_does_not_wait_is_deleted_on_sight() -> None:
    office = Office.opened()
    joined = _waiting(office)
    (entry,) = lanes.heads(office.context, str(joined.lane), office.now).open
    assert not lanes.dismiss(office.context, entry, office.now)
    gone = moved(joined, Move.LEASE, fence=1, lease_until=office.now, slot="0")
    office.store.write(gone.write)  # what no code of ours does: the record alone
    assert lanes.dismiss(office.context, entry, office.now)
    assert not office.entries()


def test_E2_deleting_an_entry_loses_to_an_execution_that_comes_to_wait_there() -> None:
    office = Office.opened()
    record = office.firing()
    lane = keys.backlog_lane(record, 8)
    stray = lanes.Entry(
        key=Key(Table.CONTROL, lane, f"{record.id.key}#{record.id}"),
        execution=record.id,
        team="payments",
        tier=record.tier,
        due=record.due,
    )
    office.store.write(Put(key=stray.key, item=lanes.encode_entry(record)))
    real = office.store.get

    def get(key: Key):
        item = real(key)
        office.store.get = real  # type: ignore[method-assign]  # a stand-in for one call
        assert waiting.enter(office.context, record, lane) is not None
        return item

    office.store.get = get  # type: ignore[method-assign]  # a stand-in for one call
    lanes.dismiss(office.context, stray, office.now)
    assert len(office.entries()) == 1


def test_R10_an_entry_whose_record_nobody_understands_is_put_aside_for_an_hour() -> None:
    office = Office.opened()
    joined = _waiting(office)
    (entry,) = lanes.heads(office.context, str(joined.lane), office.now).open
    office.store.write(Put(key=keys.execution(joined.id), item={"v": 1, "state": "DREAMING"}))
    assert lanes.dismiss(office.context, entry, office.now)
    assert len(office.entries()) == 1
    assert not lanes.heads(office.context, str(joined.lane), office.now).open
    office.clock.advance(hours=1)
    assert lanes.heads(office.context, str(joined.lane), office.now).open


def test_R10_an_entry_that_nobody_understands_hides_no_other() -> None:
    office = Office.opened()
    joined = _waiting(office)
    office.store.write(Put(key=Key(Table.CONTROL, str(joined.lane), "0000000000000#?"), item={"v": 1}))
    assert lanes.first(office.context, str(joined.lane)) is None
    heads = lanes.heads(office.context, str(joined.lane), office.now)
    assert [entry.execution for entry in heads.open] == [joined.id]
    assert not heads.empty
