"""What a webhook receives: the same body on every attempt, and headers that no team can forge or break."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.domain.delivery import (
    DeliveryFacts,
    Sender,
    check_headers,
    envelope,
    facts_to_wire,
    headers_for,
    render_body,
    rendered_size,
)
from fencepost.domain.headers import RESERVED_NAMES
from fencepost.domain.model import Team
from fencepost.domain.signing import HmacKey

DUE = datetime(2026, 3, 1, 2, 30, tzinfo=UTC)
SENT = datetime(2026, 3, 1, 2, 30, 0, 112_000, tzinfo=UTC)
EXECUTION = "aaaaaaaaaaaaaaaaaaaa-s-1772332200000"
FACTS = DeliveryFacts(
    execution_id=EXECUTION,
    team="payments",
    job="nightly-report",
    due=DUE,
    attempt=1,
    fence=1_772_332_200_100,
    body=b"{}",
)
KEY = HmacKey(kid="k1", secret=b"k" * 32)


def test_a_target_is_told_the_facts():
    headers = headers_for(FACTS, {}, [KEY], SENT)
    assert headers | {"webhook-signature": "", "Fencepost-Signature": ""} == {
        "Content-Type": "application/json",
        "User-Agent": "Fencepost/1",
        "Fencepost-Execution": EXECUTION,
        "Fencepost-Team": "payments",
        "Fencepost-Job": "nightly-report",
        "Fencepost-Due": "2026-03-01T02:30:00.000Z",
        "Fencepost-Attempt": "1",
        "Fencepost-Fence": "1772332200100",
        "Idempotency-Key": EXECUTION,
        "webhook-id": EXECUTION,
        "webhook-timestamp": "1772332200",
        "webhook-signature": "",
        "Fencepost-Signature": "",
    }


def test_R01_every_attempt_has_the_same_body_and_key_and_a_larger_fence():
    payload = b'{"day":"{{due}}","id":"{{ execution_id }}"}'
    body = render_body(payload, execution_id=EXECUTION, due=DUE)
    first = replace(FACTS, body=body)
    later = replace(first, attempt=2, fence=first.fence + 60_000)
    assert render_body(payload, execution_id=later.execution_id, due=later.due) == body
    one, two = (headers_for(facts, {}, [KEY], SENT) for facts in (first, later))
    different = {name for name in one if one[name] != two[name]}
    assert different == {"Fencepost-Attempt", "Fencepost-Fence", "Fencepost-Signature"}


def test_placeholders_are_filled_in_payload_and_headers():
    body = render_body(
        b'{"a":"{{due}}/{{execution_id}}","b":"{{other}} {{{{due}}}}"}', execution_id=EXECUTION, due=DUE
    )
    assert json.loads(body) == {
        "a": f"2026-03-01T02:30:00.000Z/{EXECUTION}",
        "b": "{{other}} {{2026-03-01T02:30:00.000Z}}",
    }
    headers = headers_for(FACTS, {"X-Day": "d={{due}}", "X-Id": "{{execution_id}}"}, [], SENT)
    assert headers["X-Day"] == "d=2026-03-01T02:30:00.000Z"
    assert headers["X-Id"] == EXECUTION


@given(
    st.recursive(
        st.text() | st.integers() | st.none() | st.just("{{due}}"), lambda inner: st.lists(inner, max_size=4)
    )
)
def test_json_stays_json_and_its_size_is_known_beforehand(value):
    payload = json.dumps(value).encode()
    body = render_body(payload, execution_id=EXECUTION, due=DUE)
    json.loads(body)
    assert len(body) <= rendered_size(payload)


def test_a_team_may_set_its_own_content_type_and_agent():
    headers = headers_for(FACTS, {"content-type": "text/plain", "USER-AGENT": "us"}, [], SENT)
    assert "Content-Type" not in headers
    assert headers["content-type"] == "text/plain"
    assert headers["USER-AGENT"] == "us"


FORGED = [
    "Fencepost-Fence",
    "fencepost-attempt",
    "FENCEPOST-X",
    "webhook-id",
    "Webhook-Signature",
    *sorted(RESERVED_NAMES),
]


@pytest.mark.parametrize("name", [*FORGED, *(name.title() for name in sorted(RESERVED_NAMES))])
def test_fenceposts_own_headers_and_those_of_the_connection_are_reserved(name):
    (fault,) = check_headers({name: "1"}, field="target.webhook.headers")
    assert fault.field == f"target.webhook.headers.{name}"
    assert "own" in fault.rule
    with pytest.raises(ValueError, match="own"):
        headers_for(FACTS, {name: "1"}, [], SENT)


INJECTIONS = [
    "a\r\nX: b",
    "a\nX: b",
    "a\rb",
    "a\x00b",
    "\r\n",
    " a",
    "a ",
    "\ta",
    "é",
    "a\x7f",
    "a\u2028b",
    "x" * 1025,
]


@pytest.mark.parametrize("value", INJECTIONS)
def test_a_value_cannot_break_out_of_its_line(value):
    assert check_headers({"X-A": value})
    with pytest.raises(ValueError, match="header value"):
        headers_for(FACTS, {"X-A": value}, [], SENT)


@pytest.mark.parametrize("name", ["", "a b", "a:b", "a\r\nb", "é", "a\x00", "(a)", "a" * 65, "a,b", '"a"'])
def test_a_name_is_a_token(name):
    assert check_headers({name: "1"})


@pytest.mark.parametrize(
    "raw",
    [None, "a: b", ["a"], 1, {"X-A": 1}, {"X-A": None}, {"X-A": ["b"]}, {1: "b"}, {"X-A": "1", "x-a": "2"}],
)
def test_headers_are_an_object_of_strings(raw):
    assert check_headers(raw)


def test_headers_are_bounded_in_number_and_size():
    assert check_headers({f"X-{number}": "1" for number in range(32)}) == ()
    assert check_headers({f"X-{number}": "1" for number in range(33)})
    assert check_headers({f"X-{number}": "v" * 1000 for number in range(9)})
    assert check_headers({"X-Empty": "", "Authorization": "Bearer {{execution_id}}"}) == ()


def test_all_faults_of_the_headers_are_told_at_once():
    faults = check_headers({"Host": "x", "X-A": "a\r\nb", "b c": "1", "X-N": 5})
    assert sorted(fault.field for fault in faults) == [
        "headers.Host",
        "headers.X-A",
        "headers.X-N",
        "headers.b c",
    ]


@given(st.dictionaries(st.text(max_size=10), st.text(max_size=30), max_size=5))
def test_whatever_passes_the_check_is_one_line_each(raw):
    if check_headers(raw) == ():
        for name, value in headers_for(FACTS, raw, [], SENT).items():
            line = f"{name}: {value}"
            assert line.isascii()
            assert len(line.splitlines()) == 1


def test_targets_without_headers_get_the_facts_beside_the_payload():
    text = envelope(replace(FACTS, body=b'{"n": 1.50, "b": [1,2]}'))
    assert '"payload":{"n": 1.50, "b": [1,2]}' in text  # the payload's own bytes, not a reading of them
    assert json.loads(text)["fencepost"] == facts_to_wire(FACTS)
    assert json.loads(envelope(replace(FACTS, body=b"")))["payload"] is None
    assert json.loads(envelope(replace(FACTS, body=b"a \xff")))["payload"] == "a \ufffd"


@pytest.mark.parametrize("name", ["", "a b", "a\r\nb", "é", '"', "x" * 129])
def test_facts_that_could_not_stand_in_a_header_are_a_mistake(name):
    for field in ("execution_id", "team", "job"):
        with pytest.raises(ValueError, match="cannot be told"):
            replace(FACTS, **{field: name})


def test_how_a_team_sends_is_read_off_its_record():
    team = Team(name="payments", allowed_hosts=("a.example",), delivery_role="arn:role", external_id="x-1")
    assert Sender.of(team) == Sender(
        team="payments", allowed_hosts=("a.example",), role_arn="arn:role", external_id="x-1"
    )
