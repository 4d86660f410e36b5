"""Is this call Fencepost's, unchanged and fresh? And which attempt of which execution is it?

`keys` are what your team was given: secrets (``whsec_...``) and public keys (``whpk_...``). While a key is being replaced there
are two, and one that fits is enough. `body` is the bytes as they came in: parse them afterwards. `now` is epoch seconds.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterable, Mapping

TOLERANCE_SECONDS = 300


class NotProvenError(Exception):
    """Do not act on the call: answer 401."""


def verify_standard(headers: Mapping[str, str], body: bytes, keys: Iterable[str], now: float) -> str:
    """The execution id, proven by the standard signature. Any library of Standard Webhooks does the same."""
    given = {name.lower(): value for name, value in headers.items()}
    execution, timestamp = _fresh(given, now)
    signatures = [part.split(",", 1) for part in given.get("webhook-signature", "").split(" ") if "," in part]
    _prove(f"{execution}.{timestamp}.".encode() + body, signatures, keys)
    return execution


def verify_fenced(
    headers: Mapping[str, str], body: bytes, keys: Iterable[str], now: float
) -> tuple[str, int, int]:
    """Execution id, attempt and fence, proven by Fencepost-Signature: use this one where you compare fences."""
    given = {name.lower(): value for name, value in headers.items()}
    execution, timestamp = _fresh(given, now)
    attempt, fence = given.get("fencepost-attempt", ""), given.get("fencepost-fence", "")
    digest = hashlib.sha256(body).hexdigest()
    parts = [part.split("=", 1) for part in given.get("fencepost-signature", "").split(",") if "=" in part]
    if ["t", timestamp] not in parts:
        raise NotProvenError("Fencepost-Signature is of another instant")
    _prove(f"{execution}.{timestamp}.{attempt}.{fence}.{digest}".encode(), parts, keys)
    return execution, int(attempt), int(fence)


def _fresh(given: Mapping[str, str], now: float) -> tuple[str, str]:
    execution, timestamp = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    if not execution or not timestamp.isdecimal() or abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        raise NotProvenError("the call is too old, or says nothing of itself")
    return execution, timestamp


def _prove(content: bytes, signatures: Iterable[list[str]], keys: Iterable[str]) -> None:
    known = list(keys)
    for scheme, text in signatures:
        for key in known:
            if (scheme == "v1" and _shared(key, content, text)) or (
                scheme == "v1a" and _public(key, content, text)
            ):
                return
    raise NotProvenError("no signature by a key that is known here")


def _shared(key: str, content: bytes, text: str) -> bool:
    if not key.startswith("whsec_"):
        return False
    secret = base64.b64decode(key.removeprefix("whsec_"))
    expected = base64.b64encode(hmac.digest(secret, content, "sha256"))
    return hmac.compare_digest(expected, text.encode())


def _public(key: str, content: bytes, text: str) -> bool:
    if not key.startswith("whpk_"):
        return False
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - only v1a needs the library
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415 - the same

    public = Ed25519PublicKey.from_public_bytes(base64.b64decode(key.removeprefix("whpk_")))
    try:
        public.verify(base64.b64decode(text), content)
    except (InvalidSignature, ValueError):
        return False
    return True
