"""Who calls: keys, botocore's chain, the local service's own file; and a signature that its gateway accepts."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from fencepost.client import ConfigurationError, Keys
from fencepost.client.credentials import SigV4Signer, Unsigned, local_keys, region_of, signer
from fencepost.client.transport import HttpRequest
from fencepost.local.gateway.credentials import Credential
from fencepost.local.gateway.request import Request
from fencepost.local.gateway.signature import Unverified, Verifier

KEYS = Keys(access_key_id="AKIDEXAMPLE", secret_access_key="invented", session_token="token")
GATEWAY = "https://a1b2c3.execute-api.eu-central-1.amazonaws.com/prod"
HOLDER = Credential(
    access_key_id="AKIDEXAMPLE",
    secret_access_key="invented",
    session_token="token",
    arn="arn:aws:sts::111122223333:assumed-role/payments/x",
)


@pytest.fixture(autouse=True)
def nobody(monkeypatch, tmp_path):
    """A machine without credentials."""
    for name in (
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_PROFILE",
        "AWS_REGION",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    return tmp_path


@pytest.mark.parametrize(
    ("endpoint", "region"),
    [
        (GATEWAY, "eu-central-1"),
        ("https://x1.execute-api.cn-north-1.amazonaws.com.cn", "cn-north-1"),
        ("https://x1-vpce-9.execute-api.us-west-2.vpce.amazonaws.com", "us-west-2"),
        ("http://127.0.0.1:8080", "us-east-1"),
        ("https://cron.example.com", None),
        ("https://x1.execute-api.eu-central-1.amazonaws.com.evil.example", None),
    ],
)
def test_an_endpoint_may_tell_its_region(endpoint, region):
    assert region_of(endpoint) == region


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/teams/payments/jobs/~abc?limit=5&label=app%3Aweb&label=a%3Ab%20c", b""),
        ("PUT", "/v1/teams/payments/jobs/nightly%2Fx", '{"payload": "ü"}'.encode()),
        ("POST", "/v1/preview", b"{}"),
    ],
)
def test_the_gateway_accepts_what_is_signed(method, path, body):
    made = signer("http://127.0.0.1:8080", keys=KEYS, profile=None, region=None)
    asked = HttpRequest(
        method=method, url=f"http://127.0.0.1:8080{path}", headers={"Accept": "application/json"}, body=body
    )

    signed = made.sign(asked)

    arrived = received(signed)
    verifier = Verifier({"AKIDEXAMPLE": HOLDER}.get, "us-east-1")
    assert verifier.verify(arrived, signed_at(signed)) == HOLDER
    changed = Request(
        method=method, path=arrived.path, query=arrived.query, headers=arrived.headers, body=body + b" "
    )
    assert isinstance(verifier.verify(changed, signed_at(signed)), Unverified)


def received(request: HttpRequest) -> Request:
    url = urlsplit(request.url)
    headers = [*request.headers.items(), ("Host", url.netloc)]
    return Request(method=request.method, path=url.path, query=url.query, headers=headers, body=request.body)


def signed_at(request: HttpRequest) -> datetime:
    return datetime.strptime(request.headers["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)


def test_botocores_chain_is_asked(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDCHAIN")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "invented")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")

    found = signer("https://cron.example.com", keys=None, profile=None, region=None)

    assert isinstance(found, SigV4Signer)
    assert (found.access_key_id, found.region) == ("AKIDCHAIN", "eu-west-1")


def test_a_profile_is_one_of_the_chains(nobody):
    (nobody / "credentials").write_text(
        "[ops]\naws_access_key_id = AKIDOPS\naws_secret_access_key = invented\n"
    )

    found = signer(GATEWAY, keys=None, profile="ops", region=None)

    assert isinstance(found, SigV4Signer)
    assert (found.access_key_id, found.region) == ("AKIDOPS", "eu-central-1")


@pytest.mark.parametrize(
    ("endpoint", "keys", "profile", "says"),
    [
        (GATEWAY, None, None, "no AWS credentials"),
        (GATEWAY, None, "nowhere", "nowhere"),
        ("https://cron.example.com", KEYS, None, "no region"),
    ],
)
def test_what_is_missing_is_said(endpoint, keys, profile, says):
    with pytest.raises(ConfigurationError, match=says):
        signer(endpoint, keys=keys, profile=profile, region=None)


def test_on_ones_own_machine_nobody_need_be_known():
    assert isinstance(signer("http://localhost:8080", keys=None, profile=None, region=None), Unsigned)


def test_the_local_services_key_is_found_in_its_file(tmp_path: Path):
    file = tmp_path / "credentials.json"
    entries = [
        {
            "access_key_id": "FPDEMO",
            "secret_access_key": "a",
            "arn": "arn:aws:sts::0:assumed-role/demo/local",
        },
        {
            "access_key_id": "FPADMIN",
            "secret_access_key": "b",
            "arn": "arn:aws:sts::0:assumed-role/fencepost-admin/local",
        },
    ]
    file.write_text(json.dumps(entries))

    assert local_keys(file) == Keys(access_key_id="FPADMIN", secret_access_key="b")


@pytest.mark.parametrize(
    "text", [None, "", "{}", "[7]", '[{"arn": "x"}]', '[{"arn": "/fencepost-admin/"}]', "null"]
)
def test_a_file_that_says_nothing_is_no_file(tmp_path, text):
    file = tmp_path / "credentials.json"
    if text is not None:
        file.write_text(text)

    assert local_keys(file) is None


def test_secrets_are_never_shown():
    assert "invented" not in repr(KEYS)
    assert "token" not in repr(KEYS).replace("session_token", "")
