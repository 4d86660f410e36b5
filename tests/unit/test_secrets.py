"""Sealed secrets: they open under the stage key and the team they were sealed for, and leak nothing."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto import mock_aws

from fencepost.adapters.secrets import FileWrapper, KmsWrapper, Secrets, Wrapper
from fencepost.adapters.targets.keys import KeyUnavailableError
from fencepost.runtime.entropy import token_bytes

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.fixture(params=["file", "kms"])
def wrapper(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Wrapper]:
    """The stage key, on this machine and in KMS (by moto)."""
    if request.param == "file":
        yield FileWrapper(tmp_path / "stage.key", token_bytes)
        return
    with mock_aws():
        client = boto3.client("kms", region_name="us-east-1")
        yield KmsWrapper(client, client.create_key()["KeyMetadata"]["KeyId"])


def test_a_sealed_secret_opens_and_looks_like_nothing(wrapper: Wrapper) -> None:
    secrets = Secrets(wrapper, token_bytes)
    sealed = secrets.seal(SECRET, "payments")
    assert secrets.open(sealed) == SECRET
    assert SECRET not in sealed
    assert secrets.seal(SECRET, "payments") != sealed


def test_R12_a_secret_opens_under_no_other_team(wrapper: Wrapper) -> None:
    secrets = Secrets(wrapper, token_bytes)
    sealed = secrets.seal(SECRET, "payments")
    with pytest.raises(KeyUnavailableError):
        secrets.open(sealed.replace("payments", "marketing"))


@pytest.mark.parametrize("position", [2, 3, 4])
def test_a_changed_secret_is_refused(wrapper: Wrapper, position: int) -> None:
    secrets = Secrets(wrapper, token_bytes)
    parts = secrets.seal(SECRET, "payments").split(".")
    first = parts[position][0]
    parts[position] = ("A" if first != "A" else "B") + parts[position][1:]
    with pytest.raises(KeyUnavailableError) as caught:
        secrets.open(".".join(parts))
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "sealed", ["", "plain", "v2.a.b.c.d", "v1.a.b.c", "v1.team.!!.!!.!!", "v1.t.YQ.YQ.YQ"]
)
def test_what_is_no_sealed_secret_is_refused(tmp_path: Path, sealed: str) -> None:
    with pytest.raises(KeyUnavailableError):
        Secrets(FileWrapper(tmp_path / "stage.key", token_bytes), token_bytes).open(sealed)


def test_the_key_file_is_kept_and_private(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "stage.key"
    sealed = Secrets(FileWrapper(path, token_bytes), token_bytes).seal(SECRET, "payments")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Secrets(FileWrapper(path, token_bytes), token_bytes).open(sealed) == SECRET
    other = FileWrapper(tmp_path / "other.key", token_bytes)
    with pytest.raises(KeyUnavailableError):
        Secrets(other, token_bytes).open(sealed)
