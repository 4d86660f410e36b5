"""Secrets of teams, sealed: each under a data key of its own, which one stage key wraps (envelope encryption).

A sealed secret is text: ``v1.<team>.<wrapped data key>.<nonce>.<ciphertext>``, the last three in base64url. The team is
part of what is authenticated, so that a secret opens under no other team's name.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from fencepost.adapters.aws import aws_errors
from fencepost.application.ports import KeyUnavailableError

if TYPE_CHECKING:
    from mypy_boto3_kms import KMSClient

VERSION = "v1"
_NONCE_BYTES = 12
_KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class DataKey:
    """A fresh key, plain and wrapped."""

    plain: bytes
    wrapped: bytes


class Wrapper(Protocol):
    """Holds the stage's one key. Raises KeyUnavailableError."""

    def fresh(self, team: str) -> DataKey:
        """A new data key that only `unwrap` with the same team opens."""

    def unwrap(self, wrapped: bytes, team: str) -> bytes:
        """The plain data key."""


class KmsWrapper:
    """The stage key lies in KMS; the team is the encryption context, so the trail shows whose secret was opened."""

    def __init__(self, client: KMSClient, key_id: str) -> None:
        self._client = client
        self._key_id = key_id

    def fresh(self, team: str) -> DataKey:
        """See `Wrapper.fresh`."""
        try:
            answer = self._client.generate_data_key(
                KeyId=self._key_id, KeySpec="AES_256", EncryptionContext={"team": team}
            )
        except aws_errors() as error:
            raise KeyUnavailableError(f"no data key could be made: {error}") from error
        return DataKey(answer["Plaintext"], answer["CiphertextBlob"])

    def unwrap(self, wrapped: bytes, team: str) -> bytes:
        """See `Wrapper.unwrap`."""
        try:
            answer = self._client.decrypt(
                KeyId=self._key_id, CiphertextBlob=wrapped, EncryptionContext={"team": team}
            )
        except aws_errors() as error:
            raise KeyUnavailableError(f"a data key could not be opened: {error}") from error
        return answer["Plaintext"]


class FileWrapper:
    """The stage key lies in a file of this machine, readable by its owner only; made where there is none."""

    def __init__(self, path: Path, random_bytes: Callable[[int], bytes]) -> None:
        self._random_bytes = random_bytes
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(random_bytes(_KEY_BYTES))
        self._stage = AESGCM(path.read_bytes())

    def fresh(self, team: str) -> DataKey:
        """See `Wrapper.fresh`."""
        plain, nonce = self._random_bytes(_KEY_BYTES), self._random_bytes(_NONCE_BYTES)
        return DataKey(plain, nonce + self._stage.encrypt(nonce, plain, team.encode()))

    def unwrap(self, wrapped: bytes, team: str) -> bytes:
        """See `Wrapper.unwrap`."""
        nonce, ciphertext = wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:]
        try:
            return self._stage.decrypt(nonce, ciphertext, team.encode())
        except (InvalidTag, ValueError) as error:
            raise KeyUnavailableError(
                "a data key was wrapped by another stage key, or was changed"
            ) from error


class Secrets:
    """Seals and opens. What it opens is never logged, returned by an API, or part of an error."""

    def __init__(self, wrapper: Wrapper, random_bytes: Callable[[int], bytes]) -> None:
        self._wrapper = wrapper
        self._random_bytes = random_bytes

    def seal(self, secret: str, team: str) -> str:
        """The sealed form of `secret`. Raises KeyUnavailableError."""
        key, nonce = self._wrapper.fresh(team), self._random_bytes(_NONCE_BYTES)
        ciphertext = AESGCM(key.plain).encrypt(nonce, secret.encode(), team.encode())
        return ".".join((VERSION, team, *(_encode(part) for part in (key.wrapped, nonce, ciphertext))))

    def open(self, sealed: str) -> str:
        """The secret. Raises KeyUnavailableError, never with any part of it in the message."""
        parts = sealed.split(".")
        if len(parts) != 5 or parts[0] != VERSION:
            raise KeyUnavailableError("this is not a sealed secret of a version that is known")
        team = parts[1]
        try:
            wrapped, nonce, ciphertext = (_decode(part) for part in parts[2:])
            plain = AESGCM(self._wrapper.unwrap(wrapped, team)).decrypt(nonce, ciphertext, team.encode())
        except (InvalidTag, ValueError, binascii.Error) as error:
            raise KeyUnavailableError(f"the sealed secret of team {team} was changed") from error
        return plain.decode()


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _decode(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
