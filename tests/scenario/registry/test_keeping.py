"""What jobs do by themselves: pauses that end, pauses after deaths, deletes after the last firing."""

from __future__ import annotations

import pytest

from fencepost.application import keys
from fencepost.application.codec import UndecodableError
from fencepost.application.errands.errand import waiting
from fencepost.application.registry import expiry, reading
from fencepost.application.registry.aftermath import Aftermath
from fencepost.application.registry.expiry import Expiry
from fencepost.application.registry.reading import find_job, find_team
from fencepost.application.registry.views import coming
from fencepost.application.scanning.plan import exhausted
from fencepost.application.store import Put, StoreBusyError, Table
from fencepost.domain.instants import from_wire, to_wire
from fencepost.domain.model import Team, Tier
from fencepost.domain.states import ExecutionState, JobState, Reason
from tests.support.registry import Beside, Registry

HOURLY = {"cron": "0 * * * *"}


@pytest.fixture
def registry():
    made = Registry.at("2026-03-01T12:00:00Z")
    made.put("hourly", HOURLY)
    return made


class TestExpiry:
    @pytest.fixture(autouse=True)
    def paused(self, registry):
        registry.pause("hourly", until=from_wire("2026-03-01T15:00:00Z"))

    def run(self, registry, at):
        registry.clock.set(at)
        return Expiry(ports=registry.ports).run(registry.clock.now())

    def test_the_first_tick_after_its_end_ends_it(self, registry):
        assert self.run(registry, "2026-03-01T14:59:40Z") == 0
        assert registry.job("hourly").state is JobState.PAUSED
        assert self.run(registry, "2026-03-01T15:00:40Z") == 1
        job = registry.job("hourly")
        assert (job.state, job.paused_until, job.ended_by) == (JobState.ACTIVE, None, Reason.SUPERSEDED)
        entry = registry.entries(job.uid)[0]
        assert (entry.what, entry.actor, entry.note) == ("resume", "fencepost", "the pause expired")

    def test_it_ends_though_its_job_is_edited_at_that_very_moment(self, registry):
        edited: list[object] = []

        class Edits(Beside):
            def get(self, key):
                item = self.store.get(key)
                if key == keys.job(uid) and not edited:
                    edited.append(registry.put("hourly", HOURLY, tier=Tier.BULK))
                return item

        uid = registry.job("hourly").uid
        registry.clock.set("2026-03-01T15:00:40Z")
        beside = registry.through(Edits(registry.store))
        assert Expiry(ports=beside.ports).run(registry.clock.now()) == 1
        job = registry.job("hourly")
        assert (job.state, job.tier, job.revision) == (JobState.ACTIVE, Tier.BULK, 4)

    def test_a_job_that_has_the_name_by_now_stays_paused(self, registry):
        recreated: list[object] = []

        class Recreates(Beside):
            def get(self, key):
                item = self.store.get(key)
                if key == keys.job(uid) and not recreated:
                    recreated.append(registry.delete("hourly"))
                    registry.put("hourly", HOURLY)
                    registry.pause("hourly")
                return item

        uid = registry.job("hourly").uid
        registry.clock.set("2026-03-01T15:00:40Z")
        beside = registry.through(Recreates(registry.store))
        assert Expiry(ports=beside.ports).run(registry.clock.now()) == 0
        job = registry.job("hourly")
        assert (job.uid != uid, job.state, job.revision) == (True, JobState.PAUSED, 2)

    def test_what_is_due_at_its_end_fires_and_what_was_before_is_one_range(self, registry):
        self.run(registry, "2026-03-01T15:00:40Z")
        job = registry.job("hourly")
        [timer] = registry.timers(generation=job.generation)
        assert to_wire(timer.instant) == "2026-03-01T15:00:00.000Z"
        assert to_wire(timer.bucket.minute) == "2026-03-01T15:00:00.000Z"
        assert registry.claimed == [timer]
        [span] = registry.records(job.uid)
        assert (to_wire(span.due), to_wire(span.until)) == (
            "2026-03-01T13:00:00.000Z",
            "2026-03-01T14:00:00.000Z",
        )

    def test_ticks_that_were_missing_cost_nothing_but_time(self, registry):
        """What fell due since the end of the pause belongs to the misfire policy: the timer lies in the past."""
        self.run(registry, "2026-03-01T12:30:30Z")
        assert self.run(registry, "2026-03-01T18:20:00Z") == 1
        [timer] = registry.timers(generation=registry.job("hourly").generation)
        assert to_wire(timer.instant) == "2026-03-01T15:00:00.000Z"
        assert to_wire(timer.bucket.minute) == "2026-03-01T18:20:00.000Z"

    def test_ticks_that_are_doubled_end_it_once(self, registry):
        self.run(registry, "2026-03-01T15:00:40Z")
        assert Expiry(ports=registry.ports).run(registry.clock.now()) == 0
        assert registry.job("hourly").revision == 3

    def test_a_pause_that_was_made_anew_is_not_ended_by_the_old_one(self, registry):
        registry.resume("hourly")
        registry.pause("hourly")
        assert self.run(registry, "2026-03-01T15:00:40Z") == 0
        assert registry.job("hourly").state is JobState.PAUSED

    def test_a_deleted_job_stays_deleted(self, registry):
        registry.delete("hourly")
        assert self.run(registry, "2026-03-01T15:00:40Z") == 0

    def test_an_edit_meanwhile_keeps_the_end(self, registry):
        registry.put("hourly", {"cron": "30 * * * *"})
        assert self.run(registry, "2026-03-01T15:00:40Z") == 1
        [timer] = registry.timers(generation=registry.job("hourly").generation)
        assert to_wire(timer.instant) == "2026-03-01T15:30:00.000Z"

    def test_next_is_shown_from_its_end_on(self, registry):
        ahead = coming(registry.store, registry.job("hourly"), registry.clock.now())
        assert to_wire(ahead[0].at) == "2026-03-01T15:00:00.000Z"

    def test_the_agenda_is_empty_afterwards(self, registry):
        self.run(registry, "2026-03-01T15:00:40Z")
        left = [item for item in registry.store.everything(Table.CONTROL) if item["pk"].startswith("A#")]
        assert left == []

    def test_a_run_that_fails_is_made_up_by_the_next(self, registry):
        class Busy:
            def __getattr__(self, name):
                return getattr(registry.store, name)

            def transact(self, actions, token=None):
                raise StoreBusyError("throttled")

        registry.clock.set("2026-03-01T15:00:10Z")
        with pytest.raises(StoreBusyError):
            Expiry(ports=registry.through(Busy()).ports).run(registry.clock.now())
        assert self.run(registry, "2026-03-01T15:01:10Z") == 1

    @pytest.mark.parametrize(
        "read", [UndecodableError("garbled"), StoreBusyError("throttled"), LookupError("no detail")]
    )
    def test_R10_one_that_cannot_be_resumed_now_holds_up_no_other_and_is_tried_again(
        self, registry, monkeypatch, read
    ):
        registry.put("other", HOURLY)
        registry.pause("other", until=from_wire("2026-03-01T15:00:00Z"))
        registry.put("later", HOURLY)
        registry.pause("later", until=from_wire("2026-03-01T15:03:00Z"))
        broken, real = registry.job("hourly").uid, reading.job_by_uid

        def job_by_uid(store, uid):
            if uid == broken:
                raise read
            return real(store, uid)

        monkeypatch.setattr(expiry, "job_by_uid", job_by_uid)
        assert self.run(registry, "2026-03-01T15:00:40Z") == 1
        assert registry.job("other").state is JobState.ACTIVE
        for minute in range(1, 12):
            self.run(registry, f"2026-03-01T15:{minute:02}:40Z")
        assert registry.job("later").state is JobState.ACTIVE
        assert registry.job("hourly").state is JobState.PAUSED
        monkeypatch.setattr(expiry, "job_by_uid", real)
        assert sum(self.run(registry, f"2026-03-01T16:{minute:02}:40Z") for minute in range(4)) == 1
        assert registry.job("hourly").state is JobState.ACTIVE

    def test_it_ends_later_where_the_team_has_no_room_for_its_firings_now(self, registry):
        registry.team(Team(name="payments", max_daily_firings=1))
        assert self.run(registry, "2026-03-01T15:00:40Z") == 0
        assert self.run(registry, "2026-03-01T16:00:40Z") == 0
        assert registry.job("hourly").state is JobState.PAUSED
        registry.team(Team(name="payments"))
        assert self.run(registry, "2026-03-01T17:00:40Z") == 1
        job = registry.job("hourly")
        assert (job.state, job.ended_until) == (JobState.ACTIVE, from_wire("2026-03-01T14:59:59.999Z"))

    def test_R10_an_entry_that_nobody_understands_holds_up_no_other(self, registry):
        key = keys.agenda(from_wire("2026-03-01T15:00:00Z"), "?", 0)
        registry.store.write(Put(key=key, item={"v": 1, "until": "soon"}))
        assert self.run(registry, "2026-03-01T15:00:40Z") == 1
        assert registry.store.get(key) is None


class EditsOf(Beside):
    """Right after the job was read by whoever keeps it, its owner edits it."""

    def __init__(self, store, edit, job, times):
        super().__init__(store)
        self.edit, self.job, self.left, self.reads = edit, job, times, 0

    def get(self, key):
        item = self.store.get(key)
        if key == keys.job(self.job.uid):
            self.reads += 1
            if self.left and self.reads % 2:  # it is read again by the write itself
                self.left -= 1
                self.edit(self.left)
        return item


def after(number):
    return {"pause_after_dead": 1, "tier": (Tier.BULK, Tier.CRITICAL)[number % 2]}


class TestAftermath:
    def settle(self, registry, record):
        job = find_job(registry.store, "payments", "hourly")
        team = find_team(registry.store, "payments")
        assert job is not None
        assert team is not None
        Aftermath(ports=registry.ports).settled(record, team, job)

    def fire(self, registry, hour, state):
        job = registry.job("hourly")
        record = registry.execution(job, f"2026-03-01T{hour}:00:00Z", state, fence=1)
        self.settle(registry, record)
        return record

    def test_so_many_deaths_in_a_row_pause_the_job_and_tell_the_team(self, registry):
        registry.put("hourly", HOURLY, pause_after_dead=2)
        self.fire(registry, 13, ExecutionState.DEAD)
        self.fire(registry, 14, ExecutionState.SUCCEEDED)
        self.fire(registry, 15, ExecutionState.DEAD)
        assert registry.job("hourly").state is JobState.ACTIVE
        record = self.fire(registry, 16, ExecutionState.DEAD)

        job = registry.job("hourly")
        assert (job.state, job.state_reason) == (JobState.PAUSED, "2 firings in a row ended dead")
        [errand] = waiting(registry.store)
        notice = registry.store.get(errand.key)["notice"]
        assert (notice["kind"], notice["reason"]) == ("paused", "2 firings in a row ended dead")
        self.settle(registry, record)
        assert list(waiting(registry.store)) == [errand]
        assert registry.job("hourly").revision == job.revision

    def test_after_a_resume_the_count_begins_anew(self, registry):
        registry.put("hourly", HOURLY, pause_after_dead=2)
        self.fire(registry, 13, ExecutionState.DEAD)
        self.fire(registry, 14, ExecutionState.DEAD)
        registry.resume("hourly")
        self.fire(registry, 15, ExecutionState.DEAD)
        assert registry.job("hourly").state is JobState.ACTIVE

    def test_skipped_ones_neither_count_nor_interrupt(self, registry):
        registry.put("hourly", HOURLY, pause_after_dead=2)
        self.fire(registry, 13, ExecutionState.DEAD)
        registry.execution(registry.job("hourly"), "2026-03-01T14:00:00Z", ExecutionState.SKIPPED)
        self.fire(registry, 15, ExecutionState.DEAD)
        assert registry.job("hourly").state is JobState.PAUSED

    @pytest.mark.parametrize("edits", [1, 2])
    def test_the_job_pauses_though_it_is_edited_at_that_very_moment(self, registry, edits):
        registry.put("hourly", HOURLY, pause_after_dead=1)
        team, job = Team(name="payments"), registry.job("hourly")
        record = registry.execution(job, "2026-03-01T13:00:00Z", ExecutionState.DEAD, fence=1)
        beside = EditsOf(registry.store, lambda n: registry.put("hourly", HOURLY, **after(n)), job, edits)
        Aftermath(ports=registry.through(beside).ports).settled(record, team, job)
        assert registry.job("hourly").state is JobState.PAUSED

    def test_a_job_whose_last_firing_is_over_goes_though_it_is_edited_at_that_very_moment(self, registry):
        once = {"at": "2026-03-01T13:00:00Z"}
        registry.put("once", once, delete_after_completion=True)
        team, job = Team(name="payments"), registry.job("once")
        registry.store.write(exhausted(job))
        job = registry.job("once")
        record = registry.execution(job, "2026-03-01T13:00:00Z", ExecutionState.SUCCEEDED, fence=1)
        edit = {"tier": Tier.BULK, "delete_after_completion": True}
        beside = EditsOf(registry.store, lambda _: registry.put("once", once, **edit), job, 1)
        Aftermath(ports=registry.through(beside).ports).settled(record, team, job)
        assert find_job(registry.store, "payments", "once") is None

    def test_a_job_goes_after_its_last_firing_though_that_died_and_deaths_would_pause_it(self, registry):
        """One death is not yet what pauses it, and no other firing follows."""
        once = {"at": "2026-03-01T13:00:00Z"}
        registry.put("once", once, delete_after_completion=True, pause_after_dead=2)
        registry.store.write(exhausted(registry.job("once")))
        job = registry.job("once")
        record = registry.execution(job, "2026-03-01T13:00:00Z", ExecutionState.DEAD, fence=1)
        Aftermath(ports=registry.ports).settled(record, Team(name="payments"), job)
        assert find_job(registry.store, "payments", "once") is None

    @pytest.mark.parametrize("wants", [{"delete_after_completion": True}, {"pause_after_dead": 1}])
    def test_a_job_that_has_the_name_by_now_is_left_alone(self, registry, wants):
        """Its revision is the same number."""
        once = {"at": "2026-03-01T13:00:00Z"}
        registry.put("once", once, **wants)
        registry.store.write(exhausted(registry.job("once")))
        job = registry.job("once")
        record = registry.execution(job, "2026-03-01T13:00:00Z", ExecutionState.DEAD, fence=1)

        def recreate(_):
            registry.delete("once")
            registry.put("once", {"at": "2026-03-01T18:00:00Z"}, **wants)

        beside = EditsOf(registry.store, recreate, job, 1)
        Aftermath(ports=registry.through(beside).ports).settled(record, Team(name="payments"), job)
        later = find_job(registry.store, "payments", "once")
        assert later is not None
        assert (later.uid != job.uid, later.state, later.revision) == (True, JobState.ACTIVE, 1)

    def test_what_its_owner_came_to_want_during_the_last_run_counts(self, registry):
        once = {"at": "2026-03-01T13:00:00Z"}
        registry.put("once", once)
        registry.store.write(exhausted(registry.job("once")))
        before = registry.job("once")
        record = registry.execution(before, "2026-03-01T13:00:00Z", ExecutionState.SUCCEEDED, fence=1)
        registry.put("once", once, delete_after_completion=True)
        assert registry.job("once").generation == before.generation
        Aftermath(ports=registry.ports).settled(record, Team(name="payments"), before)
        assert find_job(registry.store, "payments", "once") is None

    def test_a_pause_after_deaths_that_was_asked_for_during_the_run_counts(self, registry):
        before = registry.job("hourly")
        record = registry.execution(before, "2026-03-01T13:00:00Z", ExecutionState.DEAD, fence=1)
        registry.put("hourly", HOURLY, pause_after_dead=1)
        Aftermath(ports=registry.ports).settled(record, Team(name="payments"), before)
        assert registry.job("hourly").state is JobState.PAUSED

    def test_where_others_keep_changing_the_job_the_firings_message_comes_again(self, registry):
        registry.put("hourly", HOURLY, pause_after_dead=1)
        team, job = Team(name="payments"), registry.job("hourly")
        record = registry.execution(job, "2026-03-01T13:00:00Z", ExecutionState.DEAD, fence=1)
        beside = EditsOf(registry.store, lambda n: registry.put("hourly", HOURLY, **after(n)), job, 99)
        with pytest.raises(StoreBusyError):
            Aftermath(ports=registry.through(beside).ports).settled(record, team, job)

    def test_a_job_that_did_not_ask_is_left_alone(self, registry):
        for hour in (13, 14, 15):
            self.fire(registry, hour, ExecutionState.DEAD)
        assert registry.job("hourly").state is JobState.ACTIVE
