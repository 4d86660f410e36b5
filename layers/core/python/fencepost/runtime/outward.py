"""Composes what calls out: targets and notifications, through one guard, with one ring of keys."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.adapters.http.client import GuardedHttp
from fencepost.adapters.http.connector import UrllibConnector
from fencepost.adapters.http.resolver import SystemResolver
from fencepost.adapters.notifier import ChannelNotifier
from fencepost.adapters.targets.aws import AwsCaller
from fencepost.adapters.targets.clients import ClientFactory
from fencepost.adapters.targets.keys import KeyRing, Opener
from fencepost.adapters.targets.routing import RoutedTargets
from fencepost.adapters.targets.webhook import WebhookCaller
from fencepost.application.delivery.reads import Reads
from fencepost.application.ports import Clock
from fencepost.domain.delivery import Sender
from fencepost.domain.egress import EgressPolicy
from fencepost.runtime.clock import monotonic_seconds


@dataclass(frozen=True, slots=True)
class Outward:
    """Whatever leaves the stage leaves through these."""

    targets: RoutedTargets
    notifier: ChannelNotifier
    http: GuardedHttp


def outward(
    clients: ClientFactory, open_secret: Opener, policy: EgressPolicy, reads: Reads, clock: Clock
) -> Outward:
    """`clients` act for teams on AWS, `open_secret` opens their signing keys, `policy` is the stage's."""
    http = GuardedHttp(
        resolver=SystemResolver(monotonic=monotonic_seconds),
        connector=UrllibConnector(monotonic=monotonic_seconds),
        monotonic=monotonic_seconds,
    )
    keys = KeyRing(open_secret)

    def sender_of(team: str) -> Sender:
        found = reads.team(team, clock.now())
        return Sender(team=team) if found is None else Sender.of(found)

    webhooks = WebhookCaller(http=http, keys=keys, policy=policy)
    return Outward(
        targets=RoutedTargets(webhooks=webhooks, aws=AwsCaller(clients=clients)),
        notifier=ChannelNotifier(
            http=http, clients=clients, keys=keys, policy=policy, sender_of=sender_of, now=clock.now
        ),
        http=http,
    )
