"""R07 from the API's door to the socket: no address inside a network is a target, whoever says so and whenever."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fencepost.adapters.notifier import ChannelNotifier
from fencepost.adapters.targets.keys import KeyRing
from fencepost.adapters.targets.webhook import WebhookCaller
from fencepost.application import keys
from fencepost.application.registry.reading import find_job
from fencepost.application.store import Put, Table
from fencepost.domain.delivery import Sender
from fencepost.domain.egress import EgressPolicy
from fencepost.domain.instants import from_wire
from fencepost.domain.model import NotifyTargets
from fencepost.domain.notification import Notification, NotificationKind
from tests.support.api import Front
from tests.support.clients import Machine
from tests.support.deliveries import OneClient
from tests.support.egress import PUBLIC_ADDRESS, RememberingConnector, ScriptedResolver, guarded
from tests.support.hostile import hostile_urls, inside_addresses

PAYMENTS = "/v1/teams/payments"
DUE = "2026-03-01T12:05:00Z"
CLASSES = sorted({kind for kind, _ in hostile_urls()})
INSIDE = "169.254.169.254"
ONCE = {"max_attempts": 1}


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


@pytest.mark.parametrize("kind", CLASSES)
def test_R07_a_hostile_url_that_got_into_the_store_is_neither_called_nor_told(outward, kind):
    """By an older version, a looser stage or a restore: the guard stands before the call, not only at the door."""
    front, machine, _, connector = outward
    urls = sorted({url for each, url in hostile_urls() if each == kind})
    for number, url in enumerate(urls):
        name = f"job-{number}"
        made = front.put(f"{PAYMENTS}/jobs/{name}", TestR07ANameThatTurnsInwards.JOB | {"retry": ONCE})
        job = find_job(front.memory, "payments", name)
        assert made.status == 201
        assert job is not None
        key = keys.detail(job.uid, job.detail)
        item = dict(front.memory.get(key) or {})
        detail = {name: value for name, value in item.items() if name not in {"pk", "sk"}}
        detail["target"] = {"webhook": {**detail["target"]["webhook"], "url": url}}
        front.memory.write(Put(key=key, item=detail))
        notice = Notification.of(
            NotificationKind.DEAD, team="payments", job=name, occasion="1", at=front.clock.now()
        )
        assert not front.stage.notifier.notify(notice, NotifyTargets(webhook=url)), url
    run(machine, minutes=2)
    found = [item for item in front.memory.everything(Table.EXECUTIONS) if "state" in item]
    assert len(found) == len(urls)
    assert {item["state"] for item in found} == {"DEAD"}
    assert connector.exchanges == []


def test_R07_a_name_that_turns_to_any_address_inside_is_blocked_at_its_next_attempt_and_notice(outward):
    """Public when the job was declared and at its first attempt, inside at the second; and so for the notice."""
    front, machine, resolver, connector = outward
    inside = list(dict.fromkeys(address for _, address in inside_addresses()))
    hosts = {f"h{number}.example.com": address for number, address in enumerate(inside)}
    resolver.script = {host: [[PUBLIC_ADDRESS], [address]] for host, address in hosts.items()}
    connector.answers = [type(connector.answers[0])(status=500, headers={}, body=b"")]
    for number, host in enumerate(hosts):
        target = {"webhook": {"url": f"https://{host}/in"}}
        twice = {"max_attempts": 2, "initial_delay_seconds": 1, "max_delay_seconds": 1}
        body = {"schedule": {"at": DUE}, "target": target, "retry": twice}
        assert front.put(f"{PAYMENTS}/jobs/job-{number}", body).status == 201
    run(machine, minutes=5)
    for number in range(len(hosts)):
        [record] = front.get(f"{PAYMENTS}/jobs/job-{number}/executions").body["items"]
        assert [each["outcome"] for each in record["attempts"]] == ["failed", "blocked"], inside[number]
    assert set(connector.addresses) == {PUBLIC_ADDRESS}
    called = len(connector.exchanges)
    assert called == len(hosts)
    for host in hosts:
        notice = Notification.of(
            NotificationKind.DEAD, team="payments", job="x", occasion=host, at=front.clock.now()
        )
        assert not front.stage.notifier.notify(notice, NotifyTargets(webhook=f"https://{host}/n")), host
    assert len(connector.exchanges) == called


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
