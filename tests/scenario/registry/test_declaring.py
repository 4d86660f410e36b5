from __future__ import annotations

import pytest

from fencepost.application import keys
from fencepost.application.registry.commit import Done
from fencepost.application.registry.drafts import JobDraft
from fencepost.application.registry.jobs import Unchanged, Would
from fencepost.application.registry.results import Conflict, Missing, OverLimit
from fencepost.application.store import Table
from fencepost.domain.faults import Fault, Faults
from fencepost.domain.instants import from_wire, to_wire
from fencepost.domain.model import Team, Tier
from fencepost.domain.states import JobState, Reason
from tests.support.registry import NINE, OWNER, WEBHOOK, Registry


@pytest.fixture
def registry():
    return Registry.at("2026-03-01T12:00:00Z")


def test_a_new_job_its_name_its_first_timer_and_its_audit_entry_come_together(registry):
    done = registry.put("nightly", payload=b'{"a":1}')

    assert isinstance(done, Done)
    job = registry.job("nightly")
    assert (job.revision, job.generation, job.state, job.exhausted) == (1, 1, JobState.ACTIVE, False)
    [timer] = registry.timers()
    assert to_wire(timer.instant) == "2026-03-02T08:00:00.000Z"
    assert (timer.uid, timer.generation, timer.ordinal) == (job.uid, 1, 1)
    [entry] = registry.entries(job.uid)
    assert (entry.what, entry.actor, entry.before) == ("create", OWNER.principal, None)
    assert entry.after["schedule"]["cron"] == "0 9 * * *"
    assert registry.current("nightly").detail.payload == b'{"a":1}'


def test_the_same_declaration_again_changes_nothing(registry):
    registry.put("nightly")
    again = registry.put("nightly")

    assert isinstance(again, Unchanged)
    assert registry.job("nightly").revision == 1
    assert len(registry.timers()) == 1


def test_B12_an_equal_schedule_in_other_words_keeps_the_generation(registry):
    registry.put("nightly", {"cron": "0 9 * * 1-5"})
    registry.put("nightly", {"cron": "0 9 * * MON-FRI"})

    job = registry.job("nightly")
    assert (job.revision, job.generation, job.schedule.text) == (2, 1, "0 9 * * MON-FRI")
    assert len(registry.timers()) == 1


def test_what_does_not_change_when_it_fires_keeps_the_generation(registry):
    registry.put("nightly")
    registry.put("nightly", payload=b"[1]", tier=Tier.CRITICAL, description="new")

    job = registry.job("nightly")
    assert (job.revision, job.generation, job.tier) == (2, 1, Tier.CRITICAL)
    assert registry.ended(job.uid, 1) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"cron": "0 10 * * *", "timezone": "Europe/Berlin"},
        {"cron": "0 9 * * *", "timezone": "Europe/London"},
        {"cron": "0 9 * * *", "timezone": "Europe/Berlin", "dst": {"gap": "skip"}},
    ],
    ids=["expression", "zone", "dst policy"],
)
def test_B3_another_schedule_ends_the_generation_at_the_instant_of_the_change(registry, changed):
    registry.put("nightly")
    registry.clock.advance(hours=1, milliseconds=7)
    registry.put("nightly", changed)

    job = registry.job("nightly")
    assert (job.generation, job.ended_by) == (2, Reason.SUPERSEDED)
    assert job.ended_until == from_wire("2026-03-01T13:00:00.007Z")
    ended = registry.ended(job.uid, 1)
    assert (ended.until, ended.ended_by) == (job.ended_until, Reason.SUPERSEDED)
    assert ended.schedule.timezone == "Europe/Berlin"
    assert len(registry.timers(generation=1)) == 1
    assert len(registry.timers(generation=2)) == 1


def test_E01_an_edit_never_makes_a_job_run_at_once(registry):
    """The new expression matches the very instant of the edit: the next occurrence is strictly later."""
    registry.put("nightly", {"cron": "0 3 * * *"})
    registry.clock.set("2026-03-02T09:00:00Z")
    registry.put("nightly", {"cron": "0 9 * * *"})

    [timer] = registry.timers(generation=2)
    assert to_wire(timer.instant) == "2026-03-03T09:00:00.000Z"
    assert registry.claimed == []


def test_B9_a_timer_inside_the_horizon_is_claimed_before_the_answer(registry):
    registry.put("soon", {"at": "2026-03-01T12:00:15Z"})

    [timer] = registry.claimed
    assert to_wire(timer.instant) == "2026-03-01T12:00:15.000Z"


def test_B9_a_timer_beyond_the_horizon_is_left_to_the_scan(registry):
    registry.put("later", {"at": "2026-03-01T12:03:01Z"})
    assert registry.claimed == []


def test_B12_an_instant_in_the_past_is_refused(registry):
    with pytest.raises(Faults) as refused:
        registry.put("past", {"at": "2026-03-01T11:59:59Z"})
    assert [fault.field for fault in refused.value.faults] == ["schedule.at"]
    assert registry.store.everything(Table.JOBS)[0]["pk"] == "T#payments"


def test_a_one_off_that_is_over_may_still_be_declared_with_the_same_instant(registry):
    registry.put("once", {"at": "2026-03-01T13:00:00Z"})
    registry.clock.advance(days=2)
    assert isinstance(registry.put("once", {"at": "2026-03-01T13:00:00Z"}, payload=b"2"), Done)
    assert registry.job("once").generation == 1


def test_all_faults_are_told_at_once(registry):
    draft = JobDraft(
        schedule={"cron": "0 9 * *", "timezone": "Europe/Berlim"},
        target={"webhook": {"url": "http://169.254.169.254/"}},
        payload=b"x" * (256 * 1024 + 1),
        faults=(Fault(field="labelz", value=1, rule="unknown field", suggestion="labels"),),
    )
    with pytest.raises(Faults) as refused:
        registry.put("bad", draft=draft)
    fields = {fault.field for fault in refused.value.faults}
    assert {"labelz", "payload", "schedule.cron", "schedule.timezone", "target.webhook.url"} <= fields


def test_a_tier_that_the_team_may_not_use_is_refused(registry):
    registry.team(Team(name="payments", tiers=(Tier.STANDARD, Tier.BULK)))
    with pytest.raises(Faults, match="tier"):
        registry.put("nightly", tier=Tier.CRITICAL)


def test_a_job_of_no_team_is_not_made(registry):
    registry.store.batch_delete([keys.team("payments")])
    assert registry.put("nightly") == Missing("team", "payments")


def test_the_limit_of_jobs_is_exact_where_it_refuses(registry):
    registry.team(Team(name="payments", max_jobs=2))
    registry.put("a")
    registry.put("b")
    assert registry.put("c") == OverLimit("max_jobs", 3, 2)
    registry.delete("a")
    assert isinstance(registry.put("c"), Done)


class TestIfMatch:
    def test_a_writer_who_saw_an_older_revision_loses(self, registry):
        registry.put("nightly")
        registry.put("nightly", payload=b"1")
        assert registry.put("nightly", payload=b"2", expected=1) == Conflict(
            revision=2, expected=1, uid=registry.job("nightly").uid
        )
        assert registry.current("nightly").detail.payload == b"1"

    def test_a_writer_who_saw_the_current_one_wins(self, registry):
        registry.put("nightly")
        assert isinstance(registry.put("nightly", payload=b"2", expected=1), Done)

    def test_only_if_absent(self, registry):
        registry.put("nightly")
        assert registry.put("nightly", absent=True) == Conflict(
            revision=1, expected=0, uid=registry.job("nightly").uid
        )
        assert isinstance(registry.put("other", absent=True), Done)

    def test_a_name_that_is_gone(self, registry):
        assert registry.put("nightly", expected=3) == Conflict(revision=None, expected=3)


def test_a_dry_run_writes_nothing(registry):
    registry.put("nightly")
    before = registry.store.everything(Table.JOBS)
    would = registry.put("nightly", {"cron": "0 10 * * *"}, dry_run=True)

    assert isinstance(would, Would)
    assert would.change.job.generation == 2
    assert registry.store.everything(Table.JOBS) == before
    assert len(registry.timers()) == 1


def test_T10_an_unknown_zone_is_refused_with_a_near_one(registry):
    with pytest.raises(Faults) as refused:
        registry.put("nightly", {"cron": "0 9 * * *", "timezone": "Europe/Berlim"})
    [fault] = refused.value.faults
    assert fault.suggestion is not None
    assert "Europe/Berlin" in fault.suggestion


def test_an_older_target_is_found_again_under_its_digest(registry):
    registry.put("nightly")
    first = registry.job("nightly").detail
    registry.put("nightly", payload=b"1")
    registry.put("nightly", NINE, target=WEBHOOK)
    assert registry.job("nightly").detail == first
