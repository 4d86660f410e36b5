"""Teams' secrets at rest: each sealed under a data key of its own, which a key that never leaves its keeper wraps.

A sealed secret reads ``env1.<team>.<wrapped data key>.<nonce and ciphertext>``, both parts in base64. The team is
authenticated with it: a secret copied to another team does not open.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from botocore.exceptions import BotoCoreError, ClientError
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from fencepost.adapters.aws import code_of
from fencepost.adapters.targets.credentials import AwsClient
from fencepost.adapters.targets.keys import KeyUnavailableError

FORM = "env1"
NONCE_BYTES = 12
DATA_KEY_BYTES = 32


class KeyKeeper(Protocol):
    """Obligation: `unwrap` gives what `fresh` gave, for the same team only. Raises KeyUnavailableError."""

    def fresh(self, team: str) -> tuple[bytes, bytes]:
        """A new data key, and the same wrapped."""

    def unwrap(self, team: str, wrapped: bytes) -> bytes:
        """The data key."""


class Sealer:
    """Seals and opens secrets; `random` gives unguessable bytes."""

    def __init__(self, keeper: KeyKeeper, random: Callable[[int], bytes]) -> None:
        self._keeper = keeper
        self._random = random

    def seal(self, team: str, secret: str) -> str:
        """The sealed form. Raises KeyUnavailableError."""
        key, wrapped = self._keeper.fresh(team)
        nonce = self._random(NONCE_BYTES)
        sealed = AESGCM(key).encrypt(nonce, secret.encode(), team.encode())
        return ".".join((FORM, team, _text(wrapped), _text(nonce + sealed)))

    def open(self, sealed: str) -> str:
        """The secret. Raises KeyUnavailableError, never with the secret in it."""
        try:
            form, team, wrapped, content = sealed.split(".")
            box, data_key = base64.b64decode(content, validate=True), base64.b64decode(wrapped, validate=True)
        except (ValueError, binascii.Error):
            raise KeyUnavailableError("a sealed secret cannot be read") from None
        if form != FORM:
            raise KeyUnavailableError(f"a sealed secret has the unknown form {form[:20]!r}")
        key = self._keeper.unwrap(team, data_key)
        try:
            return AESGCM(key).decrypt(box[:NONCE_BYTES], box[NONCE_BYTES:], team.encode()).decode()
        except (InvalidTag, ValueError):
            raise KeyUnavailableError("a sealed secret was tampered with") from None


class KmsKeeper:
    """Data keys of one KMS key, bound to their team by the encryption context."""

    def __init__(self, client: AwsClient, key_id: str) -> None:
        self._client = client
        self._key_id = key_id

    def fresh(self, team: str) -> tuple[bytes, bytes]:
        """See `KeyKeeper.fresh`."""
        try:
            answer = self._client.generate_data_key(
                KeyId=self._key_id, KeySpec="AES_256", EncryptionContext=_context(team)
            )
        except (ClientError, BotoCoreError) as error:
            raise _unavailable(error) from error
        return bytes(answer["Plaintext"]), bytes(answer["CiphertextBlob"])

    def unwrap(self, team: str, wrapped: bytes) -> bytes:
        """See `KeyKeeper.unwrap`."""
        try:
            answer = self._client.decrypt(
                CiphertextBlob=wrapped, KeyId=self._key_id, EncryptionContext=_context(team)
            )
        except (ClientError, BotoCoreError) as error:
            raise _unavailable(error) from error
        return bytes(answer["Plaintext"])


class FileKeeper:
    """Data keys wrapped by a key in a file of its owner's, for one machine. The file is made when it is missing."""

    def __init__(self, path: Path, random: Callable[[int], bytes]) -> None:
        self._random = random
        self._key = AESGCM(_key_in(path, random))

    def fresh(self, team: str) -> tuple[bytes, bytes]:
        """See `KeyKeeper.fresh`."""
        key, nonce = self._random(DATA_KEY_BYTES), self._random(NONCE_BYTES)
        return key, nonce + self._key.encrypt(nonce, key, team.encode())

    def unwrap(self, team: str, wrapped: bytes) -> bytes:
        """See `KeyKeeper.unwrap`."""
        try:
            return self._key.decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], team.encode())
        except (InvalidTag, ValueError):
            raise KeyUnavailableError("the secret was sealed with another key") from None


def _key_in(path: Path, random: Callable[[int], bytes]) -> bytes:
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(random(DATA_KEY_BYTES))
    except FileExistsError:
        pass
    return path.read_bytes()


def _context(team: str) -> dict[str, str]:
    return {"fencepost:team": team}


def _unavailable(error: ClientError | BotoCoreError) -> KeyUnavailableError:
    why = code_of(error) if isinstance(error, ClientError) else "KMS did not answer"
    return KeyUnavailableError(f"the teams' key cannot be used now: {why}")


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()
