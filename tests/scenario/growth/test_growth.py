"""History does not grow for ever: what goes when, what stays, and that an audit can tell the two apart."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from fencepost.application import keys
from fencepost.application.codec import decode_execution
from fencepost.application.codec_job import decode_team
from fencepost.application.store import Delete, Key, Table
from fencepost.domain.auditing.findings import FindingKind
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import to_ms, to_wire
from fencepost.domain.keeping import FLOOR, NEWEST, kept_one_in, success_kept_until
from fencepost.domain.model import Execution, Job, Origin, Team, Tier
from fencepost.domain.schedule import occurrences, parse_schedule
from fencepost.domain.states import FINAL, ExecutionState, JobState
from tests.support.api import ADMIN, Front
from tests.support.audits import Past
from tests.support.world import BROKEN, OK

DAY = timedelta(days=1)
MIDNIGHT = datetime(2026, 3, 1, tzinfo=UTC)
UID = "reportaaaaaaaaaaaaaa"
MINUTELY = {"cron": "* * * * *"}
HOURLY = {"cron": "0 * * * *"}
DAILY = {"cron": "30 2 * * *", "timezone": "Europe/Berlin"}
WEEKDAYS = {"cron": "0 9,17 * * 1-5", "timezone": "America/New_York"}
SIX_HOURS = {"every": "PT6H"}


def job_of(schedule, **facts):
    job = Job(
        team="payments",
        name="report",
        uid=UID,
        revision=1,
        generation=1,
        state=JobState.ACTIVE,
        schedule=parse_schedule(schedule, now=MIDNIGHT),
        detail="d",
        created_at=MIDNIGHT,
        updated_at=MIDNIGHT,
    )
    return replace(job, **facts)


def success(due, ordinal=1):
    return Execution(
        id=ExecutionId.occurrence(UID, due),
        team="payments",
        job="report",
        state=ExecutionState.RUNNING,
        origin=Origin.SCHEDULE,
        tier=Tier.STANDARD,
        due=due,
        generation=1,
        planted_generation=1,
        ordinal=ordinal,
        claimed_at=due,
    )


def life(job, team, days):
    """Every success of `days` days: when it was due, and when its record goes."""
    made: list[tuple[datetime, datetime]] = []
    for ordinal, due in enumerate(occurrences(job.schedule, MIDNIGHT), 1):
        if due > MIDNIGHT + days * DAY:
            return made
        ended = due + timedelta(seconds=1)
        until = success_kept_until(success(due, ordinal), ended, ended + team.retention, team, job)
        made.append((due, until))
    return made


def alive(made, now):
    return [due for due, until in made if due <= now < until]


TEAM = Team(name="payments")


@pytest.mark.parametrize("newest", [1, 7, 40])
@pytest.mark.parametrize("schedule", [HOURLY, DAILY, WEEKDAYS, SIX_HOURS])
def test_F03_the_newest_of_a_job_are_always_there(schedule, newest):
    """Over three months, clocks changing in both zones: at any time the newest ones of the retention, and everything of
    two days."""
    made = life(job_of(schedule, keep_newest=newest), TEAM, 90)
    for hour in range(35 * 24, 90 * 24, 7):
        now = MIDNIGHT + hour * timedelta(hours=1)
        past = [due for due, _ in made if now - TEAM.retention < due <= now]
        wanted = set(past[-newest:]) | {due for due in past if due > now - FLOOR}
        assert wanted <= set(alive(made, now))


@pytest.mark.parametrize(
    ("schedule", "newest", "most"),
    [(HOURLY, 20, 73), (DAILY, 7, 10), (WEEKDAYS, 10, 18), (SIX_HOURS, 12, 13)],
)
def test_F03_and_not_many_more_than_these(schedule, newest, most):
    """`most`: two days of them and what whole days of counting leave over. Without the limit a month's would be there."""
    made = life(job_of(schedule, keep_newest=newest), TEAM, 90)
    counts = [len(alive(made, MIDNIGHT + hour * timedelta(hours=1))) for hour in range(35 * 24, 90 * 24, 5)]
    assert newest <= max(counts) <= most
    whole = life(job_of(schedule), TEAM, 90)
    assert len(alive(whole, MIDNIGHT + 80 * DAY)) > most


def test_F03_a_burst_lives_for_two_days():
    """A firing a minute, of which the owner wants a thousand: the day's are there, the month's are not."""
    made = life(job_of(MINUTELY, keep_newest=1000), TEAM, 4)
    assert {until - due for due, until in made} == {FLOOR + timedelta(seconds=1)}


@pytest.mark.parametrize("state", [JobState.PAUSED, JobState.DELETED, JobState.ERROR])
def test_F03_a_job_that_fires_no_more_keeps_what_it_has(state):
    (kept,) = {until - due for due, until in life(job_of(HOURLY, keep_newest=1, state=state), TEAM, 1)}
    assert kept == TEAM.retention + timedelta(seconds=1)


@pytest.mark.parametrize("bound", [{"max_firings": 60}, {"end_at": "2026-03-04T00:00:00Z"}])
def test_F03_the_last_ones_of_a_schedule_that_ends_stay(bound):
    made = life(job_of({**HOURLY, **bound}, keep_newest=3), TEAM, 5)[: bound.get("max_firings")]
    whole = [until - due > 29 * DAY for due, until in made]
    assert whole[-3:] == [True, True, True]
    assert not whole[0]


def test_F03_a_teams_cap_thins_its_successes_and_leaves_a_sample():
    """Ten jobs, one firing a minute each: 14,400 a day, of which the cap leaves room for 100,000 records."""
    cap, daily = 100_000, 14_400
    one_in = kept_one_in(cap, TEAM.retention, daily)
    team = replace(TEAM, max_records=cap, kept_one_in=one_in)
    made = life(job_of({"every": "PT6S", "anchor": "2026-03-01T00:00:00Z"}), team, 2)
    old = [due for due, until in made if until - due > 29 * DAY]
    assert one_in == 8
    assert 0.7 < len(old) * one_in / len(made) < 1.3
    assert daily * 2 + daily * 28 / one_in <= cap


@pytest.mark.parametrize(
    ("cap", "daily", "one_in"),
    [
        (None, 10_000_000, 1),
        (1_000, 10, 1),
        (1_000, 40, 2),
        (1_000, 499, 4096),
        (1_000, 10_000, 4096),
        (1_000, 0, 1),
    ],
)
def test_F03_how_thin_follows_from_the_cap_and_the_daily_firings(cap, daily, one_in):
    assert kept_one_in(cap, timedelta(days=30), daily) == one_in


def test_F03_a_quiet_job_of_a_noisy_team_keeps_its_history():
    """The cap is spent by those who fill it: a job with fewer than a hundred runs in the retention loses none."""
    team = replace(TEAM, max_records=1_000, kept_one_in=4096)
    assert NEWEST == 100
    made = life(job_of(DAILY), team, 60)
    assert {until - due > 29 * DAY for due, until in made} == {True}
    made = life(job_of(HOURLY), team, 60)
    assert len(alive(made, MIDNIGHT + 50 * DAY)) < 160


# The same through the service.


def lives(*jobs, **settings):
    """Hourly jobs whose target fails at ten, for a day."""
    past = Past(Front.at("2026-03-01T00:10:30Z"))
    past.front.stage.targets.then = lambda delivery: BROKEN if delivery.facts.due.hour == 10 else OK
    for name in jobs:
        past.put(name, {"cron": "0 * * * *"}, retry={"max_attempts": 1}, **settings)
    past.run("2026-03-02T00:05:00Z")
    return past


def expire(past, now):
    """What DynamoDB does within two days or so."""
    past.sleep(to_wire(now))
    for table in Table:
        for item in past.store.everything(table):
            if item.get("expires") is not None and item["expires"] * 1000 < to_ms(now):
                past.store.write(Delete(key=Key(table, item["pk"], item["sk"])))


def test_F03_every_final_record_carries_its_time_to_live_and_failures_the_whole_of_it():
    past = lives("report", keep_newest=2)
    records = past.records("report")
    assert len(records) == 24
    for record in records:
        assert (record.state in FINAL) == (record.expires_at is not None)
    (dead,) = [record for record in records if record.state is ExecutionState.DEAD]
    assert dead.expires_at - dead.ended_at > 29 * DAY
    short = [record for record in records if record.state is ExecutionState.SUCCEEDED]
    assert {record.expires_at - record.ended_at < 3 * DAY for record in short} == {True}


def test_F03_an_audit_does_not_miss_what_was_thinned_out():
    past = lives("report", keep_newest=2)
    expire(past, MIDNIGHT + 6 * DAY)
    assert [record.state for record in past.records("report")] == [ExecutionState.DEAD]

    audit = past.audit("report", since="2026-03-01T00:00:00Z", before="2026-03-02T00:00:00Z")

    assert (audit.findings, audit.unjudged) == ([], 2)


def test_F03_it_still_misses_what_nobody_thinned():
    """The same hole in a job that keeps everything, and in the last two days of one that does not."""
    past = lives("whole")
    for record in past.records("whole")[3:6]:
        past.lose(record)
    past.sleep("2026-03-06T00:00:00Z")
    found = past.findings("whole", since="2026-03-01T00:00:00Z", before="2026-03-02T00:00:00Z")
    assert [finding.kind for finding in found] == [FindingKind.MISSING]

    past = lives("report", keep_newest=2)
    for record in past.records("report")[3:6]:
        past.lose(record)
    found = past.findings("report", since="2026-03-01T00:00:00Z", before="2026-03-02T00:00:00Z")
    assert [finding.kind for finding in found] == [FindingKind.MISSING]


def team_of(past):
    return decode_team(past.store.get(keys.team("payments")))


def test_F03_a_teams_sample_follows_its_cap_and_its_jobs():
    past = Past()
    team = "/v1/teams/payments"
    assert past.front.patch(team, {"max_records": 40_000}, by=ADMIN).status == 200
    assert (team_of(past).kept_one_in, team_of(past).thinned_until) == (1, None)
    for number in range(4):
        past.put(f"minutely-{number}", {"cron": "* * * * *"})
    busy = team_of(past)
    assert (busy.kept_one_in, busy.revision) == (8, 2)
    for number in range(4):
        past.owner.job(f"minutely-{number}").delete()
    calm = team_of(past)
    assert (calm.kept_one_in, calm.thinned_until) == (1, past.front.clock.now())
    past.put("minutely", {"cron": "* * * * *"})
    past.front.patch(team, {"max_records": 4_000}, by=ADMIN)
    assert team_of(past).kept_one_in == 64
    assert past.front.patch(team, {"max_records": None}, by=ADMIN).body["max_records"] is None
    assert team_of(past).kept_one_in == 1


def test_F03_a_thinned_team_is_audited_by_what_is_left():
    past = Past(Front.at("2026-03-01T00:10:30Z"))
    past.front.stage.targets.then = lambda delivery: BROKEN if delivery.facts.due.minute == 30 else OK
    past.front.patch("/v1/teams/payments", {"max_records": 1_000}, by=ADMIN)
    past.put("report", {"cron": "*/2 * * * *"}, retry={"max_attempts": 1})
    assert team_of(past).kept_one_in == 4096
    past.run("2026-03-01T02:05:00Z")
    expire(past, MIDNIGHT + 6 * DAY)
    left = [record for record in past.records("report") if record.state in FINAL]
    assert {record.state for record in left} == {ExecutionState.DEAD}
    assert len(left) == 2
    body = past.front.get("/v1/teams/payments/audit?from=2026-03-01T00:00:00Z&to=2026-03-01T02:00:00Z").body
    assert (body["items"], body["unjudged"]) == ([], 3)


def test_F03_a_backfill_takes_what_was_thinned_out_for_what_it_was():
    """Of a day whose successes are gone only the failure and the hours of a pause run again."""
    past = Past(Front.at("2026-03-01T00:10:30Z"))
    past.front.stage.targets.then = lambda delivery: BROKEN if delivery.facts.due.hour == 3 else OK
    past.put(
        "report", {"cron": "0 * * * *"}, retry={"max_attempts": 1}, keep_newest=2, misfire={"policy": "skip"}
    )
    past.run("2026-03-01T05:30:00Z")
    past.sleep("2026-03-01T07:30:00Z")
    past.run("2026-03-02T00:05:00Z")
    expire(past, MIDNIGHT + 6 * DAY)
    past.front.stage.targets.then = OK
    span = {"from": "2026-03-01T00:30:00Z", "to": "2026-03-02T00:00:00Z", "rate": 600}
    made = past.front.post("/v1/teams/payments/jobs/report/backfills", span)
    assert made.status == 202, made
    assert (made.body["state"], made.body["released"]) == ("EXPANDED", 3)
    ran = [each.id.nominal for each in past.records("report") if each.origin is Origin.BACKFILL]
    assert [each.hour for each in ran if each] == [3, 6, 7]


def test_F03_what_a_team_may_fill_is_the_stages_to_say_and_a_jobs_newest_its_owners():
    front = Front.at()
    assert front.patch("/v1/teams/payments", {"max_records": 5_000}).status == 403
    assert front.job(keep_newest=0).faults["keep_newest"]["value"] == 0
    assert front.job(keep_newest=50).body["keep_newest"] == 50
    assert front.patch("/v1/teams/payments/jobs/report", {"keep_newest": None}).body["keep_newest"] is None


def test_F03_what_is_stored_reads_back():
    past = lives("report", keep_newest=2)
    item = past.store.get(keys.execution(past.records("report")[0].id))
    assert decode_execution(item).expires_at is not None
    assert past.job("report").keep_newest == 2
