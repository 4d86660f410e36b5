"""What requests about a team's keys hold."""

from __future__ import annotations

from typing import Literal

from fencepost.adapters.api.models import Body, Note

Scheme = Literal["v1", "v1a"]


class KeyBody(Body):
    """Which kind of key: v1 is a shared secret (HMAC-SHA256), v1a a pair whose public half receivers hold (ed25519)."""

    scheme: Scheme = "v1"
    note: Note | None = None
