"""A stage key for tests: it lies in this process and opens what it wrapped, for the team that it was wrapped for."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

from fencepost.adapters.secrets import DataKey, Secrets
from fencepost.application.ports import KeyUnavailableError
from fencepost.runtime.entropy import token_bytes


@dataclass
class Vault:
    """`Wrapper` that says nothing while `down`."""

    down: bool = False
    _kept: dict[bytes, tuple[str, bytes]] = field(default_factory=dict)
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def fresh(self, team: str) -> DataKey:
        """See `Wrapper.fresh`."""
        self._up()
        wrapped, plain = b"wrapped-%d" % next(self._numbers), token_bytes(32)
        self._kept[wrapped] = team, plain
        return DataKey(plain, wrapped)

    def unwrap(self, wrapped: bytes, team: str) -> bytes:
        """See `Wrapper.unwrap`."""
        self._up()
        owner, plain = self._kept[wrapped]
        if owner != team:
            raise KeyUnavailableError("wrapped for another team")
        return plain

    def _up(self) -> None:
        if self.down:
            raise KeyUnavailableError("the key service does not answer")


def secrets_in(vault: Vault) -> Secrets:
    """Secrets under the vault's key."""
    return Secrets(vault, token_bytes)
