"""Writers that meet: lost answers, conflicts, the proof pass going by (protocol C2)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.application.ports import QueueUnavailableError
from fencepost.application.registry.commit import Done
from fencepost.application.registry.expiry import Expiry
from fencepost.application.registry.results import Conflict
from fencepost.application.store import Cancelled, Cause, OutcomeUnknownError, Reason, StoreBusyError
from fencepost.domain.instants import from_wire, to_wire
from fencepost.domain.states import JobState
from tests.support.registry import Registry


class Around:
    """A store that lets a test act on each transaction."""

    def __init__(self, inner, script):
        self.inner = inner
        self.script = list(script)

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def transact(self, actions, token=None):
        step = self.script.pop(0) if self.script else None
        return self.inner.transact(actions, token) if step is None else step(self.inner, actions, token)


def conflict(inner, actions, token):
    return Cancelled(tuple(Reason(Cause.CONFLICT) for _ in actions))


def lost_answer(inner, actions, token):
    inner.transact(actions, token)
    raise OutcomeUnknownError("no answer")


def lost_request(inner, actions, token):
    raise OutcomeUnknownError("no answer")


def busy(inner, actions, token):
    raise StoreBusyError("throttled")


@pytest.fixture
def registry():
    return Registry.at("2026-03-01T12:00:00Z")


class TestC2:
    def test_C2_a_near_plant_behind_the_proof_pass_starts_again_with_a_new_now(self, registry):
        """The writer slept between reading the clock and writing, and its minute was proven empty meanwhile."""
        through = registry.through(Around(registry.store, [self.asleep_until(registry, "12:00:40", "12:00")]))

        assert isinstance(through.put("job", {"every": "PT30S"}), Done)
        [timer] = registry.timers()
        assert timer.instant >= from_wire("2026-03-01T12:01:10Z")
        assert registry.job("job").created_at >= from_wire("2026-03-01T12:00:40Z")

    def test_C2_an_edit_behind_the_proof_pass_computes_until_anew(self, registry):
        registry.put("job", {"cron": "0 3 * * *"})
        registry.clock.set("2026-03-01T12:09:30Z")
        through = registry.through(Around(registry.store, [self.asleep_until(registry, "12:10:20", "12:10")]))

        assert isinstance(through.put("job", {"cron": "* * * * *"}), Done)
        assert registry.job("job").ended_until >= from_wire("2026-03-01T12:10:20Z")
        assert to_wire(registry.timers(generation=2)[0].instant) == "2026-03-01T12:11:00.000Z"

    def test_C2_a_writer_that_slept_too_long_plants_nothing(self, registry):
        through = registry.through(Around(registry.store, [self.asleep_until(registry, "12:20:00", "12:15")]))
        with pytest.raises(StoreBusyError):
            through.put("job", {"every": "PT5M"})
        assert registry.timers() == []

    @staticmethod
    def asleep_until(registry, time, proven):
        def slept(inner, actions, token):
            registry.clock.set(f"2026-03-01T{time}Z")
            for shard in range(4):
                registry.watermark(shard, f"2026-03-01T{proven}:00Z")
            return inner.transact(actions, token)

        return slept

    def test_C2_a_plant_in_a_minute_not_yet_proven_goes_through_at_once(self, registry):
        for shard in range(4):
            registry.watermark(shard, "2026-03-01T11:54:00Z")
        registry.put("job", {"at": "2026-03-01T12:05:00Z"})
        assert registry.clock.slept == []

    def test_C2_far_ahead_no_check_is_needed(self, registry):
        seen: list[str] = []

        def look(inner, actions, token):
            seen.extend(type(action).__name__ for action in actions)
            return inner.transact(actions, token)

        registry.through(Around(registry.store, [look])).put("job", {"at": "2026-03-01T12:12:00Z"})
        assert "Check" not in seen

    def test_C2_the_writer_gives_up_after_a_minute(self, registry):
        def slow(inner, actions, token):
            registry.clock.advance(seconds=25)
            return conflict(inner, actions, token)

        with pytest.raises(StoreBusyError):
            registry.through(Around(registry.store, [slow] * 9)).put("job")
        assert registry.timers() == []
        assert registry.clock.now() - from_wire("2026-03-01T12:00:00Z") < timedelta(seconds=80)


class TestStoodStill:
    def test_a_pause_is_never_noted_under_a_minute_that_nobody_reads_any_more(self, registry):
        """Found by simulation: it had stood still beyond its own end, and went on for ever."""
        registry.put("job")

        def slept(inner, actions, token):
            registry.clock.set("2026-03-01T12:08:30Z")
            Expiry(ports=registry.ports).run(registry.clock.now())
            return inner.transact(actions, token)

        through = registry.through(Around(registry.store, [slept]))
        with pytest.raises(StoreBusyError):
            through.pause("job", until=from_wire("2026-03-01T12:02:00Z"))
        assert registry.job("job").state is JobState.ACTIVE

    def test_a_pause_whose_end_has_passed_by_its_second_try_ends_with_the_next_tick(self, registry):
        registry.put("job")

        def slept(inner, actions, token):
            registry.clock.set("2026-03-01T12:00:40Z")
            return conflict(inner, actions, token)

        through = registry.through(Around(registry.store, [slept]))
        through.pause("job", until=from_wire("2026-03-01T12:00:20Z"))
        assert registry.job("job").state is JobState.PAUSED
        registry.clock.set("2026-03-01T12:01:40Z")
        assert Expiry(ports=registry.ports).run(registry.clock.now()) == 1
        assert registry.job("job").state is JobState.ACTIVE

    def test_B3_a_generation_never_ends_before_it_began(self, registry):
        """Found by simulation: the request had stood still, or its clock was behind, while another changed the job."""
        registry.put("job", {"cron": "0 * * * *"})
        registry.clock.advance(minutes=90)
        registry.put("job", {"cron": "15 * * * *"})
        registry.clock.advance(minutes=-20)
        registry.put("job", {"cron": "10 * * * *"})
        registry.pause("job")

        job = registry.job("job")
        changed = from_wire("2026-03-01T13:30:00Z")
        assert [registry.ended(job.uid, number).until for number in (1, 2, 3)] == [changed] * 3
        assert job.ended_until == changed
        [timer] = registry.timers(generation=3)
        assert timer.instant == from_wire("2026-03-01T14:10:00Z")


def test_an_answer_that_was_lost_is_not_written_twice(registry):
    done = registry.through(Around(registry.store, [lost_answer])).put("job")
    assert isinstance(done, Done)
    assert registry.job("job").revision == 1
    assert len(registry.timers()) == 1


def test_a_request_that_was_lost_is_sent_again(registry):
    assert isinstance(registry.through(Around(registry.store, [lost_request])).put("job"), Done)


def test_what_stays_unknown_is_said(registry):
    with pytest.raises(OutcomeUnknownError):
        registry.through(Around(registry.store, [lost_request] * 3)).put("job")


def test_conflicts_and_throttles_are_waited_out(registry):
    assert isinstance(registry.through(Around(registry.store, [conflict, busy])).put("job"), Done)
    assert len(registry.clock.slept) == 2


def test_two_writers_without_a_revision_lose_nothing_of_each_other(registry):
    """The second one comes between the first one's read and write; the first starts again from what it finds."""
    registry.put("job", {"cron": "0 9 * * *"})

    def other(inner, actions, token):
        registry.put("job", {"cron": "0 10 * * *"})
        return inner.transact(actions, token)

    done = registry.through(Around(registry.store, [other])).put("job", {"cron": "0 11 * * *"})
    assert isinstance(done, Done)
    job = registry.job("job")
    assert (job.revision, job.generation) == (3, 3)
    assert [registry.ended(job.uid, n).schedule.text for n in (1, 2)] == ["0 9 * * *", "0 10 * * *"]


def test_a_writer_with_a_revision_learns_that_it_lost(registry):
    registry.put("job", {"cron": "0 9 * * *"})

    def other(inner, actions, token):
        registry.put("job", {"cron": "0 10 * * *"})
        return inner.transact(actions, token)

    through = registry.through(Around(registry.store, [other]))
    assert through.put("job", {"cron": "0 11 * * *"}, expected=1) == Conflict(
        revision=2, expected=1, uid=registry.job("job").uid
    )


def test_two_creators_of_one_name_make_one_job(registry):
    def other(inner, actions, token):
        registry.put("job", {"cron": "0 10 * * *"})
        return inner.transact(actions, token)

    registry.through(Around(registry.store, [other])).put("job", {"cron": "0 11 * * *"})
    job = registry.job("job")
    assert (job.revision, job.schedule.text) == (2, "0 11 * * *")
    assert len({timer.uid for timer in registry.timers()}) == 1


def test_B9_a_claim_that_fails_does_not_fail_the_write(registry):
    def unavailable(timers, now):
        raise QueueUnavailableError("no answer")

    registry.ports = replace(registry.ports, claim_now=unavailable)
    assert isinstance(registry.put("soon", {"at": "2026-03-01T12:00:15Z"}), Done)
    assert len(registry.timers()) == 1
