"""Who may call the local gateway: access keys, whom they stand for, and their policies, in one file of the owner's."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fencepost.local.gateway.policy import ACCOUNT, Policy, PolicyError


class CredentialsError(ValueError):
    """The credentials file cannot be used; says where and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """One access key. `arn` is what IAM calls its holder: a user, or a session of a role."""

    access_key_id: str
    secret_access_key: str
    arn: str
    policies: tuple[Policy, ...] = ()
    session_token: str | None = None

    @property
    def account(self) -> str:
        """The holder's account."""
        return self.arn.split(":")[4] or ACCOUNT


class CredentialsFile:
    """The file, read anew whenever it changed: adding a key needs no restart. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._known: Mapping[str, Credential] = {}

    def find(self, access_key_id: str) -> Credential | None:
        """The credential of this access key id."""
        return self._current().get(access_key_id)

    def of(self, arn: str) -> Credential | None:
        """The credential of this holder."""
        return next((each for each in self._current().values() if each.arn == arn), None)

    def add(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Writes entries into the file, each replacing the one of its access key id. Only the owner can read it."""
        with self._lock:
            old = self._entries()
            new = {entry["access_key_id"]: dict(entry) for entry in [*old, *entries]}
            text = json.dumps(list(new.values()), indent=2) + "\n"
            draft = self._path.with_suffix(".draft")
            draft.unlink(missing_ok=True)
            draft.touch(mode=0o600, exist_ok=False)
            draft.write_text(text)
            draft.replace(self._path)
            self._stamp = None

    def _current(self) -> Mapping[str, Credential]:
        with self._lock:
            try:
                status = self._path.stat()
            except FileNotFoundError:
                return {}
            stamp = (status.st_mtime_ns, status.st_size)
            if stamp != self._stamp:
                self._known = {entry.access_key_id: entry for entry in map(_credential, self._entries())}
                self._stamp = stamp
            return self._known

    def _entries(self) -> list[Any]:
        try:
            entries = json.loads(self._path.read_text())
        except FileNotFoundError:
            return []
        except ValueError as error:
            raise CredentialsError(f"{self._path}: not JSON: {error}") from error
        if not isinstance(entries, list):
            raise CredentialsError(f"{self._path}: must hold a list")
        return entries


def entry(
    *, access_key_id: str, secret_access_key: str, arn: str, policy: Mapping[str, Any]
) -> dict[str, Any]:
    """One entry of the file."""
    return {
        "access_key_id": access_key_id,
        "secret_access_key": secret_access_key,
        "arn": arn,
        "policies": [policy],
    }


def session_arn(role: str, session: str) -> str:
    """What IAM calls a session of a role of the local account."""
    return f"arn:aws:sts::{ACCOUNT}:assumed-role/{role}/{session}"


def role_arn(role: str) -> str:
    """What IAM calls a role of the local account."""
    return f"arn:aws:iam::{ACCOUNT}:role/{role}"


def _credential(raw: object) -> Credential:
    if not isinstance(raw, Mapping):
        raise CredentialsError("a credential is an object")
    token = raw.get("session_token")
    texts = [raw.get(name) for name in ("access_key_id", "secret_access_key", "arn")]
    if not all(isinstance(each, str) for each in [*texts, token or ""]) or str(raw["arn"]).count(":") < 5:
        raise CredentialsError(
            "a credential has access_key_id, secret_access_key and arn, and may have session_token"
        )
    try:
        policies = tuple(map(Policy.parse, raw.get("policies", ())))
    except PolicyError as error:
        raise CredentialsError(f"the policies of {raw['arn']}: {error}") from error
    return Credential(
        access_key_id=raw["access_key_id"],
        secret_access_key=raw["secret_access_key"],
        arn=raw["arn"],
        policies=policies,
        session_token=token,
    )
