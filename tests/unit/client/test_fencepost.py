"""The client over the API's real handler: jobs, executions, dead letters, teams, previews."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from fencepost.client import (
    BulkItem,
    ChangedError,
    ConfigurationError,
    ConflictError,
    Fencepost,
    LeaseLostError,
    NotAllowedError,
    NotFoundError,
    after,
    at,
    cron,
    every,
    webhook,
)
from fencepost.domain.outcome import Accepted
from tests.support.api import OWNER_ROLE, Front
from tests.support.clients import InProcess, Machine, client
from tests.support.world import BROKEN

HOOK = webhook("https://example.com/hook")


@pytest.fixture
def front() -> Front:
    return Front.at("2026-03-01T12:00:00Z")


@pytest.fixture
def payments(front: Front) -> Fencepost:
    return client(front)


def utc(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> datetime:
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


def test_a_job_is_declared_read_changed_and_deleted(payments):
    job = payments.job("nightly")
    made = job.put(schedule=cron("30 2 * * *", "Europe/Berlin"), target=HOOK, labels={"app": "ledger"})
    same = job.put(schedule=cron("30 2 * * *", "Europe/Berlin"), target=HOOK, labels={"app": "ledger"})
    changed = job.patch(tier="critical", if_revision=made.revision)
    gone = job.delete()

    assert (made.name, made.state) == ("nightly", "ACTIVE")
    assert made.says.startswith("at 02:30 every day, Europe/Berlin time")
    assert made.next[0].at == utc(2026, 3, 2, 1, 30)
    assert made.next[0].local == "2026-03-02T02:30:00+01:00"
    assert same.revision == made.revision
    assert (changed.tier, changed.schedule) == ("critical", made.schedule)
    assert [entry.what for entry in payments.job(f"~{gone.uid}").history()][-1] == "create"
    with pytest.raises(NotFoundError):
        job.get()


def test_a_write_that_names_an_older_revision_is_refused(payments):
    job = payments.job("nightly")
    job.put(schedule=cron("30 2 * * *"), target=HOOK)
    job.patch(description="the ledger")

    with pytest.raises(ChangedError, match="revision 2"):
        job.patch(description="something else", if_revision=1)
    with pytest.raises(ChangedError):
        job.delete(if_revision=1)


def test_a_write_that_names_a_job_does_not_touch_a_later_one_of_its_name(payments):
    job = payments.job("nightly")
    seen = job.put(schedule=cron("30 2 * * *"), target=HOOK)
    job.delete()
    namesake = job.put(schedule=cron("30 2 * * *"), target=HOOK)

    assert namesake.revision == seen.revision
    with pytest.raises(ChangedError):
        job.patch(tier="critical", if_revision=seen)
    with pytest.raises(ChangedError):
        job.delete(if_revision=seen)
    assert job.patch(tier="critical", if_revision=namesake).tier == "critical"


def test_dry_runs_tell_what_would_change_and_change_nothing(payments):
    job = payments.job("nightly")
    put = {"schedule": cron("30 2 * * *"), "target": HOOK}

    created = job.would_put(**put)
    with pytest.raises(NotFoundError):
        job.get()
    job.put(**put)

    moved = job.would_patch(schedule=cron("45 2 * * *"))
    paused, deleted = job.would_pause(), job.would_delete()

    assert created.before is None
    assert created.next_after[0].at == utc(2026, 3, 2, 2, 30)
    assert (moved.next_before[0].at, moved.next_after[0].at) == (
        utc(2026, 3, 2, 2, 30),
        utc(2026, 3, 2, 2, 45),
    )
    assert paused.after["state"] == "PAUSED"
    assert deleted.next_after == ()
    assert job.get().revision == 1


def test_pause_and_resume(payments):
    job = payments.job("nightly")
    job.put(schedule=cron("30 2 * * *"), target=HOOK)

    paused = job.pause("the ledger is being repaired", until=utc(2026, 3, 5))
    assert job.would_resume().after["state"] == "ACTIVE"
    resumed = job.resume("done")

    assert (paused.state, paused.paused_until) == ("PAUSED", utc(2026, 3, 5))
    assert resumed.state == "ACTIVE"
    assert [entry.note for entry in job.history()][:2] == ["done", "the ledger is being repaired"]


def test_lists_go_on_over_all_pages(payments):
    for number in range(130):
        payments.job(f"job-{number:03}").put(schedule=every(timedelta(hours=1)), target=HOOK, tier="bulk")
    payments.job("other").put(schedule=every("PT1H"), target=HOOK, labels={"app": "ledger"})

    assert len(list(payments.jobs())) == 131
    assert len(list(payments.jobs(tier="bulk"))) == 130
    assert [job.name for job in payments.jobs(labels={"app": "ledger"})] == ["other"]
    assert [job.name for job in payments.jobs(prefix="job-12", state="ACTIVE")][-1] == "job-129"
    assert list(payments.jobs(due_from=utc(2026, 3, 2), due_before=utc(2026, 3, 3))) == []


def test_pages_are_fetched_as_they_are_needed(front):
    wire = InProcess(front)
    payments = client(front, transport=wire)
    payments.job("report").put(schedule=cron("0 9 * * *"), target=HOOK)
    for number in range(5):
        payments.job("report").run(key=f"run-{number}")
    asked = len(wire.requests)

    records = payments.job("report").executions(page_size=2)
    next(records)
    assert len(wire.requests) == asked + 1
    assert len(list(records)) == 4
    assert len(wire.requests) == asked + 3


def test_a_firing_is_explained(front, payments):
    job = payments.job("report")
    job.put(schedule=at(utc(2026, 3, 1, 12, 2)), target=HOOK)
    Machine(front).run("2026-03-01T12:05:00Z")

    (record,) = job.executions(state="SUCCEEDED", since=utc(2026, 3, 1), before=utc(2026, 3, 2))
    why = job.why(utc(2026, 3, 1, 12, 2))

    assert why == record == payments.execution(record.id).get()
    assert record.finished
    assert record.attempts[0].status == 200
    assert record.lateness_ms is not None
    assert record.lateness_ms >= 0
    assert job.why(utc(2026, 3, 1, 11)) is None
    assert job.get().state == "COMPLETED"


def test_a_delay_is_kept_over_repetitions_of_the_same_request(front, payments):
    first = payments.job("once").put(schedule=after(timedelta(minutes=15)), target=HOOK, key="declared")
    front.clock.advance(minutes=1)
    again = payments.job("once").put(schedule=after(timedelta(minutes=15)), target=HOOK, key="declared")

    assert first.schedule == again.schedule == {"at": "2026-03-01T12:15:00.000Z"}


def test_dead_letters_are_listed_and_sent_again(front, payments):
    front.stage.targets.then = BROKEN
    for name in ("one", "two"):
        payments.job(name).put(schedule=at(utc(2026, 3, 1, 12, 2)), target=HOOK, retry={"max_attempts": 1})
    Machine(front).run("2026-03-01T12:05:00Z")
    dead = list(payments.dead_letters(page_size=1))

    sent = payments.execution(dead[0].id).redrive("the host is back")
    assert payments.execution(dead[0].id).redrive().raw == sent.raw, "what has not begun changes nothing"
    redriven = payments.redrive(limit=10)

    assert {each.job for each in dead} == {"one", "two"}
    assert redriven.redriven == (dead[1].id,)
    assert not redriven.more
    front.stage.targets.then = Accepted(status=202)


def test_a_worker_reports_under_its_fence(front, payments):
    front.stage.targets.then = Accepted(status=202)
    payments.job("import").put(schedule=at(utc(2026, 3, 1, 12, 2)), target=HOOK)
    Machine(front).run("2026-03-01T12:02:30Z")
    (record,) = payments.job("import").executions()
    work = payments.execution(record.id)

    beat = work.heartbeat(record.fence)
    with pytest.raises(LeaseLostError):
        work.complete(record.fence - 1)
    done = work.complete(record.fence, "1,200 rows")

    assert beat.lease_until is not None
    assert record.lease_until is not None
    assert beat.lease_until >= record.lease_until
    assert (done.state, done.attempts[-1].excerpt) == ("SUCCEEDED", "1,200 rows")
    with pytest.raises(LeaseLostError):
        work.fail(record.fence, "too late")


def test_a_worker_may_say_never_again(front, payments):
    front.stage.targets.then = Accepted(status=202)
    payments.job("import").put(schedule=at(utc(2026, 3, 1, 12, 2)), target=HOOK)
    Machine(front).run("2026-03-01T12:02:30Z")
    (record,) = payments.job("import").executions()

    assert payments.execution(record.id).fail(record.fence, "no such file", permanent=True).state == "DEAD"


def test_a_team_is_declared_by_an_administrator_and_tuned_by_its_own(front, payments):
    admin = client(front, by="AKIDADMIN")
    ops = admin.for_team("ops").put_team(max_concurrency=7, principals=[OWNER_ROLE])

    tuned = payments.for_team("ops").patch_team(notify_on=["dead", "late"], if_revision=ops.revision)

    assert (tuned.max_concurrency, tuned.notify_on) == (7, ("dead", "late"))
    assert payments.for_team("ops").get_team() == tuned
    assert [entry.what for entry in payments.for_team("ops").team_history()][-1] == "create"
    with pytest.raises(NotAllowedError):
        client(front, by="AKIDSTRANGER").get_team()


def test_many_jobs_go_in_one_call_each_for_itself(payments):
    payments.job("old").put(schedule=every("PT1H"), target=HOOK)
    job = {"schedule": every("PT1H"), "target": HOOK}

    results = payments.bulk(
        [
            BulkItem(name="new", job=job),
            BulkItem(name="old", revision=7),
            BulkItem(name="bad", job={**job, "tier": "gold"}),
            BulkItem(name="old"),
        ]
    )

    assert [(each.action, each.status, each.done) for each in results] == [
        ("put", 201, True),
        ("delete", 412, False),
        ("put", 422, False),
        ("delete", 200, True),
    ]
    assert isinstance(results[1].error, ChangedError)
    assert "tier" in str(results[2].error)
    assert results[0].error is None


def test_a_job_may_be_declared_only_where_there_is_none(payments):
    payments.job("a").put(schedule=every("PT1H"), target=HOOK, if_revision=0)

    with pytest.raises(ChangedError):
        payments.job("a").put(schedule=every("PT2H"), target=HOOK, if_revision=0)


def test_a_dry_run_of_what_is_already_so_finds_no_change(payments):
    payments.job("a").put(schedule=every("PT1H"), target=HOOK)

    change = payments.job("a").would_put(schedule=every("PT1H"), target=HOOK)

    assert change.before == change.after
    assert change.next_before == change.next_after != ()


def test_limits_are_read_with_their_use(payments):
    payments.job("a").put(schedule=every("PT1H"), target=HOOK)

    assert payments.limits().max_jobs.used == 1
    assert payments.limits().max_concurrency.limit == 50


def test_signing_keys_overlap(front, payments):
    first = payments.signing_keys.make(note="the first")
    second = payments.signing_keys.make("v1a")
    with pytest.raises(ConflictError):
        payments.signing_keys.drop(first.made.id)
    left = payments.signing_keys.drop(first.made.id, compromised=True)

    assert first.secret is not None
    assert first.secret.startswith("whsec_")
    assert first.secret not in repr(first)
    assert second.made.public is not None
    assert left.items == payments.signing_keys.list().items == (second.made,)
    rotated = payments.signing_keys.rotate()
    assert rotated.made.id in {key.id for key in rotated.items}


def test_a_schedule_is_previewed(payments):
    shown = payments.preview(
        cron("30 2 * * *", "Europe/Berlin"),
        after=utc(2026, 3, 28, 12),
        count=2,
        misfire={"policy": "catch_up"},
    )

    assert [(each.local, each.moved) for each in shown.occurrences] == [
        ("2026-03-29T03:00:00+02:00", "gap"),
        ("2026-03-30T02:30:00+02:00", None),
    ]
    assert shown.misfire["max_runs"] == 1000
    assert payments.health().shards == 4


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"endpoint": None}, "FENCEPOST_ENDPOINT"),
        ({"endpoint": "payments.example.com"}, "begins with https"),
        ({"team": None}, "FENCEPOST_TEAM"),
    ],
)
def test_what_is_not_known_is_said_before_anything_is_sent(front, monkeypatch, changes, says):
    monkeypatch.delenv("FENCEPOST_ENDPOINT", raising=False)
    monkeypatch.delenv("FENCEPOST_TEAM", raising=False)
    wire = InProcess(front)
    known = client(front)
    given = {"endpoint": known.endpoint, "team": "payments", "keys": known.keys, "transport": wire, **changes}

    with pytest.raises(ConfigurationError, match=says):
        list(Fencepost(**given).jobs())

    assert wire.requests == []


@pytest.mark.parametrize("name", ["FENCEPOST_ENDPOINT", "FENCEPOST_TEAM"])
@pytest.mark.parametrize("blank", ["", "  "])
def test_a_blank_variable_is_as_if_it_were_not_set(front, monkeypatch, name, blank):
    wire = InProcess(front)
    known = client(front, transport=wire)
    monkeypatch.setenv("FENCEPOST_ENDPOINT", known.endpoint)
    monkeypatch.setenv("FENCEPOST_TEAM", "payments")
    monkeypatch.setenv(name, blank)

    with pytest.raises(ConfigurationError, match=f"set {name}"):
        Fencepost(keys=known.keys, transport=wire).get_team()

    assert wire.requests == []


def test_endpoint_and_team_come_from_the_environment(front, monkeypatch):
    known = client(front)
    monkeypatch.setenv("FENCEPOST_ENDPOINT", f"{known.endpoint}/v1/")
    monkeypatch.setenv("FENCEPOST_TEAM", "payments")

    assert Fencepost(keys=known.keys, transport=InProcess(front)).get_team().name == "payments"
