from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.application import keys
from fencepost.application.admission.lanes import encode_entry
from fencepost.application.codec_job import encode_job
from fencepost.application.delivery.cancel import CancelledNow, Stands
from fencepost.application.registry.jobs import Would
from fencepost.application.registry.lifecycle import AtRest, Swept
from fencepost.application.registry.results import Missing, NotAllowed
from fencepost.application.registry.views import coming, shown_state
from fencepost.application.store import Put, Table, Update, equals
from fencepost.domain.identity import ExecutionId, ExecutionKind
from fencepost.domain.instants import from_wire, to_wire
from fencepost.domain.states import ExecutionState, JobState, Reason
from tests.support.registry import OWNER, Beside, Registry

HOURLY = {"cron": "0 * * * *"}


@pytest.fixture
def registry():
    made = Registry.at("2026-03-01T12:00:00Z")
    made.put("hourly", HOURLY)
    return made


def exhaust(registry, name):
    """What the claim of a last occurrence does."""
    job = registry.job(name)
    registry.store.write(
        Update(key=keys.job(job.uid), set={"exhausted": True}, condition=equals("gen", job.generation))
    )


class TestPause:
    def test_it_ends_the_generation_and_plants_nothing(self, registry):
        registry.clock.advance(minutes=90)
        registry.pause("hourly", note="audit")

        job = registry.job("hourly")
        assert (job.state, job.generation, job.revision) == (JobState.PAUSED, 2, 2)
        assert (job.paused_by, job.state_reason) == (OWNER.principal, "audit")
        assert registry.ended(job.uid, 1).ended_by is Reason.PAUSED
        assert registry.timers(generation=2) == []
        assert coming(registry.store, job, registry.clock.now()) == ()
        assert [entry.what for entry in registry.entries(job.uid)] == ["pause", "create"]

    def test_E04_what_was_queued_and_not_started_is_cancelled_at_once(self, registry):
        job = registry.job("hourly")
        queued = registry.execution(job, "2026-03-01T13:00:00Z", ExecutionState.QUEUED)
        waiting = registry.execution(
            job, "2026-03-01T12:00:00Z", ExecutionState.WAITING, lane="B#payments#standard#1"
        )
        entry = keys.waiting_entry(waiting)
        assert entry is not None
        registry.store.write(Put(key=entry, item=encode_entry(waiting)))
        swept = registry.pause("hourly")

        assert {record.id for record in swept.cancelled} == {queued.id, waiting.id}
        states = {record.id: (record.state, record.reason) for record in registry.records(job.uid)}
        assert states[queued.id] == (ExecutionState.CANCELLED, Reason.PAUSED)
        assert states[waiting.id] == (ExecutionState.CANCELLED, Reason.PAUSED)
        assert registry.store.get(entry) is None

    def test_B4_what_a_resume_took_over_meanwhile_is_left_by_a_pause_that_stood_still(self, registry):
        """The pause is written, its host stands still; resumed, the job takes over what was queued."""
        job = registry.job("hourly")
        queued = registry.execution(job, "2026-03-01T13:00:00Z", ExecutionState.QUEUED)

        class StandsStill(Beside):
            def pages(self, query):
                if query.table is Table.EXECUTIONS and query.pk == job.uid and not registry.claimed:
                    registry.clock.set("2026-03-01T12:59:50Z")
                    registry.resume("hourly")
                    registry.execution(registry.job("hourly"), "2026-03-01T13:00:00Z", ExecutionState.QUEUED)
                return self.store.pages(query)

        assert registry.through(StandsStill(registry.store)).pause("hourly").cancelled == ()
        [record] = registry.records(job.uid)
        assert (record.id, record.state, record.generation) == (queued.id, ExecutionState.QUEUED, 3)

    def test_B4_a_cancel_that_lost_to_a_newer_generation_lets_it_stand(self, registry):
        job = replace(registry.job("hourly"), generation=3)
        newer = registry.execution(job, "2026-03-01T13:00:00Z", ExecutionState.QUEUED)
        cancel, now = registry.ports.cancel.execution, registry.clock.now()
        assert cancel(newer.id, Reason.PAUSED, now, below=3) == Stands(newer)
        assert isinstance(cancel(newer.id, Reason.PAUSED, now, below=4), CancelledNow)

    def test_B4_what_has_started_goes_on_unless_asked_otherwise(self, registry):
        job = registry.job("hourly")
        running = registry.execution(job, "2026-03-01T11:00:00Z", ExecutionState.RUNNING, fence=7)
        retrying = registry.execution(
            job, "2026-03-01T12:00:00Z", ExecutionState.RETRY_WAIT, fence=8, attempt=1
        )
        assert registry.pause("hourly").cancelled == ()
        registry.resume("hourly")
        swept = registry.pause("hourly", cancel_started=True)

        assert [record.id for record in swept.cancelled] == [retrying.id]
        assert running.id not in {record.id for record in swept.cancelled}

    def test_a_paused_job_is_not_paused_again(self, registry):
        registry.pause("hourly")
        assert isinstance(registry.pause("hourly", note="for another reason"), NotAllowed)
        assert isinstance(registry.pause("hourly"), AtRest)
        assert registry.job("hourly").revision == 2

    def test_an_edit_of_a_paused_job_leaves_it_paused_and_explains_what_it_slept_through(self, registry):
        registry.pause("hourly")
        registry.clock.advance(hours=3, minutes=30)
        registry.put("hourly", {"cron": "30 * * * *"})

        job = registry.job("hourly")
        assert (job.state, job.generation) == (JobState.PAUSED, 3)
        assert registry.timers(generation=3) == []
        [span] = registry.records(job.uid)
        assert (span.state, span.reason, span.generation) == (
            ExecutionState.SKIPPED,
            Reason.PAUSED,
            2,
        )
        assert (to_wire(span.due), to_wire(span.until)) == (
            "2026-03-01T13:00:00.000Z",
            "2026-03-01T15:00:00.000Z",
        )


class TestResume:
    def test_M08_resuming_plants_the_next_occurrence_in_the_same_write(self, registry):
        registry.pause("hourly")
        registry.clock.set("2026-03-04T07:30:00Z")
        registry.resume("hourly")

        job = registry.job("hourly")
        assert (job.state, job.generation, job.exhausted) == (JobState.ACTIVE, 3, False)
        [timer] = registry.timers(generation=3)
        assert to_wire(timer.instant) == "2026-03-04T08:00:00.000Z"

    def test_B12_what_fell_due_meanwhile_is_one_range(self, registry):
        registry.clock.advance(minutes=30)
        registry.pause("hourly")
        registry.clock.set("2026-03-01T16:00:00Z")
        registry.resume("hourly")

        job = registry.job("hourly")
        [span] = registry.records(job.uid)
        assert span.id.kind is ExecutionKind.RANGE
        assert (span.state, span.reason) == (ExecutionState.SKIPPED, Reason.PAUSED)
        assert (to_wire(span.due), to_wire(span.until)) == (
            "2026-03-01T13:00:00.000Z",
            "2026-03-01T16:00:00.000Z",
        )
        assert span.expires_at >= from_wire("2026-03-03T16:00:00Z")
        [timer] = registry.timers(generation=3)
        assert timer.instant == from_wire("2026-03-01T17:00:00Z")

    def test_a_short_pause_between_two_occurrences_leaves_no_range(self, registry):
        registry.pause("hourly")
        registry.clock.advance(minutes=5)
        registry.resume("hourly")
        assert registry.records(registry.job("hourly").uid) == []

    def test_B9_a_resume_just_before_due_is_claimed_at_once(self, registry):
        registry.pause("hourly")
        registry.clock.set("2026-03-01T12:59:50Z")
        registry.resume("hourly")
        assert [timer.instant for timer in registry.claimed] == [from_wire("2026-03-01T13:00:00Z")]

    def test_an_active_job_cannot_be_resumed(self, registry):
        assert isinstance(registry.resume("hourly"), NotAllowed)

    def test_E09_a_job_in_error_is_resumed_with_an_audit_entry_and_an_explanation(self, registry):
        job = registry.job("hourly")
        registry.execution(job, "2026-03-01T13:00:00Z", ExecutionState.SUCCEEDED)
        broken = replace(job, state=JobState.ERROR, state_reason="timer could not be read")
        registry.store.write(Put(key=keys.job(job.uid), item=encode_job(broken)))
        registry.clock.set("2026-03-01T15:30:00Z")
        registry.resume("hourly")

        job = registry.job("hourly")
        assert (job.state, job.state_reason, job.generation) == (JobState.ACTIVE, None, 2)
        span = registry.records(job.uid)[-1]
        assert (to_wire(span.due), to_wire(span.until)) == (
            "2026-03-01T14:00:00.000Z",
            "2026-03-01T15:00:00.000Z",
        )
        assert registry.entries(job.uid)[0].what == "resume"
        assert [timer.instant for timer in registry.timers(generation=2)] == [
            from_wire("2026-03-01T16:00:00Z")
        ]

    def test_A_what_fell_due_in_an_error_is_explained_whatever_an_ended_generation_left_behind(
        self, registry
    ):
        """An edit ended the hourly generation; its timer for 15:00 is settled later than the new one's is spoiled."""
        registry.clock.set("2026-03-01T12:30:00Z")
        registry.put("hourly", {"cron": "30 * * * *"})
        job = registry.job("hourly")
        registry.execution(job, "2026-03-01T13:30:00Z", ExecutionState.SUCCEEDED)
        registry.execution(
            replace(job, generation=1),
            "2026-03-01T15:00:00Z",
            ExecutionState.CANCELLED,
            reason=Reason.SUPERSEDED,
        )
        registry.store.write(Put(key=keys.job(job.uid), item=encode_job(replace(job, state=JobState.ERROR))))
        registry.clock.set("2026-03-01T16:10:00Z")
        registry.pause("hourly")

        [span] = [record for record in registry.records(job.uid) if record.id.kind is ExecutionKind.RANGE]
        assert (to_wire(span.due), to_wire(span.until)) == (
            "2026-03-01T14:30:00.000Z",
            "2026-03-01T15:30:00.000Z",
        )

    @pytest.mark.parametrize("move", ["resume", "edit"])
    def test_A_what_ran_before_an_error_is_not_explained_again(self, registry, move):
        job = registry.job("hourly")
        registry.execution(job, "2026-03-01T13:00:00Z", ExecutionState.SUCCEEDED)
        registry.store.write(Put(key=keys.job(job.uid), item=encode_job(replace(job, state=JobState.ERROR))))
        registry.clock.set("2026-03-01T15:30:00Z")
        if move == "resume":
            registry.resume("hourly")
        else:
            registry.put("hourly", {"cron": "15 * * * *"})

        [span] = [record for record in registry.records(job.uid) if record.id.kind is ExecutionKind.RANGE]
        assert to_wire(span.due) == "2026-03-01T14:00:00.000Z"


class TestDelete:
    def test_the_name_is_free_and_the_next_job_of_it_is_another(self, registry):
        old = registry.job("hourly")
        assert isinstance(registry.delete("hourly"), Swept)
        registry.put("hourly", HOURLY)

        new = registry.job("hourly")
        assert new.uid != old.uid
        assert (new.revision, new.generation) == (1, 1)
        assert registry.entries(old.uid)[0].what == "delete"

    def test_the_tombstone_says_when_and_why(self, registry):
        job = registry.job("hourly")
        registry.delete("hourly")
        item = registry.store.get(keys.job(job.uid))
        assert (item["state"], item["gen"]) == ("DELETED", 2)
        assert registry.ended(job.uid, 1).ended_by is Reason.DELETED

    def test_B4_everything_but_what_runs_is_cancelled(self, registry):
        job = registry.job("hourly")
        records = {
            state: registry.execution(job, f"2026-03-01T1{hour}:00:00Z", state, fence=fence)
            for hour, state, fence in [
                (0, ExecutionState.RUNNING, 1),
                (1, ExecutionState.RETRY_WAIT, 1),
                (2, ExecutionState.QUEUED, 0),
                (3, ExecutionState.SUCCEEDED, 1),
            ]
        }
        by_hand = registry.execution(
            job, "2026-03-01T12:00:00Z", ExecutionState.QUEUED, id=ExecutionId.run_now(job.uid, "k")
        )
        swept = registry.delete("hourly")

        assert {record.id for record in swept.cancelled} == {
            records[ExecutionState.RETRY_WAIT].id,
            records[ExecutionState.QUEUED].id,
            by_hand.id,
        }
        assert all(record.reason is Reason.DELETED for record in swept.cancelled)

    @pytest.mark.parametrize("state", [JobState.ACTIVE, JobState.PAUSED, JobState.ERROR])
    def test_E04_a_job_may_be_deleted_in_every_state(self, registry, state):
        job = replace(registry.job("hourly"), state=state)
        registry.store.write(Put(key=keys.job(job.uid), item=encode_job(job)))
        assert isinstance(registry.delete("hourly"), Swept)
        assert registry.delete("hourly") == Missing("job", "hourly")


class TestB8Exhausted:
    @pytest.fixture
    def once(self):
        made = Registry.at("2026-03-01T12:00:00Z")
        made.put("once", {"at": "2026-03-01T12:30:00Z"})
        exhaust(made, "once")
        made.clock.set("2026-03-01T13:00:00Z")
        return made

    def test_B8_it_is_shown_as_completed_when_its_last_firing_is_over(self, once):
        job = once.job("once")
        record = once.execution(job, "2026-03-01T12:30:00Z", ExecutionState.RUNNING, fence=1)
        assert shown_state(once.store, job) is JobState.ACTIVE
        once.execution(job, "2026-03-01T12:30:00Z", ExecutionState.SUCCEEDED, fence=1, id=record.id)
        assert shown_state(once.store, job) is JobState.COMPLETED

    def test_B8_an_edit_makes_it_fire_again(self, once):
        once.put("once", {"at": "2026-03-01T14:00:00Z"})
        job = once.job("once")
        assert (job.exhausted, job.generation) == (False, 2)
        assert len(once.timers(generation=2)) == 1

    def test_B8_an_edit_of_other_things_leaves_it_completed(self, once):
        once.put("once", {"at": "2026-03-01T12:30:00Z"}, description="done")
        assert once.job("once").exhausted is True
        assert once.timers(generation=2) == []

    def test_B8_pause_resume_and_delete_work(self, once):
        once.pause("once")
        once.clock.advance(hours=1)
        once.resume("once")
        job = once.job("once")
        assert (job.state, job.exhausted, job.generation) == (JobState.ACTIVE, True, 3)
        assert once.timers(generation=3) == []
        assert isinstance(once.delete("once"), Swept)

    def test_B8_a_claim_that_marks_the_old_generation_does_not_mark_the_new_one(self):
        """The claim's mark comes between the edit's read and its write; neither is lost."""
        registry = Registry.at("2026-03-01T12:00:00Z")
        registry.put("once", {"at": "2026-03-01T12:30:00Z"})
        uid = registry.job("once").uid

        class Between:
            def __getattr__(self, name):
                return getattr(registry.store, name)

            def transact(self, actions, token=None):
                exhausting = Update(key=keys.job(uid), set={"exhausted": True}, condition=equals("gen", 1))
                registry.store.write(exhausting)
                return registry.store.transact(actions, token)

        registry.through(Between()).put("once", {"at": "2026-03-01T15:00:00Z"})
        job = registry.job("once")
        assert (job.generation, job.exhausted) == (2, False)


def test_a_dry_run_of_a_pause_writes_nothing(registry):
    assert isinstance(registry.pause("hourly", dry_run=True), Would)
    assert registry.job("hourly").state is JobState.ACTIVE
