"""Signatures: how a receiver knows that a call is Fencepost's, whole, fresh, and of which attempt.

Two headers. `webhook-signature` is that of Standard Webhooks: over id, timestamp and body, so that any library of
that standard verifies it. `Fencepost-Signature` covers attempt and fence as well. With two keys valid at once both
headers carry a signature by each, and a receiver needs only one that it knows.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from fencepost.domain.instants import from_ms, to_ms

SECRET_PREFIX = "whsec_"  # noqa: S105 - how a secret begins, not one
HMAC_SCHEME = "v1"
TOLERANCE = timedelta(minutes=5)
MIN_SECRET_BYTES = 24
MAX_SECRET_BYTES = 64

ID_HEADER = "webhook-id"
TIMESTAMP_HEADER = "webhook-timestamp"
SIGNATURE_HEADER = "webhook-signature"
FENCE_SIGNATURE_HEADER = "Fencepost-Signature"
ATTEMPT_HEADER = "Fencepost-Attempt"
FENCE_HEADER = "Fencepost-Fence"


class BadSignatureError(Exception):
    """The call is not proven to be Fencepost's; the message says which proof is missing."""


class Signer(Protocol):
    """A key that signs. `scheme` is the word before the signature, `kid` names the key to the receiver."""

    @property
    def kid(self) -> str: ...

    @property
    def scheme(self) -> str: ...

    def sign(self, content: bytes) -> bytes:
        """The raw signature of `content`."""


class Verifier(Protocol):
    """A key that verifies signatures of its scheme."""

    @property
    def scheme(self) -> str: ...

    def verifies(self, content: bytes, signature: bytes) -> bool:
        """Whether `signature` is this key's, in constant time where that matters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HmacKey:
    """A shared secret: signs and verifies with HMAC-SHA256. The secret is never shown."""

    kid: str
    secret: bytes = field(repr=False)
    scheme: str = HMAC_SCHEME

    @classmethod
    def parse(cls, text: str, *, kid: str) -> HmacKey:
        """Reads ``whsec_<base64>``. Raises ValueError, never with the secret in it."""
        if not text.startswith(SECRET_PREFIX):
            raise ValueError(f"a signing secret begins with {SECRET_PREFIX}")
        try:
            secret = base64.b64decode(text.removeprefix(SECRET_PREFIX), validate=True)
        except binascii.Error:
            raise ValueError("a signing secret is base64 after its prefix") from None
        if not MIN_SECRET_BYTES <= len(secret) <= MAX_SECRET_BYTES:
            raise ValueError(f"a signing secret has {MIN_SECRET_BYTES}..{MAX_SECRET_BYTES} bytes")
        return cls(kid=kid, secret=secret)

    def sign(self, content: bytes) -> bytes:
        return hmac.digest(self.secret, content, "sha256")

    def verifies(self, content: bytes, signature: bytes) -> bool:
        return hmac.compare_digest(self.sign(content), signature)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What a proven call says. `attempt` and `fence` are None when only the standard headers were asked for."""

    id: str
    sent_at: datetime
    attempt: int | None = None
    fence: int | None = None


def encode_secret(secret: bytes) -> str:
    """The wire form of an HMAC secret."""
    return SECRET_PREFIX + base64.b64encode(secret).decode()


def standard_content(message_id: str, timestamp: int, body: bytes) -> bytes:
    """What the standard signature covers: id, whole seconds since the epoch, body."""
    return f"{message_id}.{timestamp}.".encode() + body


def fenced_content(message_id: str, timestamp: int, attempt: int, fence: int, body: bytes) -> bytes:
    """What `Fencepost-Signature` covers: the same, the body as SHA-256 in hexadecimal, with attempt and fence."""
    return f"{message_id}.{timestamp}.{attempt}.{fence}.{hashlib.sha256(body).hexdigest()}".encode()


def standard_headers(
    message_id: str, sent_at: datetime, body: bytes, keys: Sequence[Signer]
) -> dict[str, str]:
    """The three headers of Standard Webhooks; without a key, the first two alone."""
    timestamp = to_ms(sent_at) // 1000
    headers = {ID_HEADER: message_id, TIMESTAMP_HEADER: str(timestamp)}
    content = standard_content(message_id, timestamp, body)
    if keys:
        headers[SIGNATURE_HEADER] = " ".join(f"{key.scheme},{_base64(key.sign(content))}" for key in keys)
    return headers


def fence_signature(timestamp: int, content: bytes, keys: Sequence[Signer]) -> str:
    """The value of `Fencepost-Signature`: ``t=...`` and, per key, ``kid=...,v1=...`` (or ``v1a=...``)."""
    signatures = (f"kid={key.kid},{key.scheme}={_base64(key.sign(content))}" for key in keys)
    return ",".join((f"t={timestamp}", *signatures))


def verify(
    headers: Mapping[str, str],
    body: bytes,
    keys: Sequence[Verifier],
    now: datetime,
    *,
    tolerance: timedelta = TOLERANCE,
) -> Verified:
    """Proves a call by its standard headers. Raises BadSignatureError.

    It says nothing of attempt and fence: a receiver that compares fences uses `verify_fenced`.
    """
    lowered = _lowered(headers)
    message_id, timestamp = _fresh(lowered, now, tolerance)
    pairs = [each.partition(",")[::2] for each in lowered.get(SIGNATURE_HEADER, "").split(" ")]
    _proven(standard_content(message_id, timestamp, body), pairs, keys)
    return Verified(id=message_id, sent_at=from_ms(timestamp * 1000))


def verify_fenced(
    headers: Mapping[str, str],
    body: bytes,
    keys: Sequence[Verifier],
    now: datetime,
    *,
    tolerance: timedelta = TOLERANCE,
) -> Verified:
    """Proves a call with its attempt and fence by `Fencepost-Signature`. Raises BadSignatureError."""
    lowered = _lowered(headers)
    message_id, timestamp = _fresh(lowered, now, tolerance)
    attempt = _number(lowered, ATTEMPT_HEADER)
    fence = _number(lowered, FENCE_HEADER)
    pairs = [each.partition("=")[::2] for each in lowered.get(FENCE_SIGNATURE_HEADER.lower(), "").split(",")]
    if ("t", str(timestamp)) not in pairs:
        raise BadSignatureError(f"{FENCE_SIGNATURE_HEADER} names another instant than {TIMESTAMP_HEADER}")
    _proven(fenced_content(message_id, timestamp, attempt, fence, body), pairs, keys)
    return Verified(id=message_id, sent_at=from_ms(timestamp * 1000), attempt=attempt, fence=fence)


def _lowered(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _fresh(lowered: Mapping[str, str], now: datetime, tolerance: timedelta) -> tuple[str, int]:
    message_id = lowered.get(ID_HEADER, "")
    if not message_id:
        raise BadSignatureError(f"{ID_HEADER} is missing")
    timestamp = _number(lowered, TIMESTAMP_HEADER)
    if abs(to_ms(now) - timestamp * 1000) > tolerance / timedelta(milliseconds=1):
        raise BadSignatureError(f"{TIMESTAMP_HEADER} is further than {tolerance} from now")
    return message_id, timestamp


def _number(lowered: Mapping[str, str], name: str) -> int:
    text = lowered.get(name.lower(), "")
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise BadSignatureError(f"{name} is missing or no whole number")
    return int(text)


def _proven(content: bytes, pairs: Sequence[tuple[str, str]], keys: Sequence[Verifier]) -> None:
    """One good signature by one known key is enough."""
    for scheme, text in pairs:
        signature = _decoded(text)
        if any(key.scheme == scheme and key.verifies(content, signature) for key in keys):
            return
    raise BadSignatureError("no signature by a known key")


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()
