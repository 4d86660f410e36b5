"""Telling a team: SNS topic, webhook, EventBridge event. The same guard, the same signatures, the same role."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from botocore.exceptions import BotoCoreError, ClientError

from fencepost.adapters.http.client import GuardedHttp
from fencepost.adapters.http.connector import HttpRequest
from fencepost.adapters.targets.aws import read_entries, region_of
from fencepost.adapters.targets.aws_errors import aws_failure
from fencepost.adapters.targets.clients import ClientFactory
from fencepost.adapters.targets.credentials import RoleUnavailableError
from fencepost.adapters.targets.keys import KeyRing, KeyUnavailableError
from fencepost.domain.delivery import CONTENT_TYPE, USER_AGENT, Sender
from fencepost.domain.egress import EgressPolicy
from fencepost.domain.model import NotifyTargets
from fencepost.domain.notification import Notification, notification_body
from fencepost.domain.outcome import Accepted, Delivered, Failed, Outcome, clip
from fencepost.domain.signing import standard_headers

TIMEOUT = timedelta(seconds=5)
SOURCE = "fencepost"
DETAIL_TYPE = "Fencepost Notification"


class ChannelNotifier:
    """Tells every channel that is set, each whatever became of the others.

    `sender_of` gives how a team sends (its keys, hosts and role) by its name, `now` the instant for signatures.
    """

    def __init__(
        self,
        *,
        http: GuardedHttp,
        clients: ClientFactory,
        keys: KeyRing,
        policy: EgressPolicy,
        sender_of: Callable[[str], Sender],
        now: Callable[[], datetime],
    ) -> None:
        self._http = http
        self._clients = clients
        self._keys = keys
        self._policy = policy
        self._sender_of = sender_of
        self._now = now

    def notify(self, notification: Notification, targets: NotifyTargets) -> bool:
        """True when every channel took it. A repeat carries the same id, so a receiver can drop it."""
        outcomes = self.tell(notification, targets)
        return all(isinstance(outcome, Delivered | Accepted) for outcome in outcomes.values())

    def tell(self, notification: Notification, targets: NotifyTargets) -> dict[str, Outcome]:
        """The outcome per channel that is set."""
        sender = self._sender_of(notification.team)
        outcomes: dict[str, Outcome] = {}
        if targets.sns is not None:
            outcomes["sns"] = self._publish(notification, targets.sns, sender)
        if targets.webhook is not None:
            outcomes["webhook"] = self._post(notification, targets.webhook, sender)
        if targets.event_bus is not None:
            outcomes["event_bus"] = self._put_event(notification, targets.event_bus, sender)
        return outcomes

    def _post(self, notification: Notification, url: str, sender: Sender) -> Outcome:
        body, sent_at = notification_body(notification), self._now()
        try:
            signed = standard_headers(notification.id, sent_at, body, self._keys.signers(sender.keys))
        except KeyUnavailableError as error:
            return Failed(error=clip(str(error)))
        headers = {
            "Content-Type": CONTENT_TYPE,
            "User-Agent": USER_AGENT,
            "Fencepost-Notification": notification.kind.value,
            "Fencepost-Team": notification.team,
            "Idempotency-Key": notification.id,
            **signed,
        }
        request = HttpRequest(url=url, headers=headers, body=body, sent_at=sent_at)
        policy = replace(self._policy, allowed_hosts=sender.allowed_hosts)
        return self._http.call(request, policy=policy, timeout=TIMEOUT.total_seconds())

    def _publish(self, notification: Notification, topic: str, sender: Sender) -> Outcome:
        def perform() -> Outcome:
            client = self._clients.client("sns", region_of(topic), sender, TIMEOUT)
            fifo = {"MessageGroupId": notification.team, "MessageDeduplicationId": notification.id}
            client.publish(
                TopicArn=topic,
                Subject=clip(f"Fencepost: {_subject(notification)} {notification.kind.value}", 99),
                Message=notification_body(notification).decode(),
                MessageAttributes={
                    "id": {"DataType": "String", "StringValue": notification.id},
                    "kind": {"DataType": "String", "StringValue": notification.kind.value},
                    "team": {"DataType": "String", "StringValue": notification.team},
                },
                **(fifo if topic.endswith(".fifo") else {}),
            )
            return Delivered()

        return _on_aws(perform)

    def _put_event(self, notification: Notification, bus: str, sender: Sender) -> Outcome:
        def perform() -> Outcome:
            client = self._clients.client("events", region_of(bus), sender, TIMEOUT)
            entry = {
                "EventBusName": bus,
                "Source": SOURCE,
                "DetailType": DETAIL_TYPE,
                "Detail": notification_body(notification).decode(),
                "Time": notification.at,
            }
            return read_entries(client.put_events(Entries=[entry]))

        return _on_aws(perform)


def _subject(notification: Notification) -> str:
    """What it is about: a job, a host, or the team."""
    return notification.job or notification.host or notification.team


def _on_aws(perform: Callable[[], Outcome]) -> Outcome:
    try:
        return perform()
    except RoleUnavailableError as error:
        return Failed(error=clip(str(error)))
    except (ClientError, BotoCoreError) as error:
        return aws_failure(error)
