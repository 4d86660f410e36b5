"""A team's signing keys, opened for use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fencepost.adapters.ed25519 import SCHEME as ED25519_SCHEME
from fencepost.adapters.ed25519 import Ed25519Key
from fencepost.application.ports import KeyUnavailableError
from fencepost.domain.model import SigningKey
from fencepost.domain.signing import HMAC_SCHEME, HmacKey, Signer

__all__ = ["KeyRing", "KeyUnavailableError", "Opener"]

Opener = Callable[[str], str]
"""Turns a sealed secret into its plain wire form (``whsec_...``, ``whsk_...``). Raises KeyUnavailableError."""


class KeyRing:
    """Opens keys once and keeps them, by id and sealed secret: a rotated key is another one."""

    def __init__(self, open_secret: Opener) -> None:
        self._open = open_secret
        self._opened: dict[tuple[str, str], Signer] = {}

    def signers(self, keys: Sequence[SigningKey]) -> tuple[Signer, ...]:
        """All keys of a team, in order. Raises KeyUnavailableError if one of them cannot be opened."""
        return tuple(self._signer(key) for key in keys)

    def _signer(self, key: SigningKey) -> Signer:
        name = (key.id, key.secret)
        if name not in self._opened:
            self._opened[name] = _parse(key, self._open(key.secret))
        return self._opened[name]


_PARSERS: Mapping[str, Callable[..., Signer]] = {HMAC_SCHEME: HmacKey.parse, ED25519_SCHEME: Ed25519Key.parse}


def _parse(key: SigningKey, secret: str) -> Signer:
    parse = _PARSERS.get(key.scheme)
    if parse is None:
        raise KeyUnavailableError(f"signing key {key.id} has the unknown scheme {key.scheme!r}")
    try:
        return parse(secret, kid=key.id)
    except ValueError as error:
        raise KeyUnavailableError(f"signing key {key.id}: {error}") from None
