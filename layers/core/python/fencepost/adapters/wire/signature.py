"""Signature Version 4 of a request with a JSON body: pure, but for a memory of the day's signing keys."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

_ALGORITHM = "AWS4-HMAC-SHA256"
_KEYS_KEPT = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Who signs. `token` belongs to temporary credentials."""

    access_key: str
    secret_key: str = field(repr=False)
    token: str | None = field(default=None, repr=False)


class Signer:
    """Signs requests to one service in one region. Safe in several threads."""

    def __init__(self, credentials: Credentials, service: str, region: str) -> None:
        self._credentials = credentials
        self._service = service
        self._region = region
        self._keys: dict[str, bytes] = {}

    def signed(self, headers: Mapping[str, str], body: bytes, now: datetime) -> dict[str, str]:
        """`headers`, lower-case and with the host among them, for a POST of `body` to ``/``, signed at `now`."""
        stamp = f"{now:%Y%m%dT%H%M%SZ}"
        day = stamp[:8]
        complete = {**headers, "x-amz-date": stamp}
        if self._credentials.token is not None:
            complete["x-amz-security-token"] = self._credentials.token
        names = sorted(complete)
        listed = ";".join(names)
        lines = "".join(f"{name}:{complete[name].strip()}\n" for name in names)
        canonical = f"POST\n/\n\n{lines}\n{listed}\n{hashlib.sha256(body).hexdigest()}"
        scope = f"{day}/{self._region}/{self._service}/aws4_request"
        text = f"{_ALGORITHM}\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        signature = hmac.digest(self._key(day), text.encode(), "sha256").hex()
        who = f"Credential={self._credentials.access_key}/{scope}"
        complete["authorization"] = f"{_ALGORITHM} {who}, SignedHeaders={listed}, Signature={signature}"
        return complete

    def _key(self, day: str) -> bytes:
        known = self._keys.get(day)
        if known is None:
            known = f"AWS4{self._credentials.secret_key}".encode()
            for part in (day, self._region, self._service, "aws4_request"):
                known = hmac.digest(known, part.encode(), "sha256")
            if len(self._keys) >= _KEYS_KEPT:
                self._keys.clear()
            self._keys[day] = known
        return known
