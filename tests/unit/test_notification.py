"""Notifications: the same happening always has the same id."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from fencepost.domain.egress import EgressPolicy
from fencepost.domain.faults import Faults
from fencepost.domain.model import NotifyTargets
from fencepost.domain.notification import (
    Notification,
    NotificationKind,
    notification_body,
    notification_of,
    notification_to_wire,
    notify_to_wire,
    parse_notify,
)

AT = datetime(2026, 3, 1, 2, 35, tzinfo=UTC)
EXECUTION = "aaaaaaaaaaaaaaaaaaaa-s-1772332200000"
SNS = "arn:aws:sns:eu-central-1:123456789012:alarms"
BUS = "arn:aws:events:eu-central-1:123456789012:event-bus/jobs"


def dead(
    team="payments", job="nightly", occasion="100", execution_id=EXECUTION, at=AT, due=None, reason=None
):
    return Notification.of(
        NotificationKind.DEAD,
        team=team,
        job=job,
        occasion=occasion,
        at=at,
        execution_id=execution_id,
        due=due,
        reason=reason,
    )


def test_a_happening_told_again_later_has_the_same_id():
    assert dead(at=AT + timedelta(minutes=5), reason="other words").id == dead().id


def test_another_happening_has_another_id():
    others = [
        dead(team="ledger"),
        dead(job="hourly"),
        dead(occasion="101"),  # a redrive died again
        dead(execution_id="b" + EXECUTION[1:]),
        Notification.of(NotificationKind.SUCCEEDED, team="payments", job="nightly", occasion="100", at=AT),
    ]
    assert len({dead().id, *(other.id for other in others)}) == 6


def test_R03_each_opening_of_each_hosts_circuit_has_its_own_id():
    def opened(host, occasion="1772332200000"):
        kind = NotificationKind.CIRCUIT_OPEN
        return Notification.of(kind, team="payments", job="", occasion=occasion, at=AT, host=host)

    notices = [opened("a.example"), opened("b.example"), opened("a.example", "1772332260000")]
    assert len({notice.id for notice in notices}) == 3
    assert notification_of(notification_to_wire(notices[0])) == notices[0]


def test_all_channels_read_the_same_words():
    told = json.loads(notification_body(dead(due=AT, reason="budget_spent")))
    assert told == {
        "id": dead().id,
        "kind": "dead",
        "team": "payments",
        "job": "nightly",
        "execution_id": EXECUTION,
        "due": "2026-03-01T02:35:00.000Z",
        "reason": "budget_spent",
        "host": None,
        "at": "2026-03-01T02:35:00.000Z",
    }


def test_notification_targets_are_read_and_written():
    raw = {"sns": SNS, "webhook": "https://a.example/n", "event_bus": BUS}
    targets = parse_notify(raw, EgressPolicy())
    assert targets == NotifyTargets(sns=SNS, webhook="https://a.example/n", event_bus=BUS)
    assert notify_to_wire(targets) == raw
    assert notify_to_wire(parse_notify({}, EgressPolicy())) == {}


def test_R07_all_faults_of_notification_targets_are_told_at_once():
    raw = {"sns": BUS, "webhook": "http://169.254.169.254/", "event_bus": 5, "pager": "x"}
    with pytest.raises(Faults) as caught:
        parse_notify(raw, EgressPolicy())
    assert {fault.field for fault in caught.value.faults} == {
        "notify.sns",
        "notify.webhook",
        "notify.event_bus",
        "notify.pager",
    }


@pytest.mark.parametrize("raw", [None, [], "arn", {"webhook": 5}])
def test_notification_targets_are_an_object(raw):
    with pytest.raises(Faults):
        parse_notify(raw, EgressPolicy())
