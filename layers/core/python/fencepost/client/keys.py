"""A team's signing keys: what receivers verify its calls with."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fencepost.client.calls import Call, Caller, path
from fencepost.client.decoding import Result, decode


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningKey(Result):
    """One key. `public` is what receivers of scheme v1a verify with; secrets are never shown."""

    id: str
    scheme: str
    created_at: datetime
    public: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningKeys(Result):
    """All keys that sign now, the oldest first. None is dropped before `overlap_until`."""

    items: tuple[SigningKey, ...]
    overlap_until: datetime | None = None

    def __repr__(self) -> str:
        return f"SigningKeys({', '.join(key.id for key in self.items)})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MadeKey(SigningKeys):
    """The keys with the new one, and its secret, which is told this once (None for v1a)."""

    made: SigningKey
    secret: str | None = None


@dataclass(frozen=True, slots=True)
class KeyRing:
    """What can be done with a team's keys: make the second, let receivers learn it, drop the first."""

    caller: Caller
    team: str

    def list(self) -> SigningKeys:
        """The keys, without their secrets."""
        return decode(SigningKeys, self.caller.call(Call(method="GET", path=self._path())).body)

    def make(self, scheme: str = "v1", note: str | None = None, *, key: str | None = None) -> MadeKey:
        """One more key; two are valid at once. `v1` is a shared secret, `v1a` a pair."""
        return self._made((), scheme, note, key)

    def rotate(self, scheme: str = "v1", note: str | None = None, *, key: str | None = None) -> MadeKey:
        """A new key in the place of the older of two, once receivers had the time to learn the other one."""
        return self._made(("rotate",), scheme, note, key)

    def drop(self, key_id: str, *, compromised: bool = False) -> SigningKeys:
        """The key signs no more. `compromised`: at once, even if receivers know no other yet."""
        query = {"compromised": True} if compromised else {}
        call = Call(method="DELETE", path=self._path(key_id), query=query, keyed=True)
        return decode(SigningKeys, self.caller.call(call).body)

    def _made(self, more: tuple[str, ...], scheme: str, note: str | None, key: str | None) -> MadeKey:
        body = {"scheme": scheme, "note": note}
        call = Call(method="POST", path=self._path(*more), body=body, key=key, keyed=True)
        return decode(MadeKey, self.caller.call(call).body)

    def _path(self, *more: str) -> str:
        return path("teams", self.team, "keys", *more)
