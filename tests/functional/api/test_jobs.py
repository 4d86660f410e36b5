from __future__ import annotations

import pytest

from tests.support.api import HOOK, NINE, OWNER_ROLE, Front, event_of

REPORT = "/v1/teams/payments/jobs/report"


@pytest.fixture
def front():
    return Front.at("2026-03-01T12:00:00Z")


class TestEvents:
    """Events exactly as AWS sends them."""

    def test_a_job_is_created_by_a_signed_call(self, front):
        reply = front.send(event_of("put_job"))
        assert (reply.status, reply.etag) == (201, f'"1.{reply.body["uid"]}"')
        assert reply.body["payload"] == {"report": "nightly"}
        assert reply.body["state"] == "ACTIVE"
        assert reply.body["next"][0] == {
            "at": "2026-03-02T01:30:00.000Z",
            "local": "2026-03-02T02:30:00+01:00",
            "moved": None,
            "excluded": None,
        }
        assert len(reply.body["next"]) == 5

    def test_a_body_may_be_base64(self, front):
        assert front.send(event_of("put_job_base64")).status == 201

    def test_read_pause_and_list(self, front):
        front.send(event_of("put_job"))
        assert front.send(event_of("get_job")).body["name"] == "nightly-report"
        assert front.send(event_of("pause_job")).body["state_reason"] == "quarter end"
        assert front.send(event_of("list_jobs")).body["items"] == []

    def test_health_answers_any_signed_caller(self, front):
        assert front.send(event_of("health_user")).body["status"] == "starting"

    def test_an_unsigned_call_is_refused(self, front):
        assert front.send(event_of("get_job_unsigned")).status == 403


class TestPut:
    def test_every_default_is_filled_in(self, front):
        body = front.job().body
        assert body["retry"] == {
            "max_attempts": 5,
            "initial_delay_seconds": 10,
            "multiplier": 2.0,
            "max_delay_seconds": 3600,
        }
        assert body["misfire"] == {"policy": "run_once_late", "window_seconds": 86400, "max_runs": 1}
        assert (body["tier"], body["overlap"], body["labels"]) == ("standard", "allow", {})
        assert body["target"]["webhook"]["timeout_seconds"] == 10
        assert body["says"].startswith("at 09:00")

    def test_catch_up_brings_its_own_window_and_cap(self, front):
        body = front.job(misfire={"policy": "catch_up"}).body
        assert body["misfire"] == {"policy": "catch_up", "window_seconds": 604800, "max_runs": 1000}

    def test_what_an_answer_declares_can_be_put_again_and_changes_nothing(self, front):
        body = front.job(payload=[1, {"a": None}], labels={"env": "prod"}).body
        declared = {name: body[name] for name in DECLARED}
        again = front.put(REPORT, declared)
        assert (again.status, again.body["revision"]) == (200, 1)

    def test_every_fault_is_told_at_once(self, front):
        reply = front.put(
            REPORT,
            {
                "schedule": {"cron": "0 25 * * *", "timezone": "Europe/Berlim"},
                "target": {"webhook": {"url": "http://10.0.0.1/", "timeout_seconds": 31}},
                "retry": {"max_attempts": 0, "max_delay": 3},
                "misfire": {"policy": "catchup"},
                "labels": {"ENV": "x"},
                "teir": "bulk",
                "payload": "x" * (256 * 1024),
            },
        )
        assert reply.status == 422
        assert {
            "schedule.cron",
            "schedule.timezone",
            "target.webhook.url",
            "target.webhook.timeout_seconds",
            "retry.max_attempts",
            "retry.max_delay",
            "misfire.policy",
            "labels",
            "teir",
            "payload",
        } <= set(reply.faults)
        assert reply.faults["teir"]["suggestion"] == "tier"
        assert reply.faults["misfire.policy"]["suggestion"] == "catch_up"
        assert reply.faults["retry.max_delay"]["suggestion"] == "max_delay_seconds"
        assert front.get(REPORT).status == 404

    @pytest.mark.parametrize(
        ("more", "field"),
        [
            ({"retry": {"initial_delay_seconds": 60, "max_delay_seconds": 5}}, "retry.max_delay_seconds"),
            ({"lease_seconds": 600, "max_run_seconds": 60}, "max_run_seconds"),
            ({"misfire": {"policy": "skip", "max_runs": 9}}, "misfire.max_runs"),
            ({"tier": 1}, "tier"),
            ({"retry": {"multiplier": "2"}}, "retry.multiplier"),
            ({"description": "x" * 1001}, "description"),
            ({"schedule": {"at": 0}}, "schedule.at"),
            ({"schedule": None}, "schedule"),
            ({"target": {}}, "target"),
            ({"notify_on": ["dead", "born"]}, "notify_on.1"),
        ],
    )
    def test_a_fault_names_its_field(self, front, more, field):
        reply = front.put(REPORT, {"schedule": NINE, "target": HOOK, **more})
        assert reply.status == 422
        assert list(reply.faults) == [field]

    def test_E08_a_name_belongs_to_its_team(self, front):
        from tests.support.api import ADMIN

        front.put("/v1/teams/ledger", {"principals": [OWNER_ROLE]}, by=ADMIN)
        front.job(payload=1)
        front.put("/v1/teams/ledger/jobs/report", {"schedule": NINE, "target": HOOK, "payload": 2})
        assert front.get(REPORT).body["payload"] == 1
        assert front.get("/v1/teams/ledger/jobs/report").body["payload"] == 2

    @pytest.mark.parametrize("name", ["Report", "-a", "a" * 64, "~" + "a" * 20])
    def test_a_bad_name_is_refused(self, front, name):
        reply = front.put(f"/v1/teams/payments/jobs/{name}", {"schedule": NINE, "target": HOOK})
        assert (reply.status, list(reply.faults)) == (422, ["job"])

    def test_T10_an_unknown_zone_is_refused_with_a_near_one(self, front):
        reply = front.job(schedule={"cron": "0 9 * * *", "timezone": "Europe/Berlim"})
        assert "Europe/Berlin" in reply.faults["schedule.timezone"]["suggestion"]

    def test_a_one_off_in_the_past_is_refused(self, front):
        assert "schedule.at" in front.job(schedule={"at": "2026-03-01T11:00:00Z"}).faults

    def test_a_delay_becomes_an_instant(self, front):
        assert front.job(schedule={"in": "PT15M"}).body["schedule"] == {"at": "2026-03-01T12:15:00.000Z"}

    def test_warnings_are_told(self, front):
        assert front.job(schedule={"cron": "0 9 13 * 5"}).body["warnings"] != []


class TestPatch:
    @pytest.fixture(autouse=True)
    def job(self, front):
        front.job(payload={"a": 1, "b": 2}, labels={"env": "prod", "owner": "core"}, description="d")

    def test_E05_only_what_is_named_changes(self, front):
        before = front.get(REPORT).body
        after = front.patch(REPORT, {"tier": "critical"}).body
        changed = {name for name in before if before[name] != after[name]}
        assert changed == {"tier", "revision", "updated_at"} - (
            {"updated_at"} if before["updated_at"] == after["updated_at"] else set()
        )

    def test_T10_a_new_expression_keeps_the_zone(self, front):
        body = front.patch(REPORT, {"schedule": {"cron": "0 10 * * *"}}).body
        assert body["schedule"] == {"cron": "0 10 * * *", "timezone": "Europe/Berlin"}
        assert body["next"][0]["local"].endswith("T10:00:00+01:00")
        assert body["generation"] == 2

    def test_another_kind_of_schedule_replaces_the_old_one(self, front):
        body = front.patch(REPORT, {"schedule": {"every": "PT5M"}}).body
        assert body["schedule"] == {"every": "PT5M", "anchor": "2026-03-01T12:00:00.000Z"}

    def test_a_target_is_merged_within_its_kind(self, front):
        front.patch(REPORT, {"target": {"webhook": {"timeout_seconds": 20}}})
        body = front.patch(REPORT, {"target": {"webhook": {"headers": {"X-A": "1"}}}}).body
        assert body["target"]["webhook"]["timeout_seconds"] == 20
        assert body["target"]["webhook"]["url"] == "https://example.com/hook"
        queue = {"sqs": {"queue_url": "https://sqs.eu-central-1.amazonaws.com/111122223333/q"}}
        assert front.patch(REPORT, {"target": queue}).body["target"] == queue

    def test_a_payload_is_replaced_and_labels_are_merged(self, front):
        body = front.patch(REPORT, {"payload": {"a": 3}, "labels": {"owner": None, "x": "y"}}).body
        assert body["payload"] == {"a": 3}
        assert body["labels"] == {"env": "prod", "x": "y"}

    def test_null_takes_a_field_back_to_its_default(self, front):
        assert front.patch(REPORT, {"description": None}).body["description"] == ""

    def test_a_faulty_patch_changes_nothing(self, front):
        reply = front.patch(REPORT, {"retry": {"max_attempts": 0}, "colour": "red"})
        assert set(reply.faults) == {"retry.max_attempts", "colour"}
        assert front.get(REPORT).body["revision"] == 1

    def test_a_job_that_is_not_there(self, front):
        assert front.patch("/v1/teams/payments/jobs/none", {"tier": "bulk"}).status == 404

    def test_another_policy_brings_its_own_window(self, front):
        body = front.patch(REPORT, {"misfire": {"policy": "catch_up"}}).body
        assert body["misfire"] == {"policy": "catch_up", "window_seconds": 604800, "max_runs": 1000}


class TestPreconditions:
    def test_a_stale_tag_is_412_with_the_current_one(self, front):
        tag = front.job().etag
        front.patch(REPORT, {"tier": "bulk"})
        reply = front.patch(REPORT, {"tier": "critical"}, headers={"If-Match": tag})
        assert (reply.status, reply.etag) == (412, tag.replace("1", "2", 1))
        assert front.get(REPORT).body["tier"] == "bulk"

    def test_the_current_tag_goes_through(self, front):
        tag = front.job().etag
        assert front.patch(REPORT, {"tier": "bulk"}, headers={"If-Match": tag}).status == 200

    def test_if_none_match_star_creates_only(self, front):
        assert front.job(headers={"If-None-Match": "*"}).status == 201
        assert front.job(headers={"If-None-Match": "*"}).status == 412

    def test_a_reader_who_has_it_gets_304(self, front):
        tag = front.job().etag
        reply = front.get(REPORT, headers={"If-None-Match": tag})
        assert (reply.status, reply.body, reply.etag) == (304, None, tag)
        front.patch(REPORT, {"tier": "bulk"})
        assert front.get(REPORT, headers={"If-None-Match": tag}).status == 200

    @pytest.mark.parametrize("tag", ["1", '"0"', '"a"', '"1", "2"', "", '"1.job"', '"1."'])
    def test_a_tag_that_was_never_given_is_a_fault(self, front, tag):
        front.job()
        reply = front.delete(REPORT, headers={"If-Match": tag})
        assert (reply.status, list(reply.faults)) == (422, ["If-Match"])

    def test_a_later_job_of_the_name_is_not_the_one_that_was_seen(self, front):
        """Both are at revision 1; whoever names the number alone takes either."""
        tag = front.job().etag
        front.delete(REPORT)
        later = front.job().etag
        lost = front.delete(REPORT, headers={"If-Match": tag})
        assert (lost.status, lost.etag) == (412, later)
        assert front.get(REPORT, headers={"If-None-Match": tag}).status == 200
        assert front.patch(REPORT, {"tier": "bulk"}, headers={"If-Match": '"1"'}).status == 200

    def test_if_match_on_a_job_that_is_gone(self, front):
        tag = front.job().etag
        front.delete(REPORT)
        assert front.job(headers={"If-Match": tag}).status == 412


class TestLifecycle:
    def test_pause_resume_delete(self, front):
        front.job()
        paused = front.post(REPORT + "/pause", {"note": "audit", "until": "2026-03-05T00:00:00Z"}).body
        assert (paused["state"], paused["paused_by"]) == ("PAUSED", OWNER_ROLE)
        assert paused["next"][0]["at"] == "2026-03-05T08:00:00.000Z"
        assert paused["paused_until"] == "2026-03-05T00:00:00.000Z"
        assert front.post(REPORT + "/pause").status == 409
        resumed = front.post(REPORT + "/resume").body
        assert (resumed["state"], len(resumed["next"])) == ("ACTIVE", 5)
        deleted = front.delete(REPORT).body
        assert (deleted["state"], deleted["cancelled"]) == ("DELETED", [])
        assert front.get(REPORT).status == 404
        assert front.get(f"/v1/teams/payments/jobs/~{deleted['uid']}").body["state"] == "DELETED"

    def test_a_resume_of_what_is_active_says_what_could_be_resumed(self, front):
        front.job()
        refused = front.post(REPORT + "/resume")
        assert refused.status == 409
        assert refused.body["detail"].startswith(
            "the job is ACTIVE; one that is PAUSED or in ERROR can be resumed"
        )

    def test_E04_pausing_tells_what_it_cancelled(self, front):
        front.job(schedule={"at": "2026-03-01T12:02:00Z"})
        paused = front.post(REPORT + "/pause").body
        assert len(paused["cancelled"]) == 1
        record = front.get(f"/v1/teams/payments/executions/{paused['cancelled'][0]}").body
        assert (record["state"], record["reason"]) == ("CANCELLED", "paused")

    def test_B9_what_is_due_at_once_is_queued_before_the_answer(self, front):
        front.job(schedule={"in": "PT10S"})
        [record] = front.get(REPORT + "/executions").body["items"]
        assert (record["state"], record["due"]) == ("QUEUED", "2026-03-01T12:00:10.000Z")

    def test_a_pause_that_would_end_in_the_past_is_refused(self, front):
        front.job()
        reply = front.post(REPORT + "/pause", {"until": "2026-03-01T11:00:00Z"})
        assert list(reply.faults) == ["until"]

    def test_E01_an_edit_runs_nothing_at_once(self, front):
        front.job(schedule={"cron": "0 3 * * *"})
        front.patch(REPORT, {"schedule": {"cron": "0 12 * * *"}})
        assert front.get(REPORT).body["next"][0]["at"] == "2026-03-02T12:00:00.000Z"
        assert front.get(REPORT + "/executions").body["items"] == []

    def test_B8_a_one_off_that_is_over_is_shown_as_completed(self, front):
        front.job(schedule={"in": "PT10S"})
        assert front.get(REPORT).body["state"] == "ACTIVE"
        front.post(REPORT + "/pause")
        front.post(REPORT + "/resume")
        front.clock.advance(minutes=1)
        assert front.get(REPORT).body["state"] in {"ACTIVE", "COMPLETED"}


class TestDryRun:
    def test_put_and_patch_say_what_would_change(self, front):
        front.job()
        reply = front.patch(REPORT + "?dry_run=true", {"schedule": {"cron": "0 10 * * *"}})
        assert reply.body["dry_run"] is True
        assert reply.body["before"]["schedule"]["cron"] == "0 9 * * *"
        assert reply.body["after"]["generation"] == 2
        assert reply.body["next_before"][0]["local"].endswith("T09:00:00+01:00")
        assert reply.body["next_after"][0]["local"].endswith("T10:00:00+01:00")
        assert front.get(REPORT).body["revision"] == 1

    def test_a_dry_run_of_what_changes_nothing_answers_the_job(self, front):
        front.job()
        assert front.put(REPORT + "?dry_run=true", {"schedule": NINE, "target": HOOK}).body["revision"] == 1

    def test_pause_and_delete_name_the_queued_firings_that_would_go(self, front):
        front.job(schedule={"in": "PT30S"})
        [record] = front.get(REPORT + "/executions").body["items"]
        for reply in (front.post(REPORT + "/pause?dry_run=true"), front.delete(REPORT + "?dry_run=true")):
            assert reply.body["cancels"] == [record["id"]]
            assert reply.body["next_after"] == []
        assert front.get(REPORT).body["state"] == "ACTIVE"

    def test_a_dry_run_of_a_creation(self, front):
        reply = front.put(REPORT + "?dry_run=true", {"schedule": NINE, "target": HOOK})
        assert (reply.status, reply.body["before"]) == (200, None)
        assert front.get(REPORT).status == 404


def test_history_tells_who_changed_what(front):
    front.job()
    front.patch(REPORT, {"tier": "bulk"})
    front.post(REPORT + "/pause", {"note": "audit"})
    page = front.get(REPORT + "/revisions?limit=2").body
    assert [(entry["what"], entry["note"]) for entry in page["items"]] == [("pause", "audit"), ("edit", None)]
    assert page["items"][1]["before"]["tier"] == "standard"
    assert page["items"][1]["after"]["tier"] == "bulk"
    assert page["items"][0]["actor"] == OWNER_ROLE
    rest = front.get(REPORT + f"/revisions?limit=2&cursor={page['next']}").body
    assert [entry["what"] for entry in rest["items"]] == ["create"]
    assert rest["next"] is None


DECLARED = (
    "schedule",
    "target",
    "payload",
    "tier",
    "retry",
    "misfire",
    "overlap",
    "lease_seconds",
    "max_run_seconds",
    "description",
    "labels",
    "notify_on",
    "pause_after_dead",
    "delete_after_completion",
)
