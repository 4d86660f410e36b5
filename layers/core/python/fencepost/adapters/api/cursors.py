"""Cursors: opaque, unforgeable, and good for one team and one list only."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from dataclasses import dataclass

from fencepost.domain.faults import Fault, Faults

_MAC = 16
_RULE = "is not a cursor of this list; take it from `next` of the page before, with the same filters"


@dataclass(frozen=True, slots=True)
class Cursors:
    """Seals where a list stopped. `scope` names team, list and filters: a cursor of another scope is refused."""

    key: bytes

    def seal(self, scope: str, position: object) -> str:
        """The cursor for `position` (a JSON value)."""
        text = json.dumps(position, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(self._mac(scope, text) + text).decode().rstrip("=")

    def open(self, scope: str, cursor: str | None) -> object:
        """The position; None for None. Raises Faults for whatever was not sealed for this scope."""
        if cursor is None:
            return None
        fault = Faults([Fault(field="cursor", value=cursor, rule=_RULE)])
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise fault from None
        mac, text = raw[:_MAC], raw[_MAC:]
        if not hmac.compare_digest(mac, self._mac(scope, text)):
            raise fault
        position: object = json.loads(text)
        return position

    def _mac(self, scope: str, text: bytes) -> bytes:
        return hmac.new(self.key, scope.encode() + b"\0" + text, hashlib.sha256).digest()[:_MAC]
