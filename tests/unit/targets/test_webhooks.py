"""The webhook caller: guarded, signed, and never unsigned for want of a key."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.adapters.http.connector import HttpAnswer
from fencepost.adapters.targets.keys import KeyRing, KeyUnavailableError
from fencepost.adapters.targets.routing import RoutedTargets
from fencepost.adapters.targets.webhook import WebhookCaller
from fencepost.domain.delivery import Sender
from fencepost.domain.egress import EgressPolicy
from fencepost.domain.model import SigningKey
from fencepost.domain.outcome import Blocked, Delivered, Failed, Refused
from fencepost.domain.signing import verify_fenced
from fencepost.domain.targets import SqsTarget, WebhookTarget
from tests.support.deliveries import DUE, EXECUTION, KEY, SEALED, SENDER, SENT_AT, delivery, key_ring, unseal
from tests.support.egress import RememberingConnector, ScriptedResolver, guarded

TEN = timedelta(seconds=10)
HOOK = WebhookTarget(url="https://hooks.example.com/x", method="PUT", headers={"X-Day": "{{due}}"})


def caller(connector=None, resolver=None, policy=None) -> WebhookCaller:
    http = guarded(resolver or ScriptedResolver(), connector or RememberingConnector())
    return WebhookCaller(http=http, keys=key_ring(), policy=policy or EgressPolicy())


def test_a_webhook_gets_the_body_the_headers_and_a_signature_it_can_verify():
    connector = RememberingConnector([HttpAnswer(status=200, headers={}, body=b"thanks")])
    assert caller(connector).call(delivery(HOOK, attempt=2), timeout=TEN) == Delivered(
        status=200, excerpt="thanks"
    )
    ((url, _, request),) = connector.exchanges
    assert (url.host, request.method, request.body) == ("hooks.example.com", "PUT", b'{"a":1}')
    assert request.headers["X-Day"] == "2026-03-01T02:30:00.000Z"
    verified = verify_fenced(request.headers, request.body, [KEY], SENT_AT)
    assert (verified.id, verified.attempt) == (EXECUTION, 2)


def test_R07_the_teams_own_list_of_hosts_narrows_the_stages_policy():
    sender = replace(SENDER, allowed_hosts=("other.example.com",))
    connector = RememberingConnector()
    outcome = caller(connector).call(delivery(HOOK, sender=sender), timeout=TEN)
    assert isinstance(outcome, Blocked)
    assert connector.exchanges == []


def test_R07_a_target_stored_before_the_rules_were_stricter_is_blocked_when_called():
    connector = RememberingConnector()
    outcome = caller(connector).call(
        delivery(replace(HOOK, url="http://127.0.0.1:9001/2018-06-01/")), timeout=TEN
    )
    assert isinstance(outcome, Blocked)
    assert connector.exchanges == []


def test_a_key_that_cannot_be_opened_fails_the_attempt_and_nothing_is_sent_unsigned():
    sender = replace(SENDER, keys=(SEALED, replace(SEALED, id="k2", secret="kms is down")))
    connector = RememberingConnector()
    outcome = caller(connector).call(delivery(HOOK, sender=sender), timeout=TEN)
    assert outcome == Failed(error="the key service does not answer")
    assert connector.exchanges == []


def test_R10_stored_headers_that_could_break_the_request_are_refused_for_good():
    connector = RememberingConnector()
    for headers in ({"X-A": "a\r\nHost: b"}, {"Fencepost-Fence": "9"}):
        outcome = caller(connector).call(delivery(replace(HOOK, headers=headers)), timeout=TEN)
        assert isinstance(outcome, Refused)
    assert connector.exchanges == []


def test_a_team_without_keys_sends_without_a_signature():
    connector = RememberingConnector()
    caller(connector).call(delivery(HOOK, sender=Sender(team="payments")), timeout=TEN)
    assert "webhook-signature" not in connector.exchanges[0][2].headers


def test_R09_a_call_is_signed_by_every_key_that_is_valid():
    second = SigningKey(id="k2", scheme="v1", secret=SEALED.secret, created_at=DUE)
    edward = SigningKey(id="e1", scheme="v1a", secret="sealed:whsk_" + "A" * 43 + "=", created_at=DUE)
    connector = RememberingConnector()
    sender = replace(SENDER, keys=(SEALED, second, edward))
    assert isinstance(caller(connector).call(delivery(HOOK, sender=sender), timeout=TEN), Delivered)
    headers = connector.exchanges[0][2].headers
    assert [each.partition(",")[0] for each in headers["webhook-signature"].split()] == ["v1", "v1", "v1a"]
    for kid in ("k1", "k2", "e1"):
        assert f"kid={kid}," in headers["Fencepost-Signature"]


def test_a_key_is_opened_once():
    opened = []

    def open_secret(sealed: str) -> str:
        opened.append(sealed)
        return unseal(sealed)

    ring = KeyRing(open_secret)
    assert ring.signers((SEALED,)) == ring.signers((SEALED,)) == (KEY,)
    assert len(opened) == 1


@pytest.mark.parametrize(
    "key",
    [replace(SEALED, scheme="v9"), replace(SEALED, secret="sealed:garbage"), replace(SEALED, scheme="v1a")],
)
def test_a_key_that_makes_no_sense_is_unavailable_and_is_not_shown(key):
    with pytest.raises(KeyUnavailableError, match="signing key k1") as caught:
        key_ring().signers((key,))
    assert unseal(key.secret) not in str(caught.value)


def test_each_target_goes_its_way():
    class Named:
        def __init__(self, name):
            self.name = name

        def call(self, delivery, *, timeout):
            return Failed(error=f"{self.name} {timeout}")

    routed = RoutedTargets(webhooks=Named("hook"), aws=Named("aws"))
    queue = SqsTarget(queue_url="https://sqs.eu-central-1.amazonaws.com/123456789012/line")
    assert routed.call(delivery(HOOK), timeout=TEN) == Failed(error="hook 0:00:10")
    assert routed.call(delivery(queue), timeout=TEN) == Failed(error="aws 0:00:10")
    with pytest.raises(TypeError):
        caller().call(delivery(queue), timeout=TEN)
