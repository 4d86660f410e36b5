"""Fresh signing keys, drawn here and sealed at once: the plain private half goes nowhere but into its envelope."""

from __future__ import annotations

from collections.abc import Callable

from fencepost.adapters.ed25519 import SCHEME as ED25519_SCHEME
from fencepost.adapters.ed25519 import Ed25519Key, encode_private
from fencepost.application.registry.signing_keys import MadeKey
from fencepost.domain.signing import HMAC_SCHEME, encode_secret

SECRET_BYTES = 32


class SealedKeys:
    """`KeyMaker` over `seal` (a secret and its team give the envelope) and a source of unguessable bytes."""

    def __init__(self, seal: Callable[[str, str], str], random_bytes: Callable[[int], bytes]) -> None:
        self._seal = seal
        self._random_bytes = random_bytes

    def make(self, scheme: str, team: str) -> MadeKey:
        """See `KeyMaker.make`. Raises ValueError for a scheme that is not known."""
        drawn = self._random_bytes(SECRET_BYTES)
        if scheme == HMAC_SCHEME:
            secret = encode_secret(drawn)
            return MadeKey(secret=secret, sealed=self._seal(secret, team))
        if scheme == ED25519_SCHEME:
            private = encode_private(drawn)
            public = Ed25519Key.parse(private, kid="").public
            return MadeKey(secret=None, sealed=self._seal(private, team), public=public)
        raise ValueError(f"{scheme!r} is no signature scheme")
