"""From a key made over the API to a call that any library of the standard verifies."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
import standardwebhooks

from fencepost.adapters.ed25519 import Ed25519Verifier
from fencepost.adapters.targets.keys import KeyRing
from fencepost.adapters.targets.webhook import WebhookCaller
from fencepost.domain.egress import EgressPolicy
from fencepost.domain.instants import from_wire
from fencepost.domain.signing import HmacKey, verify_fenced
from tests.support.api import Front
from tests.support.clients import Machine
from tests.support.egress import RememberingConnector, ScriptedResolver, guarded

KEYS = "/v1/teams/payments/keys"
DUE = from_wire("2026-03-01T12:05:00Z")


@pytest.fixture
def called(monkeypatch):
    """A stage whose webhooks are sent for real, up to the socket; the official library reads the stage's clock."""
    front, connector = Front.at("2026-03-01T12:00:00Z"), RememberingConnector()
    http = guarded(ScriptedResolver(), connector)
    caller = WebhookCaller(http=http, keys=KeyRing(front.stage.secrets.open), policy=EgressPolicy())
    front.stage.targets = caller  # type: ignore[assignment]  # this stage calls out

    class StagesClock(datetime):
        @classmethod
        def now(cls, tz=None):
            return front.clock.now().astimezone(tz)

    monkeypatch.setattr("standardwebhooks.webhooks.datetime", StagesClock)
    return front, Machine(front), connector


def test_R09_a_delivered_webhook_is_signed_by_every_valid_key(called):
    front, machine, connector = called
    shared = [front.post(KEYS, {"scheme": "v1"}).body for _ in range(2)]
    pair = front.post(KEYS, {"scheme": "v1a"}).body["made"]
    front.job(schedule={"at": "2026-03-01T12:05:00Z"}, payload={"rows": 3})
    machine.run(DUE + timedelta(minutes=1))
    ((_, _, request),) = connector.exchanges
    for made in shared:
        official = standardwebhooks.Webhook(made["secret"])
        assert official.verify(request.body, dict(request.headers)) == {"rows": 3}
        own = HmacKey.parse(made["secret"], kid=made["made"]["id"])
        assert verify_fenced(request.headers, request.body, [own], front.clock.now()).attempt == 1
        assert f"kid={made['made']['id']},v1=" in request.headers["Fencepost-Signature"]
    public = Ed25519Verifier.parse(pair["public"])
    assert verify_fenced(request.headers, request.body, [public], front.clock.now()).attempt == 1
    assert f"kid={pair['id']},v1a=" in request.headers["Fencepost-Signature"]


def test_a_dropped_key_signs_no_more(called):
    front, machine, connector = called
    old, new = (front.post(KEYS).body for _ in range(2))
    front.delete(f"{KEYS}/{old['made']['id']}?compromised=true")
    front.job(schedule={"at": "2026-03-01T12:05:00Z"})
    machine.run(DUE + timedelta(minutes=1))
    ((_, _, request),) = connector.exchanges
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook(old["secret"]).verify(request.body, dict(request.headers), json_parse=False)
    standardwebhooks.Webhook(new["secret"]).verify(request.body, dict(request.headers), json_parse=False)


def test_nothing_goes_out_unsigned_while_the_key_service_is_silent(called):
    front, machine, connector = called
    front.post(KEYS)
    front.job(schedule={"at": "2026-03-01T12:05:00Z"})
    front.stage.vault.down = True
    machine.run(DUE + timedelta(seconds=5))
    assert connector.exchanges == []
    front.stage.vault.down = False
    machine.run(DUE + timedelta(minutes=10))
    ((_, _, request),) = connector.exchanges
    assert "webhook-signature" in request.headers
