"""The verifiers to copy: one set of stories for both languages, with signatures of the official library among them."""

from __future__ import annotations

import base64
import json
import runpy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import standardwebhooks

from fencepost.adapters.ed25519 import Ed25519Key, encode_private
from fencepost.domain.delivery import DeliveryFacts, headers_for
from fencepost.domain.signing import HmacKey, encode_secret
from tests.support.node import run_javascript

EXAMPLES = Path(__file__).resolve().parents[3] / "docs" / "examples"
SENT = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
OLD, NEW = (
    HmacKey.parse(encode_secret(letter * 32), kid=kid) for letter, kid in ((b"o", "old"), (b"n", "new"))
)
NEW_SECRET = encode_secret(NEW.secret)
EDWARD = Ed25519Key.parse(encode_private(b"e" * 32), kid="ed")
FACTS = DeliveryFacts(
    execution_id="aaaaaaaaaaaaaaaaaaaa-s-1772366400000",
    team="payments",
    job="nightly-report",
    due=SENT,
    attempt=2,
    fence=1_795_968_000_112,
    body='{"a":"ä"}'.encode(),
)
PROVEN = [FACTS.execution_id, 2, 1_795_968_000_112]
REFUSED = "NotProvenError"


def in_python(name, headers, body, keys, now):
    module = runpy.run_path(str(EXAMPLES / "verify.py"))
    try:
        answer = module[name](headers, body, keys, now)
    except module["NotProvenError"]:
        return REFUSED
    return list(answer) if isinstance(answer, tuple) else answer


def in_javascript(name, headers, body, keys, now):
    called = {"verify_standard": "verifyStandard", "verify_fenced": "verifyFenced"}[name]
    script = f"""
const example = require({json.dumps(str(EXAMPLES / "verify.js"))});
try {{
  answer = example.{called}(given.headers, Buffer.from(given.body, "base64"), given.keys, given.now);
  if (typeof answer === "object") answer = [answer.execution, answer.attempt, answer.fence];
}} catch (error) {{
  answer = error.constructor.name;
}}
"""
    body64 = base64.b64encode(body).decode()
    return run_javascript(script, {"headers": headers, "body": body64, "keys": keys, "now": now})


@pytest.fixture(params=[in_python, in_javascript], ids=["python", "javascript"])
def example(request):
    def verify(name, headers, *, body=FACTS.body, keys=(NEW_SECRET,), now=SENT):
        return request.param(name, headers, body, list(keys), now.timestamp())

    return verify


def signed(*keys, facts=FACTS):
    return headers_for(facts, {}, keys, SENT)


def test_a_signature_of_the_official_library_is_proven(example):
    official = standardwebhooks.Webhook(encode_secret(NEW.secret))
    headers = {
        "Webhook-Id": "msg_1",
        "Webhook-Timestamp": str(int(SENT.timestamp())),
        "Webhook-Signature": official.sign("msg_1", SENT, '{"b":1}'),
    }
    assert example("verify_standard", headers, body=b'{"b":1}') == "msg_1"
    assert example("verify_standard", headers, body=b'{"b":2}') == REFUSED


@pytest.mark.parametrize("name", ["verify_standard", "verify_fenced"])
@pytest.mark.parametrize("key", [encode_secret(OLD.secret), encode_secret(NEW.secret), EDWARD.public])
def test_R09_any_one_key_of_a_call_is_enough(example, name, key):
    wanted = {"verify_standard": PROVEN[0], "verify_fenced": PROVEN}[name]
    assert example(name, signed(EDWARD, OLD, NEW), keys=["whsec_" + "c3RyYW5nZXI=", key]) == wanted


@pytest.mark.parametrize("name", ["verify_standard", "verify_fenced"])
class TestRefused:
    def test_by_unknown_keys_alone(self, example, name):
        assert example(name, signed(OLD)) == REFUSED
        assert example(name, signed(NEW), keys=[EDWARD.public]) == REFUSED
        assert example(name, signed(EDWARD), keys=[EDWARD.public.replace("whpk_", "whsec_")]) == REFUSED

    def test_changed(self, example, name):
        assert example(name, signed(NEW), body=b'{"a":2}') == REFUSED
        assert example(name, {**signed(NEW), "webhook-id": "another"}) == REFUSED

    @pytest.mark.parametrize("minutes", [-6, 6])
    def test_too_old_or_from_the_future(self, example, name, minutes):
        assert example(name, signed(NEW), now=SENT + timedelta(minutes=minutes)) == REFUSED

    def test_unsigned_or_garbled(self, example, name):
        assert example(name, signed()) == REFUSED
        assert example(name, {}) == REFUSED
        garbled = {
            "webhook-signature": "v1,%%% v1a,x ,",
            "Fencepost-Signature": "t=1,v1=,=,kid",
            "webhook-timestamp": "x",
        }
        assert example(name, {**signed(NEW), **garbled}) == REFUSED


def test_the_fence_and_the_attempt_are_proven_too(example):
    for header in ("Fencepost-Fence", "Fencepost-Attempt"):
        assert example("verify_fenced", {**signed(NEW), header: "9"}) == REFUSED
    stale = signed(NEW, facts=replace(FACTS, fence=FACTS.fence - 1))
    mixed = {**signed(NEW), "Fencepost-Signature": stale["Fencepost-Signature"]}
    assert example("verify_fenced", mixed) == REFUSED
