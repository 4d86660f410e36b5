"""Every kind of finding, planted in a ledger that was right, and found where it was planted."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import cache

import pytest

from fencepost.application import keys
from fencepost.application.store import Put
from fencepost.client import cron, every
from fencepost.domain.auditing.findings import FindingKind
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import from_wire
from fencepost.domain.model import Attempt, Overlap
from fencepost.domain.states import ExecutionState, Reason
from tests.support.audits import Past
from tests.support.world import BROKEN, OK

MINUTELY = cron("* * * * *")
FIVE = cron("*/5 * * * *")
HOUR = timedelta(hours=1)


@cache
def two_hours() -> Past:
    """Of a job that fires every five minutes, all of it right."""
    past = Past()
    past.put("report", FIVE)
    past.run("2026-03-01T12:01:00Z")
    assert past.findings("report") == []
    return past


@pytest.fixture
def past() -> Past:
    """A ledger that is right, and may be spoilt."""
    return Past.copied(two_hours())


def test_a_record_that_is_gone_is_missed(past):
    past.lose(past.record("report", "2026-03-01T10:35:00Z"))

    [found] = past.findings("report")

    assert (found.kind, found.at, found.last) == (
        FindingKind.MISSING,
        from_wire("2026-03-01T10:35:00Z"),
        None,
    )


def test_records_in_a_row_are_one_finding_with_its_end(past):
    for minute in (35, 40, 45):
        past.lose(past.record("report", f"2026-03-01T10:{minute}:00Z"))

    [found] = past.findings("report")

    assert (found.at, found.last) == (from_wire("2026-03-01T10:35:00Z"), from_wire("2026-03-01T10:45:00Z"))
    assert "3 occurrences" in found.says


def test_the_last_ones_are_missed_only_if_no_timer_is_left_to_claim_them(past):
    past.sleep("2026-03-01T13:00:00Z")
    assert (past.findings("report"), past.audit("report").pending) == ([], 1)

    past.lose_timers("report")

    [found] = past.findings("report")
    assert (found.kind, found.at) == (FindingKind.MISSING, from_wire("2026-03-01T12:05:00Z"))


def test_a_timer_of_later_occurrences_does_not_excuse_earlier_ones(past):
    past.lose(past.record("report", "2026-03-01T11:40:00Z"))

    [found] = past.findings("report", before="2026-03-01T11:42:00Z")

    assert found.at == from_wire("2026-03-01T11:40:00Z")


def test_two_ranges_that_explain_one_occurrence_are_doubled(past):
    run = past.record("report", "2026-03-01T10:35:00Z")
    past.spoil(run, until=from_wire("2026-03-01T10:45:00Z"))

    doubled = {found.at for found in past.findings("report") if found.kind is FindingKind.DOUBLED}

    assert doubled == {from_wire("2026-03-01T10:40:00Z"), from_wire("2026-03-01T10:45:00Z")}


def test_an_execution_that_was_accepted_twice_is_doubled(past):
    record = past.record("report", "2026-03-01T10:35:00Z")
    [attempt] = record.attempts
    again = replace(attempt, number=2, fence=attempt.fence + 1)
    past.spoil(record, attempts=(attempt, again), fence=again.fence, attempt=2)

    assert past.kinds("report") == ["doubled"]


def test_a_record_of_no_occurrence_is_unexpected(past):
    record = past.record("report", "2026-03-01T10:35:00Z")
    stray = from_wire("2026-03-01T10:37:00Z")
    past.spoil(record, id=ExecutionId.occurrence(record.id.uid, stray))

    [found] = past.findings("report")

    assert (found.kind, found.at) == (FindingKind.UNEXPECTED, stray)


def test_a_record_from_before_its_generation_is_unexpected(past):
    past.owner.job("report").patch(schedule=MINUTELY)
    past.run("2026-03-01T12:30:00Z")
    record = past.record("report", "2026-03-01T11:40:00Z")

    past.spoil(record, generation=2, planted_generation=2)

    assert past.kinds("report") == ["unexpected"]


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"state": ExecutionState.SKIPPED, "reason": Reason.MISFIRE}, "the policies in force said: in time"),
        ({"state": ExecutionState.SKIPPED, "reason": Reason.EXCLUDED}, "the policies in force said: in time"),
        ({"state": ExecutionState.SKIPPED, "reason": Reason.OVERLAP}, "an overlap that the job allows"),
        ({"state": ExecutionState.CANCELLED, "reason": Reason.SUPERSEDED}, "its generation has not ended"),
        ({"state": ExecutionState.CANCELLED, "reason": Reason.PAUSED}, "nobody paused the job"),
        ({"state": ExecutionState.CANCELLED, "reason": Reason.DELETED}, "the job was not deleted"),
        ({"state": ExecutionState.CANCELLED, "reason": None}, "ends no firing of a schedule"),
    ],
    ids=lambda value: str(value.get("reason")) if isinstance(value, dict) else None,
)
def test_what_its_owner_did_not_choose_is_not_allowed(past, facts, says):
    record = past.record("report", "2026-03-01T10:35:00Z")
    past.spoil(record, attempts=(), attempt=0, fence=0, started_at=None, ended_at=record.claimed_at, **facts)

    [found] = past.findings("report")

    assert found.kind is FindingKind.NOT_ALLOWED
    assert says in found.says


def test_a_run_that_stands_for_others_is_not_allowed_where_nothing_was_late(past):
    record = past.record("report", "2026-03-01T10:35:00Z")
    past.spoil(record, until=from_wire("2026-03-01T10:40:00Z"))
    past.lose(past.record("report", "2026-03-01T10:40:00Z"))

    [found] = past.findings("report")

    assert (found.kind, "until 2026-03-01T10:40" in found.says) == (FindingKind.NOT_ALLOWED, True)


def test_a_range_of_a_pause_that_never_was_is_not_allowed(past):
    gone = [past.record("report", f"2026-03-01T10:{minute}:00Z") for minute in (35, 40)]
    for record in gone:
        past.lose(record)
    first = gone[0]
    past.spoil(
        first,
        id=ExecutionId.span(first.id.uid, from_wire("2026-03-01T10:35:00Z")),
        until=from_wire("2026-03-01T10:40:00Z"),
        state=ExecutionState.SKIPPED,
        reason=Reason.PAUSED,
        attempts=(),
        attempt=0,
        started_at=None,
    )

    assert past.kinds("report") == ["not_allowed"]


def test_what_began_after_a_pause_was_acknowledged_is_not_allowed(past):
    past.owner.job("report").pause("repairs")
    past.run("2026-03-01T12:30:00Z")
    past.owner.job("report").resume()
    record = past.record("report", "2026-03-01T12:00:00Z")
    assert past.findings("report") == []

    past.spoil(
        record, started_at=from_wire("2026-03-01T12:05:00Z"), ended_at=from_wire("2026-03-01T12:06:00Z")
    )

    [found] = past.findings("report")
    assert (found.kind, "after a change" in found.says) == (FindingKind.NOT_ALLOWED, True)


def test_what_an_open_circuit_refused_before_a_pause_has_begun_and_goes_on(past):
    past.owner.job("report").pause("repairs")
    past.run("2026-03-01T12:30:00Z")
    past.owner.job("report").resume()
    record = past.record("report", "2026-03-01T12:00:00Z")
    [attempt] = record.attempts
    refused = replace(attempt, fence=0, outcome="circuit_open", status=None, ended_at=attempt.started_at)
    later = from_wire("2026-03-01T12:05:00Z")
    delivered = replace(attempt, number=2, started_at=later, ended_at=later + timedelta(seconds=1))
    begun = {"started_at": later, "ended_at": delivered.ended_at, "attempt": 2}

    past.spoil(record, attempts=(refused, delivered), **begun)
    assert past.findings("report") == []

    past.spoil(record, attempts=(replace(refused, started_at=later), delivered), **begun)
    [found] = past.findings("report")
    assert (found.kind, "after a change" in found.says) == (FindingKind.NOT_ALLOWED, True)


def test_success_without_an_accepted_attempt_is_not_allowed(past):
    record = past.record("report", "2026-03-01T10:35:00Z")
    [attempt] = record.attempts

    past.spoil(record, attempts=(replace(attempt, outcome="failed"),))

    assert past.kinds("report") == ["not_allowed"]


def test_another_end_after_an_accepted_attempt_is_not_allowed(past):
    record = past.record("report", "2026-03-01T10:35:00Z")

    past.spoil(record, state=ExecutionState.DEAD, reason=Reason.REFUSED, told=True)

    assert past.kinds("report") == ["not_allowed"]


def test_a_firing_before_its_time_is_early(past):
    record = past.record("report", "2026-03-01T10:35:00Z")

    past.spoil(record, started_at=record.due - timedelta(seconds=3))

    assert past.kinds("report") == ["early"]


def test_running_past_the_end_of_its_lease_is_lapsed(past):
    record = past.record("report", "2026-03-01T10:35:00Z")
    [attempt] = record.attempts
    facts = {"state": ExecutionState.RUNNING, "ended_at": None, "expires_at": None}
    open_attempt = (replace(attempt, ended_at=None, outcome=None),)

    past.spoil(record, lease_until=from_wire("2026-03-01T11:52:00Z"), attempts=open_attempt, **facts)
    assert past.kinds("report") == []
    past.spoil(record, lease_until=from_wire("2026-03-01T11:50:00Z"), attempts=open_attempt, **facts)
    assert past.kinds("report") == ["lapsed"]


def test_what_nobody_came_for_is_stalled(past):
    record = past.record("report", "2026-03-01T10:35:00Z")

    past.spoil(
        record,
        state=ExecutionState.QUEUED,
        attempts=(),
        attempt=0,
        fence=0,
        started_at=None,
        ended_at=None,
        expires_at=None,
    )

    assert past.kinds("report") == ["stalled"]


def test_a_fence_that_falls_from_one_attempt_to_the_next_is_found(past):
    record = past.record("report", "2026-03-01T10:35:00Z")
    [attempt] = record.attempts
    lost = Attempt(
        number=1, fence=attempt.fence + 5, started_at=record.due, ended_at=record.due, outcome="failed"
    )

    past.spoil(record, attempts=(lost, replace(attempt, number=2)), attempt=2)

    assert past.kinds("report") == ["fence_fell"]


def test_under_skip_a_fence_that_falls_from_one_firing_to_the_next_is_found(past):
    past.put("alone", FIVE, overlap="skip")
    past.run("2026-03-01T12:31:00Z")
    first, second = (past.record("alone", f"2026-03-01T12:{minute}:00Z") for minute in (10, 15))

    lower = first.fence - 1
    past.spoil(second, fence=lower, attempts=(replace(second.attempts[0], fence=lower),))

    assert past.kinds("alone") == ["fence_fell"]


def test_two_firings_at_once_under_skip_are_overlapped(past):
    past.put("alone", FIVE, overlap="skip")
    past.run("2026-03-01T12:31:00Z")
    first = past.record("alone", "2026-03-01T12:10:00Z")

    late = from_wire("2026-03-01T12:17:00Z")
    past.spoil(first, ended_at=late, attempts=(replace(first.attempts[0], ended_at=late),))

    [found] = past.findings("alone")
    assert (found.kind, found.at) == (FindingKind.OVERLAPPED, from_wire("2026-03-01T12:15:00Z"))
    past.spoil(first, overlap=Overlap.ALLOW)
    assert past.findings("alone") == []


def test_more_attempts_than_the_job_allows_are_over_budget(past):
    record = past.record("report", "2026-03-01T10:35:00Z")

    past.spoil(record, attempt=6)

    assert past.kinds("report") == ["over_budget"]


def test_a_death_with_budget_left_is_not_allowed(past):
    past.front.stage.targets.then = BROKEN
    past.put("doomed", {"at": "2026-03-01T12:05:00Z"}, retry={"max_attempts": 2, "initial_delay_seconds": 1})
    past.run("2026-03-01T12:30:00Z")
    past.front.stage.targets.then = OK
    [record] = past.records("doomed")
    assert (record.state, past.findings("doomed")) == (ExecutionState.DEAD, [])

    past.spoil(record, attempts=record.attempts[:1], attempt=1)

    assert past.kinds("doomed") == ["not_allowed"]


def test_a_dead_letter_that_nobody_heard_of_is_untold(past):
    record = past.record("report", "2026-03-01T10:35:00Z")
    [attempt] = record.attempts
    refused = (replace(attempt, outcome="refused"),)

    past.spoil(record, state=ExecutionState.DEAD, reason=Reason.REFUSED, attempts=refused)

    assert past.kinds("report") == ["untold"]


def test_what_is_over_must_expire_and_what_is_not_must_not(past):
    over = past.record("report", "2026-03-01T10:35:00Z")
    past.spoil(over, expires_at=None)
    last = past.record("report", "2026-03-01T12:00:00Z")
    past.spoil(
        last,
        state=ExecutionState.RETRY_WAIT,
        retry_at=from_wire("2026-03-01T12:30:00Z"),
        attempts=(replace(last.attempts[0], outcome="failed"),),
        ended_at=None,
    )

    past.sleep("2026-03-01T12:20:00Z")

    assert past.kinds("report") == ["wrong_expiry", "wrong_expiry"]


def test_a_record_that_cannot_be_read_is_unreadable_and_its_neighbours_are_read(past):
    record = past.record("report", "2026-03-01T10:35:00Z")
    past.store.write(Put(key=keys.execution(record.id), item={"v": 1, "state": "PERPLEXED"}))
    past.lose(past.record("report", "2026-03-01T11:35:00Z"))

    found = past.findings("report")

    assert {each.kind.value: each.at for each in found} == {
        "unreadable": from_wire("2026-03-01T10:35:00Z"),
        "missing": from_wire("2026-03-01T11:35:00Z"),
    }


def test_runs_by_hand_keep_their_word_too(past):
    run = past.owner.job("report").run()
    past.run("2026-03-01T12:05:00Z")
    assert past.findings("report") == []
    identity = ExecutionId.parse(run.id)
    [record] = [each for each in past.records("report") if each.id == identity]

    past.spoil(record, attempt=9)

    assert past.kinds("report") == ["over_budget"]


def test_a_deleted_job_is_audited_by_its_uid(past):
    uid = past.job("report").uid
    past.owner.job("report").delete()
    past.run("2026-03-01T12:30:00Z")
    record = past.record(f"~{uid}", "2026-03-01T10:35:00Z")
    assert past.findings(f"~{uid}") == []

    past.lose(record)

    assert past.kinds(f"~{uid}") == ["missing"]


def test_a_gap_in_an_interval_of_years_is_found_at_once():
    past = Past()
    past.put("ticks", every("PT5S"))
    past.run("2026-03-01T10:02:00Z")
    past.lose_timers("ticks")
    past.run("2026-03-01T10:06:00Z")
    past.sleep("2026-03-02T10:00:00Z")

    [found] = past.findings("ticks")

    assert "at least 10,000 occurrences" in found.says
