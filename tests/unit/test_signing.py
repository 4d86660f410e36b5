"""Signatures: any library of the standard verifies them, and a change of anything ends them."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta

import pytest
import standardwebhooks
from hypothesis import given
from hypothesis import strategies as st

from fencepost.adapters.ed25519 import Ed25519Key, Ed25519Verifier, encode_private
from fencepost.domain.delivery import DeliveryFacts, headers_for
from fencepost.domain.signing import (
    BadSignatureError,
    HmacKey,
    encode_secret,
    standard_headers,
    verify,
    verify_fenced,
)

SENT = datetime(2026, 3, 1, 12, 0, 0, 700_000, tzinfo=UTC)
OLD = HmacKey.parse(encode_secret(b"o" * 24), kid="old")
NEW = HmacKey.parse(encode_secret(b"n" * 32), kid="new")
STRANGER = HmacKey.parse(encode_secret(b"s" * 32), kid="stranger")
EDWARD = Ed25519Key.parse(encode_private(b"e" * 32), kid="ed")
PUBLIC = Ed25519Verifier.parse(EDWARD.public)
FACTS = DeliveryFacts(
    execution_id="aaaaaaaaaaaaaaaaaaaa-s-1772366400000",
    team="payments",
    job="nightly-report",
    due=SENT,
    attempt=2,
    fence=1_795_968_000_112,
    body=b'{"a":1}',
)


def signed(*keys, facts=FACTS, sent_at=SENT):
    return headers_for(facts, {}, keys, sent_at)


@pytest.fixture
def official_clock(monkeypatch):
    """The official library reads the clock; here it reads the instant at which the call was sent."""

    class Stopped(datetime):
        @classmethod
        def now(cls, tz=None):
            return SENT.astimezone(tz)

    monkeypatch.setattr("standardwebhooks.webhooks.datetime", Stopped)


@pytest.mark.usefixtures("official_clock")
@given(st.text().map(str.encode))
def test_the_official_library_verifies_any_body(body):
    headers = standard_headers(FACTS.execution_id, SENT, body, [OLD, NEW])
    for key in (OLD, NEW):
        standardwebhooks.Webhook(encode_secret(key.secret)).verify(body, headers, json_parse=False)


@pytest.mark.usefixtures("official_clock")
def test_the_official_library_verifies_a_whole_call_and_refuses_a_changed_one():
    official = standardwebhooks.Webhook(encode_secret(NEW.secret))
    assert official.verify(FACTS.body, signed(EDWARD, OLD, NEW)) == {"a": 1}
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        official.verify(b'{"a":2}', signed(EDWARD, OLD, NEW))
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        official.verify(FACTS.body, signed(EDWARD, OLD))


def test_our_signature_is_the_official_ones_to_the_letter():
    official = standardwebhooks.Webhook(encode_secret(NEW.secret))
    assert signed(NEW)["webhook-signature"] == official.sign(FACTS.execution_id, SENT, FACTS.body.decode())


def test_R09_with_two_keys_valid_either_verifies_and_a_stranger_does_not():
    headers = signed(OLD, NEW)
    assert headers["webhook-signature"].count("v1,") == 2
    assert "kid=old" in headers["Fencepost-Signature"]
    assert "kid=new" in headers["Fencepost-Signature"]
    for keys in ([OLD], [NEW], [STRANGER, NEW]):
        assert verify(headers, FACTS.body, keys, SENT).id == FACTS.execution_id
        assert verify_fenced(headers, FACTS.body, keys, SENT).fence == FACTS.fence
    for check in (verify, verify_fenced):
        with pytest.raises(BadSignatureError, match="no signature by a known key"):
            check(headers, FACTS.body, [STRANGER], SENT)
        with pytest.raises(BadSignatureError):
            check(headers, FACTS.body, [], SENT)


def test_ed25519_is_verified_by_the_public_key_alone():
    headers = signed(EDWARD)
    assert headers["webhook-signature"].startswith("v1a,")
    assert ",kid=ed,v1a=" in headers["Fencepost-Signature"]
    assert verify(headers, FACTS.body, [PUBLIC], SENT).id == FACTS.execution_id
    assert verify_fenced(headers, FACTS.body, [PUBLIC], SENT).attempt == 2
    with pytest.raises(BadSignatureError):
        verify(headers, b"{}", [PUBLIC], SENT)
    with pytest.raises(BadSignatureError):
        verify(
            headers,
            FACTS.body,
            [Ed25519Verifier.parse(Ed25519Key.parse(encode_private(b"x" * 32), kid="x").public)],
            SENT,
        )


def test_a_signature_of_one_scheme_is_none_of_the_other():
    """An HMAC made with the public key as secret must not pass for a signature by the private one."""
    public = base64.b64decode(EDWARD.public.removeprefix("whpk_"))
    forged = signed(HmacKey(kid="ed", secret=public))
    with pytest.raises(BadSignatureError):
        verify(forged, FACTS.body, [PUBLIC], SENT)
    relabelled = forged | {"webhook-signature": forged["webhook-signature"].replace("v1,", "v1a,")}
    with pytest.raises(BadSignatureError):
        verify(relabelled, FACTS.body, [PUBLIC], SENT)


def test_the_instant_in_the_fence_signature_is_the_one_that_is_signed():
    headers = signed(NEW)
    later = headers["Fencepost-Signature"].replace("t=1772366400", "t=1772366460")
    with pytest.raises(BadSignatureError, match="names another instant"):
        verify_fenced(headers | {"Fencepost-Signature": later}, FACTS.body, [NEW], SENT)


def test_a_signature_counts_only_under_the_name_of_its_scheme():
    headers = signed(NEW)
    renamed = {
        name: value.replace("v1", "v9") if "ignature" in name else value for name, value in headers.items()
    }
    for check in (verify, verify_fenced):
        with pytest.raises(BadSignatureError, match="no signature by a known key"):
            check(renamed, FACTS.body, [NEW], SENT)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("webhook-id", "bbbbbbbbbbbbbbbbbbbb-s-1772366400000"),
        ("webhook-timestamp", "1772366401"),
        ("Fencepost-Fence", "1795968000113"),
        ("Fencepost-Attempt", "3"),
        ("Fencepost-Signature", ""),
        ("Fencepost-Signature", "t=1772366400,kid=new,v1=AAAA"),
    ],
)
def test_a_change_of_anything_ends_the_fence_signature(name, value):
    headers = signed(NEW, EDWARD) | {name: value}
    with pytest.raises(BadSignatureError):
        verify_fenced(headers, FACTS.body, [NEW, PUBLIC], SENT)
    if name.startswith("webhook"):
        with pytest.raises(BadSignatureError):
            verify(headers, FACTS.body, [NEW, PUBLIC], SENT)


def test_the_standard_signature_alone_says_nothing_of_the_fence():
    headers = signed(NEW) | {"Fencepost-Fence": "9" * 13}
    verified = verify(headers, FACTS.body, [NEW], SENT)
    assert verified.fence is None
    assert verified.attempt is None


@pytest.mark.parametrize("seconds", [-301, 301, 100_000])
def test_a_call_that_is_old_or_from_the_future_is_refused(seconds):
    whole = SENT.replace(microsecond=0)
    for check in (verify, verify_fenced):
        with pytest.raises(BadSignatureError, match="further than"):
            check(signed(NEW), FACTS.body, [NEW], whole + timedelta(seconds=seconds))
        assert check(signed(NEW), FACTS.body, [NEW], whole + timedelta(seconds=300)).sent_at == whole
        assert check(signed(NEW), FACTS.body, [NEW], whole - timedelta(seconds=300)).sent_at == whole
        late = whole + timedelta(seconds=seconds)
        assert check(signed(NEW), FACTS.body, [NEW], late, tolerance=timedelta(days=2)).sent_at == whole


@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp", "webhook-signature"])
@pytest.mark.parametrize(
    "value", [None, "", "x", "-1", "1e9", "٣", "v1", "v1,", "v1,%%%", "v1,AAAA v1a,AAAA"]
)
def test_a_broken_header_is_refused_and_never_an_accident(name, value):
    headers = {key: text for key, text in signed(NEW).items() if key != name}
    if value is not None:
        headers[name] = value
    with pytest.raises(BadSignatureError):
        verify(headers, FACTS.body, [NEW, PUBLIC], SENT)


def test_header_names_are_read_in_any_case():
    shouted = {name.upper(): value for name, value in signed(NEW).items()}
    assert verify(shouted, FACTS.body, [NEW], SENT).id == FACTS.execution_id
    assert verify_fenced(shouted, FACTS.body, [NEW], SENT).fence == FACTS.fence


def test_without_a_key_there_is_no_signature():
    headers = signed()
    assert headers["webhook-id"] == FACTS.execution_id
    assert headers["webhook-timestamp"] == "1772366400"
    assert not {"webhook-signature", "Fencepost-Signature"} & set(headers)


@pytest.mark.parametrize(
    "text", ["", "hidden", "whsec_", "whsec_%%%", "whsec_" + base64.b64encode(b"short").decode()]
)
def test_an_unreadable_secret_is_refused_without_being_shown(text):
    with pytest.raises(ValueError, match="a signing secret") as caught:
        HmacKey.parse(text, kid="k")
    assert text == "" or text not in str(caught.value)
    for parse in (Ed25519Verifier.parse, lambda each: Ed25519Key.parse(each, kid="k")):
        with pytest.raises(ValueError, match="key"):
            parse(text.replace("whsec_", "whsk_"))


def test_no_key_shows_its_secret():
    assert "nnnn" not in repr(NEW)
    assert "secret" not in repr(NEW)
    assert "private" not in repr(EDWARD)
