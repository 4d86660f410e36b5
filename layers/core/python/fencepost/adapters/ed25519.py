"""Asymmetric signatures of Standard Webhooks (`v1a`): receivers hold a public key and can forge nothing."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

SCHEME = "v1a"
PRIVATE_PREFIX = "whsk_"
PUBLIC_PREFIX = "whpk_"
_KEY_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Ed25519Key:
    """A private key; never shown."""

    kid: str
    private: Ed25519PrivateKey = field(repr=False)
    scheme: str = SCHEME

    @classmethod
    def parse(cls, text: str, *, kid: str) -> Ed25519Key:
        """Reads ``whsk_<base64 of 32 bytes>``. Raises ValueError, never with the key in it."""
        raw = _read(text, PRIVATE_PREFIX, "a private key")
        return cls(kid=kid, private=Ed25519PrivateKey.from_private_bytes(raw))

    @property
    def public(self) -> str:
        """The public half in its wire form, ``whpk_<base64>``."""
        return PUBLIC_PREFIX + base64.b64encode(self.private.public_key().public_bytes_raw()).decode()

    def sign(self, content: bytes) -> bytes:
        return self.private.sign(content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ed25519Verifier:
    """A public key."""

    public: Ed25519PublicKey
    scheme: str = SCHEME

    @classmethod
    def parse(cls, text: str) -> Ed25519Verifier:
        """Reads ``whpk_<base64 of 32 bytes>``. Raises ValueError."""
        return cls(public=Ed25519PublicKey.from_public_bytes(_read(text, PUBLIC_PREFIX, "a public key")))

    def verifies(self, content: bytes, signature: bytes) -> bool:
        try:
            self.public.verify(signature, content)
        except InvalidSignature:
            return False
        return True


def encode_private(seed: bytes) -> str:
    """The wire form of a private key made from 32 random bytes."""
    return PRIVATE_PREFIX + base64.b64encode(seed).decode()


def _read(text: str, prefix: str, what: str) -> bytes:
    if not text.startswith(prefix):
        raise ValueError(f"{what} begins with {prefix}")
    try:
        raw = base64.b64decode(text.removeprefix(prefix), validate=True)
    except binascii.Error:
        raise ValueError(f"{what} is base64 after its prefix") from None
    if len(raw) != _KEY_BYTES:
        raise ValueError(f"{what} has {_KEY_BYTES} bytes")
    return raw
