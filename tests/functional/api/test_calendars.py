"""Exclusion calendars: versions that stay readable, names that must be there, firings that are skipped and say why."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from fencepost.application import keys
from fencepost.application.registry import calendars
from fencepost.application.store import Put, Update, Won, equals
from fencepost.domain.instants import to_ms
from tests.support.api import ADMIN, OWNER_ROLE, Front
from tests.support.clients import Machine

PAYMENTS = "/v1/teams/payments"
CALENDARS = PAYMENTS + "/calendars"
HOLIDAYS = CALENDARS + "/holidays"
BAD = CALENDARS + "/bad"
EASTER = {"dates": ["2026-04-03", "2026-04-06"]}
DAILY = {"cron": "0 9 * * *", "timezone": "Europe/Berlin", "exclude": ["holidays"]}


@pytest.fixture
def front():
    return Front.at("2026-03-01T12:00:00Z")


class TestACalendar:
    def test_is_declared_and_read_back_in_its_normal_form(self, front):
        body = {
            "dates": ["2026-12-26", "2026-12-24/2026-12-25"],
            "timezone": "Europe/Berlin",
            "note": "as agreed",
        }
        reply = front.put(HOLIDAYS, body)
        assert (reply.status, reply.etag) == (201, '"1"')
        assert reply.body == {
            "team": "payments",
            "name": "holidays",
            "version": 1,
            "dated": "2026-03-01T12:00:00.000Z",
            "dates": ["2026-12-24/2026-12-26"],
            "instants": [],
            "timezone": "Europe/Berlin",
        }
        assert front.get(HOLIDAYS).body == reply.body

    def test_said_again_it_is_no_new_version(self, front):
        front.put(HOLIDAYS, EASTER)
        assert front.put(HOLIDAYS, {"dates": ["2026-04-06", "2026-04-03"]}).etag == '"1"'

    def test_of_two_writers_with_one_version_one_wins(self, front):
        tag = front.put(HOLIDAYS, EASTER).etag
        assert front.put(HOLIDAYS, {"dates": ["2026-05-01"]}, headers={"If-Match": tag}).etag == '"2"'
        lost = front.put(HOLIDAYS, {"dates": ["2026-05-02"]}, headers={"If-Match": tag})
        assert (lost.status, lost.etag) == (412, '"2"')
        assert front.put(HOLIDAYS, EASTER, headers={"If-None-Match": "*"}).status == 412
        assert front.get(HOLIDAYS, headers={"If-None-Match": '"2"'}).status == 304

    def test_keeps_every_version_who_wrote_it_and_why(self, front):
        front.put(HOLIDAYS, EASTER)
        front.clock.advance(days=1)
        front.put(HOLIDAYS, {"dates": ["2026-05-01"], "note": "May Day instead"})
        front.delete(HOLIDAYS)
        items = front.get(HOLIDAYS + "/versions").body["items"]
        assert [(entry["revision"], entry["what"], entry["note"]) for entry in items] == [
            (3, "delete", None),
            (2, "edit", "May Day instead"),
            (1, "create", None),
        ]
        assert {entry["actor"] for entry in items} == {OWNER_ROLE}
        assert (items[1]["before"], items[1]["after"]) == (EASTER, {"dates": ["2026-05-01"]})
        assert front.get(HOLIDAYS + "?version=1").body["dates"] == EASTER["dates"]
        assert front.get(HOLIDAYS + "?version=3").status == 404
        assert front.get(HOLIDAYS).status == 404

    def test_made_again_it_goes_on_counting(self, front):
        front.put(HOLIDAYS, EASTER)
        front.delete(HOLIDAYS)
        reply = front.put(HOLIDAYS, EASTER)
        assert (reply.status, reply.body["version"]) == (201, 3)

    def test_all_its_faults_are_told_at_once(self, front):
        reply = front.put(
            HOLIDAYS,
            {
                "dates": ["24.12.", "2026-12-26/2026-12-24"],
                "instants": ["noon"],
                "timezone": "PST",
                "date": [],
            },
        )
        assert reply.status == 422
        assert set(reply.faults) == {"dates", "instants", "timezone", "date"}
        assert list(front.put(HOLIDAYS, {}).faults) == ["dates"]
        assert list(front.put(CALENDARS + "/Holidays", EASTER).faults) == ["calendar"]


def test_calendars_are_listed_by_name_page_by_page(front):
    for name in ("may", "april", "june"):
        front.put(f"{CALENDARS}/{name}", EASTER)
    front.delete(f"{CALENDARS}/june")
    first = front.get(CALENDARS + "?limit=1").body
    second = front.get(f"{CALENDARS}?limit=1&cursor={first['next']}").body
    assert [page["items"][0]["name"] for page in (first, second)] == ["april", "may"]
    assert front.get(f"{CALENDARS}?limit=1&cursor={second['next']}").body == {
        "items": [],
        "unreadable": [],
        "next": None,
    }
    assert first["items"][0]["entries"] == 2


def test_another_teams_calendar_is_not_ones_own(front):
    front.put("/v1/teams/ledger", {}, by=ADMIN)
    front.put("/v1/teams/ledger/calendars/holidays", EASTER, by=ADMIN)
    assert front.get(HOLIDAYS).status == 404
    assert list(front.job(schedule=DAILY).faults) == ["schedule.exclude"]


def test_the_number_of_calendars_is_limited(front, monkeypatch):
    monkeypatch.setattr(calendars, "MOST", 2)
    for name in ("a", "b"):
        front.put(f"{CALENDARS}/{name}", EASTER)
    reply = front.put(f"{CALENDARS}/c", EASTER)
    assert (reply.status, reply.faults["calendars"]["value"]) == (422, 3)
    assert front.put(f"{CALENDARS}/b", {"dates": ["2026-05-01"]}).status == 200


class TestAJob:
    def test_names_calendars_that_are_there_or_is_told_which_was_meant(self, front):
        front.put(HOLIDAYS, EASTER)
        fault = front.job(schedule={**DAILY, "exclude": ["holiday", "zzz"]}).body["faults"]
        assert [(each["field"], each["suggestion"]) for each in fault] == [
            ("schedule.exclude", "holidays"),
            ("schedule.exclude", None),
        ]
        assert front.job(schedule=DAILY).status == 201

    def test_T11_that_its_calendars_exclude_altogether_never_fires(self, front):
        front.put(HOLIDAYS, EASTER)
        reply = front.job(schedule={"at": "2026-04-03T10:00:00Z", "exclude": ["holidays"]})
        assert (reply.status, "exclude every occurrence" in reply.faults["schedule.exclude"]["rule"]) == (
            422,
            True,
        )

    def test_shows_what_is_excluded(self, front):
        front.clock.set("2026-04-02T12:00:00Z")
        front.put(HOLIDAYS, EASTER)
        shown = front.job(schedule=DAILY).body["next"]
        listed = front.get(PAYMENTS + "/jobs").body["items"][0]["next"]
        for found in (shown, listed):
            assert [each["excluded"] for each in found] == ["holidays", None, None, "holidays", None]

    def test_keeps_its_calendar_from_being_deleted_until_it_names_it_no_more(self, front):
        front.put(HOLIDAYS, EASTER)
        front.job("report", DAILY)
        front.job("import", DAILY)
        refused = front.delete(HOLIDAYS)
        assert (refused.status, refused.body["detail"]) == (409, "jobs name it: import, report")
        front.delete(PAYMENTS + "/jobs/import")
        front.patch(PAYMENTS + "/jobs/report", {"schedule": {"exclude": []}})
        assert front.delete(HOLIDAYS).status == 200
        assert front.delete(HOLIDAYS).status == 404

    def test_that_is_paused_still_names_it(self, front):
        front.put(HOLIDAYS, EASTER)
        front.job(schedule=DAILY)
        front.post(PAYMENTS + "/jobs/report/pause")
        assert front.delete(HOLIDAYS).status == 409


class TestADeleteAndAJobAtOnce:
    """The delete has marked the calendar and looks whether some job names it; now a job is declared that does."""

    @pytest.fixture
    def marked(self, front):
        front.put(HOLIDAYS, EASTER)

        def mark(ago):
            at = to_ms(front.clock.now()) - ago * 1000
            key = keys.calendar("payments", "holidays")
            write = Update(key=key, set={"closing": at}, condition=equals("version", 1))
            assert front.memory.write(write) == Won()

        return mark

    def test_the_job_waits_and_is_told_to_come_again(self, front, marked):
        marked(ago=0)
        assert front.job(schedule=DAILY).status == 503
        front.clock.advance(seconds=60)
        assert front.job(schedule=DAILY).status == 201

    def test_a_mark_that_nobody_took_away_means_nothing_after_a_minute(self, front, marked):
        marked(ago=61)
        assert front.job(schedule=DAILY).status == 201
        assert front.delete(HOLIDAYS).status == 409

    def test_a_new_version_takes_it_away(self, front, marked):
        marked(ago=0)
        front.put(HOLIDAYS, {"dates": ["2026-05-01"]})
        assert front.job(schedule=DAILY).status == 201
        assert front.clock.slept == []


def test_of_jobs_and_deletes_at_once_no_job_is_left_without_its_calendar(front):
    front.put(HOLIDAYS, EASTER)

    def act(number):
        return front.delete(HOLIDAYS) if number % 2 else front.job(f"job-{number}", DAILY)

    with ThreadPoolExecutor(8) as pool:
        statuses = [reply.status for reply in pool.map(act, range(8))]
    jobs = [status for status in statuses[::2] if status == 201]
    gone = [status for status in statuses[1::2] if status == 200]
    assert bool(jobs) != bool(gone)
    assert len(front.get(PAYMENTS + "/jobs").body["items"]) == len(jobs)


class TestAPreview:
    def test_for_a_team_marks_what_is_excluded(self, front):
        front.put(HOLIDAYS, EASTER)
        body = {"schedule": DAILY, "after": "2026-04-01T12:00:00Z", "count": 3}
        found = front.post(PAYMENTS + "/preview", body).body["occurrences"]
        assert [each["excluded"] for each in found] == [None, "holidays", None]
        assert {each["excluded"] for each in front.post("/v1/preview", body).body["occurrences"]} == {None}

    def test_for_a_team_knows_its_calendars(self, front):
        front.put(HOLIDAYS, EASTER)
        body = {"schedule": {**DAILY, "exclude": ["hollidays"]}}
        reply = front.post(PAYMENTS + "/preview", body)
        assert reply.faults["schedule.exclude"]["suggestion"] == "holidays"


class TestAFiring:
    def test_on_an_excluded_day_is_skipped_and_its_record_names_the_version(self, front):
        front.clock.set("2026-04-02T06:50:00Z")
        front.put(HOLIDAYS, EASTER)
        front.job(schedule=DAILY)
        Machine(front).run("2026-04-04T07:05:00Z")
        items = front.get(PAYMENTS + "/jobs/report/executions").body["items"]
        assert [(each["due"][:10], each["state"], each["reason"], each["note"]) for each in items] == [
            ("2026-04-04", "SUCCEEDED", None, None),
            ("2026-04-03", "SKIPPED", "excluded", "calendar holidays, version 1"),
            ("2026-04-02", "SUCCEEDED", None, None),
        ]

    def test_heeds_a_change_of_the_calendar_within_seconds(self, front):
        front.clock.set("2026-04-02T06:50:00Z")
        front.put(HOLIDAYS, EASTER)
        front.job(schedule={"every": "PT1M", "anchor": "2026-04-02T06:50:00Z", "exclude": ["holidays"]})
        machine = Machine(front)
        machine.run("2026-04-02T07:00:00Z")
        front.put(HOLIDAYS, {"instants": ["2026-04-02T07:00:00Z/2026-04-02T07:30:00Z"]})
        machine.run("2026-04-02T07:10:00Z")
        items = front.get(PAYMENTS + "/jobs/report/executions?limit=10").body["items"]
        skipped = {each["due"] for each in items if each["reason"] == "excluded"}
        assert {"2026-04-02T07:10:00.000Z", "2026-04-02T07:05:00.000Z"} <= skipped

    def test_is_not_lost_to_a_calendar_that_nobody_can_read(self, front):
        front.put(HOLIDAYS, EASTER)
        front.clock.set("2026-04-02T12:00:00Z")
        front.job(schedule=DAILY)
        broken = Update(
            key=keys.calendar("payments", "holidays"), set={"entries": 7}, condition=equals("version", 1)
        )
        front.memory.write(broken)
        Machine(front).run("2026-04-03T07:05:00Z")
        [record] = front.get(PAYMENTS + "/jobs/report/executions").body["items"]
        assert record["state"] == "SUCCEEDED"


GARBLED = {
    "without its version": lambda item: {name: value for name, value in item.items() if name != "v"},
    "with nothing in it": lambda _: {"v": 1},
    "all words": lambda item: {name: value if name == "v" else "?" for name, value in item.items()},
    "with numbers beyond all time": lambda item: {**item, "version": 10**30},
    "with entries that are none": lambda item: {**item, "entries": {"dates": ["soon"]}},
}


class TestUnreadable:
    """What is stored of a calendar is garbled."""

    @pytest.fixture(params=GARBLED)
    def front(self, request):
        made = Front.at("2026-03-01T12:00:00Z")
        made.put(BAD, {"dates": ["2026-12-24"]})
        made.put(BAD, {"dates": ["2026-12-25"]})
        made.put(CALENDARS + "/other", {"dates": ["2026-12-24"]})
        key = keys.calendar("payments", "bad")
        item = {
            name: value for name, value in (made.memory.get(key) or {}).items() if name not in {"pk", "sk"}
        }
        made.memory.write(Put(key=key, item=GARBLED[request.param](item)))
        return made

    def test_it_is_told_and_named_beside_the_rest(self, front):
        reply = front.get(BAD)
        assert (reply.status, reply.body["type"]) == (409, "urn:fencepost:problem:unreadable-state")
        page = front.get(CALENDARS).body
        assert ([each["name"] for each in page["items"]], page["unreadable"]) == (["other"], ["bad"])

    def test_put_replaces_it_by_the_next_version(self, front):
        reply = front.put(BAD, {"dates": ["2026-12-25"]})
        assert (reply.status, reply.body["version"]) == (200, 3)
        assert front.get(BAD).body == reply.body
        entry = front.get(BAD + "/versions").body["items"][0]
        assert "unreadable" in entry["before"]

    def test_delete_removes_it_unless_a_job_names_it(self, front):
        assert front.delete(BAD).status == 200
        assert front.get(BAD).status == 404
        front.put(BAD, {"dates": ["2026-12-26"]})
        front.job(schedule={"cron": "0 9 * * *", "exclude": ["bad"]})
        key = keys.calendar("payments", "bad")
        front.memory.write(Put(key=key, item={"v": 1}))
        assert front.delete(BAD).status == 409
        assert front.get(CALENDARS).body["unreadable"] == ["bad"]
