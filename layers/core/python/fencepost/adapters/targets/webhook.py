"""Webhooks: the guarded, signed HTTP call."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from fencepost.adapters.http.client import GuardedHttp
from fencepost.adapters.http.connector import HttpRequest
from fencepost.adapters.targets.keys import KeyRing, KeyUnavailableError
from fencepost.domain.delivery import Delivery, headers_for
from fencepost.domain.egress import EgressPolicy
from fencepost.domain.outcome import Failed, Outcome, Refused, clip
from fencepost.domain.targets import WebhookTarget


class WebhookCaller:
    """Delivers to webhooks under the stage's policy, narrowed to the hosts that the team allows itself."""

    def __init__(self, *, http: GuardedHttp, keys: KeyRing, policy: EgressPolicy) -> None:
        self._http = http
        self._keys = keys
        self._policy = policy

    def call(self, delivery: Delivery, *, timeout: timedelta) -> Outcome:
        """One call. A target that is no webhook is a mistake of the caller: TypeError."""
        target = delivery.target
        if not isinstance(target, WebhookTarget):
            raise TypeError(f"{type(target).__name__} is no webhook")
        try:
            signers = self._keys.signers(delivery.sender.keys)
            headers = headers_for(delivery.facts, target.headers, signers, delivery.sent_at)
        except KeyUnavailableError as error:
            return Failed(error=clip(str(error)))
        except ValueError as error:
            return Refused(error=clip(str(error)))
        request = HttpRequest(
            url=target.url,
            method=target.method,
            headers=headers,
            body=delivery.facts.body,
            sent_at=delivery.sent_at,
        )
        policy = replace(self._policy, allowed_hosts=delivery.sender.allowed_hosts)
        return self._http.call(request, policy=policy, timeout=timeout.total_seconds())
