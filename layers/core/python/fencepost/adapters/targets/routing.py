"""The port that use cases see: any target, one call."""

from __future__ import annotations

from datetime import timedelta

from fencepost.adapters.targets import TargetCaller
from fencepost.domain.delivery import Delivery
from fencepost.domain.outcome import Outcome
from fencepost.domain.targets import WebhookTarget


class RoutedTargets:
    """Webhooks go one way, AWS targets the other."""

    def __init__(self, *, webhooks: TargetCaller, aws: TargetCaller) -> None:
        self._webhooks = webhooks
        self._aws = aws

    def call(self, delivery: Delivery, *, timeout: timedelta) -> Outcome:
        caller = self._webhooks if isinstance(delivery.target, WebhookTarget) else self._aws
        return caller.call(delivery, timeout=timeout)
