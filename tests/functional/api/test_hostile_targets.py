"""R07 from the API's door to the socket: no address inside a network is a target, whoever says so and whenever."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fencepost.adapters.notifier import ChannelNotifier
from fencepost.adapters.targets.keys import KeyRing
from fencepost.adapters.targets.webhook import WebhookCaller
from fencepost.domain.delivery import Sender
from fencepost.domain.egress import EgressPolicy
from fencepost.domain.instants import from_wire
from tests.support.api import Front
from tests.support.clients import Machine
from tests.support.deliveries import OneClient
from tests.support.egress import PUBLIC_ADDRESS, RememberingConnector, ScriptedResolver, guarded
from tests.support.hostile import hostile_urls

PAYMENTS = "/v1/teams/payments"
DUE = "2026-03-01T12:05:00Z"
CLASSES = sorted({kind for kind, _ in hostile_urls()})
INSIDE = "169.254.169.254"


def test_R07_the_matrix_is_as_large_as_it_should_be():
    assert len(set(hostile_urls())) >= 150
    assert len(CLASSES) >= 12


@pytest.mark.parametrize("kind", CLASSES)
def test_R07_no_hostile_url_is_registered_as_target_or_to_be_told(kind):
    front = Front.at()
    urls = sorted({url for each, url in hostile_urls() if each == kind})
    for url in urls:
        target = front.put(
            PAYMENTS + "/jobs/report",
            {"schedule": {"at": "2026-12-24T18:00:00Z"}, "target": {"webhook": {"url": url}}},
        )
        told = front.patch(PAYMENTS, {"notify": {"webhook": url}})
        assert (target.status, told.status) == (422, 422), url
        assert "target.webhook.url" in target.faults, url
        assert "notify.webhook" in told.faults, url
    assert front.get(PAYMENTS + "/jobs").body["items"] == []
    assert front.get(PAYMENTS).body["notify"] == {}


@pytest.fixture
def outward():
    """A stage that calls out through the guard; its resolver's answers are the test's to change."""
    front, connector = Front.at("2026-03-01T12:00:00Z"), RememberingConnector()
    resolver = ScriptedResolver()
    http, ring = guarded(resolver, connector), KeyRing(front.stage.secrets.open)
    caller = WebhookCaller(http=http, keys=ring, policy=EgressPolicy())
    front.stage.targets = caller  # type: ignore[assignment]  # this stage calls out
    notifier = ChannelNotifier(
        http=http,
        clients=OneClient(RuntimeError("no AWS here")),
        keys=ring,
        policy=EgressPolicy(),
        sender_of=lambda team: Sender(team=team),
        now=front.clock.now,
    )
    front.stage.notifier = notifier  # type: ignore[assignment]  # the same
    return front, Machine(front), resolver, connector


def attempts(front):
    [record] = front.get(PAYMENTS + "/jobs/report/executions").body["items"]
    return record["state"], [attempt["outcome"] for attempt in record["attempts"]]


def run(machine, **after):
    machine.run(from_wire(DUE) + timedelta(**after))


class TestR07ANameThatTurnsInwards:
    """It was public when the job was declared."""

    JOB = {  # noqa: RUF012 - read only
        "schedule": {"at": DUE},
        "target": {"webhook": {"url": "https://hooks.example.com/in"}},
        "retry": {"max_attempts": 3, "initial_delay_seconds": 1, "max_delay_seconds": 1},
    }

    def test_R07_is_blocked_at_the_first_attempt_and_at_every_other(self, outward):
        front, machine, resolver, connector = outward
        assert front.put(PAYMENTS + "/jobs/report", self.JOB).status == 201
        resolver.script = {"hooks.example.com": [[INSIDE]]}
        run(machine, minutes=10)
        assert attempts(front) == ("DEAD", ["blocked"] * 3)
        assert connector.exchanges == []

    def test_R07_is_called_where_it_was_judged_and_looked_up_anew_each_time(self, outward):
        front, machine, resolver, connector = outward
        front.put(PAYMENTS + "/jobs/report", self.JOB)
        connector.answers = [type(connector.answers[0])(status=500, headers={}, body=b"")]
        resolver.script = {
            "hooks.example.com": [[PUBLIC_ADDRESS], [PUBLIC_ADDRESS, INSIDE], [PUBLIC_ADDRESS]]
        }
        run(machine, minutes=10)
        assert attempts(front) == ("DEAD", ["failed", "blocked", "failed"])
        assert connector.addresses == [PUBLIC_ADDRESS, PUBLIC_ADDRESS]

    def test_R07_is_not_told_either(self, outward):
        front, machine, resolver, connector = outward
        front.patch(PAYMENTS, {"notify": {"webhook": "https://told.example.com/n"}, "notify_on": ["dead"]})
        front.put(PAYMENTS + "/jobs/report", self.JOB)
        resolver.script = {"hooks.example.com": [[INSIDE]], "told.example.com": [[INSIDE]]}
        run(machine, minutes=10)
        assert connector.exchanges == []
        resolver.script = {"told.example.com": [[PUBLIC_ADDRESS]]}
        run(machine, minutes=60)
        [(url, address, _)] = connector.exchanges
        assert (url.host, address) == ("told.example.com", PUBLIC_ADDRESS)
