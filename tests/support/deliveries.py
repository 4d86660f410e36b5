"""Deliveries, senders and keys to call targets with."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from fencepost.adapters.targets.credentials import AwsClient
from fencepost.adapters.targets.keys import KeyRing, KeyUnavailableError
from fencepost.domain.delivery import Delivery, DeliveryFacts, Sender
from fencepost.domain.model import SigningKey
from fencepost.domain.signing import HmacKey, encode_secret
from fencepost.domain.targets import Target

DUE = datetime(2026, 3, 1, 2, 30, tzinfo=UTC)
SENT_AT = DUE + timedelta(milliseconds=112)
EXECUTION = "aaaaaaaaaaaaaaaaaaaa-s-1772332200000"
SECRET = encode_secret(b"k" * 32)
KEY = HmacKey.parse(SECRET, kid="k1")
SEALED = SigningKey(id="k1", scheme="v1", secret="sealed:" + SECRET, created_at=DUE)
SENDER = Sender(
    team="payments",
    keys=(SEALED,),
    role_arn="arn:aws:iam::123456789012:role/fencepost",
    external_id="x-payments",
)


def facts(*, body: bytes = b'{"a":1}', attempt: int = 1, fence: int = 1_772_332_200_112) -> DeliveryFacts:
    """The facts of one attempt of the nightly report."""
    return DeliveryFacts(
        execution_id=EXECUTION,
        team="payments",
        job="nightly-report",
        due=DUE,
        attempt=attempt,
        fence=fence,
        body=body,
    )


def delivery(
    target: Target, *, sender: Sender = SENDER, body: bytes = b'{"a":1}', attempt: int = 1
) -> Delivery:
    """One attempt at `target`."""
    return Delivery(facts=facts(body=body, attempt=attempt), target=target, sender=sender, sent_at=SENT_AT)


def unseal(sealed: str) -> str:
    """Opens what begins with ``sealed:`` and nothing else."""
    if not sealed.startswith("sealed:"):
        raise KeyUnavailableError("the key service does not answer")
    return sealed.removeprefix("sealed:")


def key_ring() -> KeyRing:
    """A ring over `unseal`."""
    return KeyRing(unseal)


@dataclass
class OneClient:
    """A client factory that always hands out the same client, and remembers what was asked for."""

    one: AwsClient
    asked: list[tuple[str, str, str, timedelta]] = field(default_factory=list)

    def client(self, service: str, region: str, sender: Sender, timeout: timedelta) -> AwsClient:
        self.asked.append((service, region, sender.team, timeout))
        if isinstance(self.one, Exception):
            raise self.one
        return self.one
