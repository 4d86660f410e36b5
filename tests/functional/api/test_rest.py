"""Preview, health, and what every route answers to what it cannot read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.application import keys
from fencepost.application.planting import WATERMARK
from fencepost.application.store import Put
from fencepost.domain.instants import from_wire, to_ms
from functions.api.handler import build
from tests.support.api import HOOK, NINE, STRANGER, Front

REPORT = "/v1/teams/payments/jobs/report"


@pytest.fixture
def front():
    return Front.at("2026-03-01T12:00:00Z")


class TestPreview:
    def test_it_shows_a_change_of_the_clock(self, front):
        body = {
            "schedule": {"cron": "30 2 * * *", "timezone": "Europe/Berlin"},
            "after": "2026-03-28T12:00:00Z",
            "count": 2,
        }
        reply = front.post("/v1/preview", body, by=STRANGER).body
        assert [each["local"] for each in reply["occurrences"]] == [
            "2026-03-29T03:00:00+02:00",
            "2026-03-30T02:30:00+02:00",
        ]
        assert [each["moved"] for each in reply["occurrences"]] == ["gap", None]

    def test_H03_it_shows_the_misfire_policy_with_its_caps(self, front):
        body = {"schedule": NINE, "misfire": {"policy": "catch_up"}}
        assert front.post("/v1/preview", body).body["misfire"] == {
            "policy": "catch_up",
            "window_seconds": 604800,
            "max_runs": 1000,
        }

    def test_T12_it_says_what_both_day_fields_mean(self, front):
        reply = front.post("/v1/preview", {"schedule": {"cron": "0 0 13 * 5"}}).body
        assert "either is enough" in reply["warnings"][0]

    def test_T11_what_never_fires_is_refused(self, front):
        reply = front.post("/v1/preview", {"schedule": {"cron": "0 0 30 2 *"}})
        assert list(reply.faults) == ["schedule.cron"]

    def test_every_fault_at_once(self, front):
        body = {"schedule": {"cron": "x"}, "after": "soon", "count": 0, "days": 1}
        assert {"schedule.cron", "count", "days"} <= set(front.post("/v1/preview", body).faults)

    def test_an_instant_that_is_none(self, front):
        reply = front.post("/v1/preview", {"schedule": NINE, "after": "2026-03-28T12:00:00"})
        assert list(reply.faults) == ["after"]


class TestHealth:
    def mark(self, front, minute):
        for shard in range(4):
            item = {"v": 1, WATERMARK: to_ms(from_wire(minute))}
            front.memory.write(Put(key=keys.watermark(shard), item=item))

    def test_a_stage_that_was_never_scanned_is_starting(self, front):
        reply = front.get("/v1/health", by=STRANGER).body
        assert (reply["status"], reply["watermark_age_seconds"], reply["shards"]) == ("starting", None, 4)
        assert len(reply["tzdata"]) == 5

    @pytest.mark.parametrize(
        ("proven", "status", "age"),
        [("2026-03-01T11:54:00Z", "ok", 300), ("2026-03-01T11:40:00Z", "late", 1140)],
    )
    def test_L06_health_is_the_age_of_the_oldest_unproven_minute(self, front, proven, status, age):
        self.mark(front, proven)
        reply = front.get("/v1/health").body
        assert (reply["status"], reply["watermark_age_seconds"]) == (status, age)
        assert reply["trouble"] is None

    @pytest.mark.parametrize("proven", ["2026-03-01T11:54:00Z", "2026-03-01T11:40:00Z"])
    def test_a_store_that_refuses_writes_is_failing_however_much_is_proven(self, front, proven):
        self.mark(front, proven)
        handler = build(front.stage, lambda: "database or disk is full")
        reply = replace(front, handler=handler).get("/v1/health", by=STRANGER).body
        assert (reply["status"], reply["trouble"]) == ("failing", "database or disk is full")


@pytest.mark.parametrize(
    ("raw", "hint"),
    [
        ("", "wanted"),
        ("{", "not JSON"),
        ("[]", "object"),
        ('"x"', "object"),
        ('{"a": NaN}', "NaN"),
        ('{"a": 1, "a": 2}', "twice"),
        ('{"a": "\\ud800"}', "not JSON"),
        ("[" * 5000 + "]" * 5000, "nest"),
        ('{"a":' * 70 + "1" + "}" * 70, "deep"),
        ('{"a": ' + "9" * 5000 + "}", "not JSON"),
    ],
)
def test_a_body_that_cannot_be_read_is_400(front, raw, hint):
    reply = front.call("PUT", REPORT, raw=raw)
    assert (reply.status, reply.body["type"]) == (400, "urn:fencepost:problem:unreadable")
    assert hint in reply.body["detail"] or "recursion" in reply.body["detail"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/v2/health", 404),
        ("GET", "/v1/groups", 404),
        ("DELETE", "/v1/health", 405),
        ("PUT", REPORT + "/run", 405),
        ("GET", "/v1/teams/payments/", 404),
        ("GET", "/v1/teams/a/b/c/d/e", 404),
    ],
)
def test_what_is_no_route(front, method, path, status):
    reply = front.call(method, path)
    assert reply.status == status
    assert reply.headers["Content-Type"] == "application/problem+json"


def test_405_says_what_one_can_do(front):
    assert front.call("PUT", REPORT + "/run").headers["Allow"] == "POST"


@pytest.mark.parametrize("path", ["/v1/health?x=1", REPORT + "?dry_run=true", "/v1/teams/payments?a=b"])
def test_an_unknown_parameter_is_a_fault(front, path):
    assert front.get(path).status == 422


def test_a_payload_comes_back_as_it_was_given(front):
    payload = {"ü": [1.5, None, True, "\u2028", 10**17], "": {}}
    assert front.job(payload=payload).body["payload"] == payload


@pytest.mark.parametrize("payload", [0, False, "", [], {}])
def test_an_empty_value_is_a_payload_too(front, payload):
    assert (
        front.put(REPORT, {"schedule": NINE, "target": HOOK, "payload": payload}).body["payload"] == payload
    )
