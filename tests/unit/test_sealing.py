"""Teams' secrets at rest: what is sealed for one team opens for it alone, with the key that sealed it."""

from __future__ import annotations

import stat

import boto3
import pytest
from moto import mock_aws

from fencepost.adapters.sealing import FileKeeper, KmsKeeper, Sealer
from fencepost.adapters.targets.keys import KeyUnavailableError
from fencepost.runtime.entropy import token_bytes

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.fixture(params=["file", "kms"])
def sealer(request, tmp_path):
    if request.param == "file":
        yield Sealer(FileKeeper(tmp_path / "key", token_bytes), token_bytes)
        return
    with mock_aws():
        client = boto3.client("kms", region_name="us-east-1")
        key = client.create_key()["KeyMetadata"]["KeyId"]
        yield Sealer(KmsKeeper(client, key), token_bytes)


def test_what_was_sealed_opens(sealer):
    sealed = sealer.seal("payments", SECRET)
    assert SECRET not in sealed
    assert sealer.open(sealed) == SECRET


def test_no_two_seals_are_alike(sealer):
    assert sealer.seal("payments", SECRET) != sealer.seal("payments", SECRET)


def test_a_secret_that_is_copied_to_another_team_does_not_open(sealer):
    form, _, wrapped, content = sealer.seal("payments", SECRET).split(".")
    with pytest.raises(KeyUnavailableError) as refused:
        sealer.open(".".join((form, "logistics", wrapped, content)))
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("part", [2, 3])
def test_tampering_shows(sealer, part):
    parts = sealer.seal("payments", SECRET).split(".")
    parts[part] = ("B" if parts[part][0] == "A" else "A") + parts[part][1:]
    with pytest.raises(KeyUnavailableError):
        sealer.open(".".join(parts))


@pytest.mark.parametrize(
    "sealed", ["", "env1.a.b", "env9.payments.AAAA.AAAA", "env1.payments.%%.AAAA", "env1.payments.AAAA.AA"]
)
def test_what_is_no_sealed_secret_is_told_so(sealer, sealed):
    with pytest.raises(KeyUnavailableError):
        sealer.open(sealed)


def test_the_key_file_is_its_owners_and_outlives_the_process(tmp_path):
    path = tmp_path / "key"
    sealed = Sealer(FileKeeper(path, token_bytes), token_bytes).seal("payments", SECRET)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Sealer(FileKeeper(path, token_bytes), token_bytes).open(sealed) == SECRET
    other = Sealer(FileKeeper(tmp_path / "other", token_bytes), token_bytes)
    with pytest.raises(KeyUnavailableError, match="another key"):
        other.open(sealed)


def test_a_key_that_is_gone_is_told_by_its_name():
    with mock_aws():
        keeper = KmsKeeper(boto3.client("kms", region_name="us-east-1"), "no-such-key")
        with pytest.raises(KeyUnavailableError, match="NotFoundException"):
            keeper.fresh("payments")
