"""The doctor finds what stands between you and a firing."""

from __future__ import annotations

import json

import pytest

from fencepost.client.transport import HttpAnswer, NoAnswerError
from fencepost.domain.schedule import tzdata_version
from tests.support.clients import Terminal


def findings(fencepost: Terminal, status: int, **how: str) -> dict[str, tuple[str, str]]:
    ran = fencepost("doctor", "--json", **how)
    assert ran.status == status
    return {each["what"]: (each["verdict"], each["says"]) for each in ran.json}


def test_a_healthy_way(fencepost):
    found = findings(fencepost, 0)

    assert {what: verdict for what, (verdict, _) in found.items()} == {
        "credentials": "good",
        "endpoint": "good",
        "clock": "good",
        "time zones": "good",
        "ticks": "good",
        "team": "good",
    }
    assert found["credentials"][1] == "AKIDOWNER signs for eu-central-1"
    assert tzdata_version() in found["time zones"][1]


@pytest.mark.parametrize(("skew", "verdict", "status"), [(45, "odd", 0), (400, "bad", 1)])
def test_a_wrong_clock(fencepost, front, skew, verdict, status):
    def behind(answer: HttpAnswer) -> HttpAnswer:
        fencepost.clock.advance(seconds=-skew)
        return answer

    fencepost.transport.troubles.append(behind)

    found = findings(fencepost, status)["clock"]

    assert found[0] == verdict
    assert f"{skew}.0 s behind" in found[1]


def test_the_gateways_date_is_believed_before_the_services_word(fencepost):
    def dated(answer: HttpAnswer) -> HttpAnswer:
        headers = {**answer.headers, "date": "Sun, 01 Mar 2026 11:00:00 GMT"}
        return HttpAnswer(status=answer.status, headers=headers, body=answer.body)

    fencepost.transport.troubles.append(dated)

    assert "ahead of the service's: signatures are refused" in findings(fencepost, 1)["clock"][1]


def test_a_date_that_is_none_is_passed_over(fencepost):
    fencepost.transport.troubles.append(
        lambda answer: HttpAnswer(status=200, headers={"date": "today"}, body=answer.body)
    )

    assert findings(fencepost, 0)["clock"][0] == "good"


def test_other_time_zone_rules(fencepost):
    fencepost.transport.troubles.append(
        lambda answer: HttpAnswer(
            status=200, body=answer.body.replace(tzdata_version().encode(), b"2019a"), headers=answer.headers
        )
    )

    assert findings(fencepost, 0)["time zones"][0] == "odd"


@pytest.mark.parametrize(("status", "verdict", "code"), [("late", "bad", 1), ("starting", "odd", 0)])
def test_ticks_that_do_not_come(fencepost, status, verdict, code):
    fencepost.transport.troubles.append(
        lambda answer: HttpAnswer(
            status=200, body=answer.body.replace(b'"ok"', f'"{status}"'.encode()), headers=answer.headers
        )
    )

    assert findings(fencepost, code)["ticks"][0] == verdict


@pytest.mark.parametrize("trouble", ["database or disk is full", None])
def test_a_store_that_refuses_writes(fencepost, trouble):
    def told(answer: HttpAnswer) -> HttpAnswer:
        body = json.loads(answer.body) | {"status": "failing", "trouble": trouble}
        return HttpAnswer(status=200, body=json.dumps(body).encode(), headers=answer.headers)

    fencepost.transport.troubles.append(told)

    found = findings(fencepost, 1)

    assert found["store"] == ("bad", f"nothing fires: {trouble or 'the store refuses writes'}")
    assert "ticks" not in found


LOOKS_BACK = (
    "they come, and firings are on time: every tick looks back over some 5 minutes on purpose, so that nothing written "
    "late is missed (the oldest minute still looked at began 361 s ago)"
)
BEHIND = "firings are late: the oldest minute still looked at began 361 s ago, where some 5 minutes are usual"
STARTING = "the service is starting: the oldest minute still looked at began 361 s ago"


@pytest.mark.parametrize(("status", "says"), [("ok", LOOKS_BACK), ("late", BEHIND), ("starting", STARTING)])
def test_how_far_back_the_service_looks_is_told_with_what_is_good_about_it(fencepost, status, says):
    def told(answer: HttpAnswer) -> HttpAnswer:
        body = json.loads(answer.body) | {"status": status, "watermark_age_seconds": 361}
        return HttpAnswer(status=200, body=json.dumps(body).encode(), headers=answer.headers)

    fencepost.transport.troubles.append(told)

    assert findings(fencepost, status == "late")["ticks"][1] == says


def test_no_way_to_the_service(fencepost):
    fencepost.transport.troubles.extend([NoAnswerError("Name or service not known")] * 5)

    found = findings(fencepost, 1)

    assert "no way to it" in found["endpoint"][1]
    assert "Name or service not known" in found["endpoint"][1]


def test_a_service_that_refuses_the_signature(fencepost):
    fencepost.transport.troubles.append(
        HttpAnswer(status=403, body=b'{"message": "The security token included in the request is expired"}')
    )

    assert "the service refuses you: The security token" in findings(fencepost, 1)["endpoint"][1]


def test_a_team_that_is_not_there_or_not_yours(fencepost):
    ran = fencepost("doctor", "--team", "ops", by="AKIDADMIN")
    assert ran.status == 1
    assert "there is no team ops" in ran.out

    stranger = findings(fencepost, 1, by="AKIDSTRANGER")
    assert "fencepost iam-policy" in stranger["team"][1]


def test_no_team_at_all(fencepost):
    del fencepost.environment["FENCEPOST_TEAM"]

    assert findings(fencepost, 0)["team"][0] == "odd"


def test_switches_that_are_off_are_named(fencepost):
    fencepost("team", "pause", "--tier", "bulk", "--note", "the database is full", "--yes")
    fencepost(
        "stage", "pause", "--tier", "standard", "--note", "the network is down", "--yes", by="AKIDADMIN"
    )

    ran = fencepost("doctor", "--json")

    assert ran.status == 0
    odd = {each["what"]: each["says"] for each in ran.json if each["verdict"] == "odd"}
    assert set(odd) == {"stage", "team"}
    assert odd["stage"].startswith("paused: standard by ")
    assert odd["stage"].endswith("the network is down")
    assert odd["team"].startswith("paused: bulk by ")
