"""Telling a team: every channel that is set, one id, the same guard."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from fencepost.adapters.http.connector import HttpAnswer
from fencepost.adapters.notifier import ChannelNotifier
from fencepost.domain.egress import EgressPolicy
from fencepost.domain.model import NotifyTargets
from fencepost.domain.notification import Notification, NotificationKind, notification_body
from fencepost.domain.outcome import Blocked, Failed
from fencepost.domain.signing import verify
from tests.support.deliveries import DUE, EXECUTION, KEY, SEALED, SENDER, SENT_AT, OneClient, key_ring
from tests.support.egress import PUBLIC_ADDRESS, RememberingConnector, ScriptedResolver, guarded
from tests.support.hostile import hostile_urls, inside_addresses

SNS = "arn:aws:sns:eu-central-1:123456789012:alarms"
BUS = "arn:aws:events:eu-central-1:123456789012:event-bus/jobs"
HOOK = "https://hooks.example.com/n"
ALL = NotifyTargets(sns=SNS, webhook=HOOK, event_bus=BUS)
DEAD = Notification.of(
    NotificationKind.DEAD,
    team="payments",
    job="nightly-report",
    occasion="7",
    at=DUE,
    execution_id=EXECUTION,
    due=DUE,
    reason="budget_spent",
)


@dataclass
class FakeAws:
    """SNS and EventBridge in one, or an error of theirs."""

    error: Exception | None = None
    failed_entries: int = 0
    published: list[dict[str, object]] = field(default_factory=list)
    events: list[dict[str, object]] = field(default_factory=list)

    def publish(self, **message):
        if self.error:
            raise self.error
        self.published.append(message)
        return {"MessageId": "m"}

    def put_events(self, Entries):  # noqa: N803 - as the service names it
        if self.error:
            raise self.error
        self.events.extend(Entries)
        if self.failed_entries:
            return {"FailedEntryCount": 1, "Entries": [{"ErrorCode": "InternalFailure"}]}
        return {"FailedEntryCount": 0, "Entries": [{"EventId": "e"}]}


def notifier(aws=None, connector=None, resolver=None, sender=SENDER):
    return ChannelNotifier(
        http=guarded(resolver or ScriptedResolver(), connector or RememberingConnector()),
        clients=OneClient(aws or FakeAws()),
        keys=key_ring(),
        policy=EgressPolicy(),
        sender_of=lambda team: replace(sender, team=team),
        now=lambda: SENT_AT,
    )


def test_every_channel_that_is_set_is_told_the_same_with_one_id():
    aws, connector = FakeAws(), RememberingConnector()
    assert notifier(aws, connector).notify(DEAD, ALL)
    (message,) = aws.published
    (event,) = aws.events
    ((_, _, request),) = connector.exchanges
    told = json.loads(notification_body(DEAD))
    assert json.loads(str(message["Message"])) == told
    assert json.loads(str(event["Detail"])) == told
    assert json.loads(request.body) == told
    assert told["id"] == DEAD.id == request.headers["webhook-id"] == request.headers["Idempotency-Key"]
    assert message["TopicArn"] == SNS
    assert (event["EventBusName"], event["Source"], event["Time"]) == (BUS, "fencepost", DUE)
    assert request.headers["Fencepost-Notification"] == "dead"


def test_a_webhook_notification_is_signed_as_deliveries_are():
    connector = RememberingConnector()
    notifier(connector=connector).notify(DEAD, NotifyTargets(webhook=HOOK))
    ((_, _, request),) = connector.exchanges
    assert verify(request.headers, request.body, [KEY], SENT_AT).id == DEAD.id


def test_a_repeat_has_the_same_id_and_the_same_body():
    connector = RememberingConnector()
    told = notifier(connector=connector)
    told.notify(DEAD, NotifyTargets(webhook=HOOK))
    told.notify(DEAD, NotifyTargets(webhook=HOOK))
    first, second = (request for _, _, request in connector.exchanges)
    assert first.headers == second.headers
    assert first.body == second.body


def test_nothing_set_is_nobody_to_tell():
    aws, connector = FakeAws(), RememberingConnector()
    assert notifier(aws, connector).notify(DEAD, NotifyTargets())
    assert (aws.published, aws.events, connector.exchanges) == ([], [], [])


def test_one_deaf_channel_does_not_silence_the_others_and_is_reported():
    aws, connector = FakeAws(), RememberingConnector([HttpAnswer(status=500, headers={}, body=b"")])
    assert not notifier(aws, connector).notify(DEAD, ALL)
    assert len(aws.published) == len(aws.events) == 1
    broken = FakeAws(error=ClientError({"Error": {"Code": "AccessDenied"}}, "Publish"))
    connector = RememberingConnector()
    outcomes = notifier(broken, connector).tell(DEAD, ALL)
    assert {name: outcome.kind for name, outcome in outcomes.items()} == {
        "sns": "failed",
        "webhook": "delivered",
        "event_bus": "failed",
    }


@pytest.mark.parametrize(
    "aws", [FakeAws(error=ReadTimeoutError(endpoint_url="x")), FakeAws(failed_entries=1)]
)
def test_an_unknown_or_half_failed_call_is_not_told(aws):
    assert not notifier(aws).notify(DEAD, NotifyTargets(event_bus=BUS))


def test_a_202_is_enough():
    connector = RememberingConnector([HttpAnswer(status=202, headers={}, body=b"")])
    assert notifier(connector=connector).notify(DEAD, NotifyTargets(webhook=HOOK))


HOSTILE = sorted({url for _, url in hostile_urls()})


@pytest.mark.parametrize("url", HOSTILE, ids=[ascii(url)[:60] for url in HOSTILE])
def test_R07_no_hostile_url_is_notified(url):
    connector = RememberingConnector()
    outcomes = notifier(connector=connector).tell(DEAD, NotifyTargets(webhook=url))
    assert isinstance(outcomes["webhook"], Blocked)
    assert connector.exchanges == []


@pytest.mark.parametrize("address", sorted({address for _, address in inside_addresses()}))
def test_R07_a_name_that_turns_inwards_is_not_notified(address):
    connector = RememberingConnector()
    resolver = ScriptedResolver({"hooks.example.com": [[PUBLIC_ADDRESS], [address]]})
    told = notifier(connector=connector, resolver=resolver)
    assert told.notify(DEAD, NotifyTargets(webhook=HOOK))
    assert not told.notify(DEAD, NotifyTargets(webhook=HOOK))
    assert connector.addresses == [PUBLIC_ADDRESS]


def test_R07_the_teams_list_of_hosts_holds_for_notifications():
    connector = RememberingConnector()
    told = notifier(connector=connector, sender=replace(SENDER, allowed_hosts=("a.example",)))
    assert not told.notify(DEAD, NotifyTargets(webhook=HOOK))
    assert connector.exchanges == []


def test_without_its_key_or_role_a_team_is_not_told_and_the_reason_is_there():
    connector = RememberingConnector()
    sealed = replace(SENDER, keys=(replace(SEALED, secret="kms is down"),))
    outcomes = notifier(connector=connector, sender=sealed).tell(DEAD, NotifyTargets(webhook=HOOK))
    assert outcomes == {"webhook": Failed(error="the key service does not answer")}
    assert connector.exchanges == []


def test_channels_have_a_short_time_each():
    clients = OneClient(FakeAws())
    told = notifier()
    told._clients = clients
    told.notify(DEAD, ALL)
    assert clients.asked == [
        ("sns", "eu-central-1", "payments", timedelta(seconds=5)),
        ("events", "eu-central-1", "payments", timedelta(seconds=5)),
    ]
