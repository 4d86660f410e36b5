"""Calls as a target receives them, signed."""

from __future__ import annotations

from fencepost.domain.instants import from_wire
from fencepost.domain.signing import (
    FENCE_SIGNATURE_HEADER,
    HmacKey,
    encode_secret,
    fence_signature,
    fenced_content,
    standard_headers,
)

NOW = from_wire("2026-03-01T12:00:00Z")
SECRET = encode_secret(bytes([2]) * 32)
BODY = b'{"a":1}'


def call_headers(
    *secrets: str, fence: int = 1000, attempt: int = 1, execution: str = "x-s-1", body: bytes = BODY
) -> dict[str, str]:
    """The headers of a call at NOW, signed with each of `secrets`."""
    keys = [HmacKey.parse(secret, kid=str(number)) for number, secret in enumerate(secrets)]
    headers = standard_headers(execution, NOW, body, keys)
    timestamp = int(headers["webhook-timestamp"])
    signature = fence_signature(timestamp, fenced_content(execution, timestamp, attempt, fence, body), keys)
    return {
        **headers,
        FENCE_SIGNATURE_HEADER: signature,
        "Fencepost-Attempt": str(attempt),
        "Fencepost-Fence": str(fence),
        "Fencepost-Team": "payments",
        "Fencepost-Job": "nightly",
        "Fencepost-Due": "2026-03-01T12:00:00.000Z",
    }
