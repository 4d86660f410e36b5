"""Signature Version 4, held against botocore's signer: two implementations that know nothing of each other."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from unittest.mock import patch
from urllib.parse import quote

import botocore.auth
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from fencepost.local.gateway.credentials import Credential, session_arn
from fencepost.local.gateway.request import Request
from fencepost.local.gateway.signature import Unverified, Verifier, sign

NOW = datetime(2026, 3, 2, 10, 0, 7, tzinfo=UTC)
REGION = "us-east-1"
HOLDER = Credential(access_key_id="AKIDEXAMPLE", secret_access_key="secret", arn=session_arn("owner", "me"))
WITH_TOKEN = replace(HOLDER, access_key_id="ASIAEXAMPLE", session_token="token")
KNOWN = {each.access_key_id: each for each in (HOLDER, WITH_TOKEN)}

segments = st.text(alphabet="abcZ09-_.~% é+*'", min_size=1, max_size=8).filter(
    lambda text: text not in {".", ".."}
)
queries = st.lists(
    st.tuples(st.text(alphabet="abA0-% é+*:/", min_size=1), st.text(alphabet="abA0 é&=+*:/")), max_size=4
)


def verifier():
    return Verifier(KNOWN.get, REGION)


def by_botocore(
    method, url, *, params=None, body=b"", headers=None, holder=HOLDER, service="execute-api", at=NOW
):
    """What a program with botocore sends."""
    request = AWSRequest(method=method, url=url, data=body, params=params, headers=headers or {})
    signer = SigV4Auth(
        Credentials(holder.access_key_id, holder.secret_access_key, holder.session_token), service, REGION
    )
    with patch.object(botocore.auth, "get_current_datetime", lambda: at.replace(tzinfo=None)):
        signer.add_auth(request)
    sent = request.prepare()
    path, _, query = sent.url.partition("/")[2].partition("/")[2].partition("/")[2].partition("?")
    names = {"Host": "127.0.0.1:8080", **dict(sent.headers.items())}
    return Request(method=method, path="/" + path, query=query, headers=list(names.items()), body=body)


def fault(request, at=NOW):
    found = verifier().verify(request, at)
    assert isinstance(found, Unverified)
    return found


@given(st.lists(segments, min_size=1, max_size=4), queries, st.binary(max_size=64))
def test_what_botocore_signed_is_verified(parts, params, body):
    url = "http://127.0.0.1:8080/" + "/".join(quote(part, safe="") for part in parts)
    request = by_botocore("PUT", url, params=dict(params), body=body)
    assert verifier().verify(request, NOW) is HOLDER


@given(st.lists(segments, min_size=1, max_size=4), st.binary(max_size=64))
def test_what_we_sign_botocore_would_have_signed(parts, body):
    path = "/" + "/".join(quote(part, safe="") for part in parts)
    ours = Request(method="POST", path=path, headers=[("Host", "127.0.0.1:8080")], body=body)
    theirs = by_botocore("POST", "http://127.0.0.1:8080" + path, body=body)
    signed = replace(ours, headers=sign(ours, HOLDER, REGION, NOW))
    assert signed.header("authorization") == theirs.header("authorization")


def test_a_session_is_known_by_key_and_token():
    request = by_botocore("GET", "http://127.0.0.1:8080/v1/health", holder=WITH_TOKEN)
    assert verifier().verify(request, NOW) is WITH_TOKEN
    other = replace(WITH_TOKEN, session_token="another")
    stolen = by_botocore("GET", "http://127.0.0.1:8080/v1/health", holder=other)
    assert fault(stolen).kind == "UnrecognizedClientException"
    tokenless = by_botocore(
        "GET", "http://127.0.0.1:8080/v1/health", holder=replace(WITH_TOKEN, session_token=None)
    )
    assert fault(tokenless).kind == "UnrecognizedClientException"


@pytest.mark.parametrize("minutes", [-5, 5])
def test_the_clock_window_is_five_minutes_both_ways(minutes):
    request = by_botocore("GET", "http://127.0.0.1:8080/v1/health")
    assert verifier().verify(request, NOW + timedelta(minutes=minutes)) is HOLDER
    late = fault(request, NOW + timedelta(minutes=minutes, seconds=minutes // 5))
    assert late.kind == "InvalidSignatureException"
    assert "5 minutes apart" in late.detail


SIGNED = by_botocore("PUT", "http://127.0.0.1:8080/v1/teams/a/jobs/b", params={"x": "1"}, body=b'{"a":1}')


def with_header(name, value):
    return replace(SIGNED, headers=[(each, value if each == name else old) for each, old in SIGNED.headers])


@pytest.mark.parametrize(
    "changed",
    [
        replace(SIGNED, method="POST"),
        replace(SIGNED, path="/v1/teams/b/jobs/b"),
        replace(SIGNED, query="x=2"),
        replace(SIGNED, query="x=1&y=1"),
        replace(SIGNED, body=b'{"a":2}'),
        with_header("Host", "localhost:8080"),
        with_header("X-Amz-Date", "20260302T100008Z"),
    ],
    ids=["method", "path", "query", "more query", "body", "host", "date"],
)
def test_nothing_that_was_signed_may_change(changed):
    assert fault(changed).kind == "InvalidSignatureException"


def test_another_secret_signs_nothing():
    request = by_botocore(
        "GET", "http://127.0.0.1:8080/v1/health", holder=replace(HOLDER, secret_access_key="no")
    )
    assert fault(request).kind == "InvalidSignatureException"


def test_an_unknown_key_is_told_so():
    request = by_botocore("GET", "http://127.0.0.1:8080/", holder=replace(HOLDER, access_key_id="AKIDOTHER"))
    assert fault(request).kind == "UnrecognizedClientException"


def test_a_signature_for_another_service_is_worth_nothing():
    request = by_botocore("GET", "http://127.0.0.1:8080/", service="sqs")
    assert "us-east-1/execute-api" in fault(request).detail


def test_a_named_payload_hash_must_be_true():
    lie = by_botocore("PUT", "http://127.0.0.1:8080/", body=b"x", headers={"X-Amz-Content-SHA256": "0" * 64})
    assert "x-amz-content-sha256" in fault(lie).detail
    unsigned = by_botocore(
        "PUT", "http://127.0.0.1:8080/", headers={"X-Amz-Content-SHA256": "UNSIGNED-PAYLOAD"}
    )
    assert "x-amz-content-sha256" in fault(unsigned).detail


def test_a_header_of_amazons_must_be_under_the_signature():
    smuggled = replace(SIGNED, headers=[*SIGNED.headers, ("X-Amz-Meta", "1")])
    assert "must be signed: x-amz-meta" in fault(smuggled).detail


@pytest.mark.parametrize(
    ("authorization", "kind"),
    [
        (None, "MissingAuthenticationTokenException"),
        ("Bearer abc", "IncompleteSignatureException"),
        (
            "AWS4-HMAC-SHA256 Credential=A/20260302/us-east-1/execute-api/aws4_request",
            "IncompleteSignatureException",
        ),
        ("AWS4-HMAC-SHA256", "IncompleteSignatureException"),
    ],
)
def test_what_is_no_signature_is_called_by_its_name(authorization, kind):
    headers = [("Host", "127.0.0.1")] + ([] if authorization is None else [("Authorization", authorization)])
    assert fault(Request(method="GET", path="/", headers=headers)).kind == kind


def test_two_authorizations_are_none():
    twice = replace(SIGNED, headers=[*SIGNED.headers, ("authorization", SIGNED.header("authorization"))])
    assert fault(twice).kind == "IncompleteSignatureException"


def test_a_signature_without_a_date_is_none():
    dateless = replace(SIGNED, headers=[each for each in SIGNED.headers if each[0] != "X-Amz-Date"])
    assert "X-Amz-Date" in fault(dateless).detail
