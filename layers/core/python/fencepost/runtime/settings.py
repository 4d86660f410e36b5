"""What a stage sets from outside: one frozen value, read once, every fault told at once and by variable."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from fencepost.application.ports import QueueName
from fencepost.application.store import Table
from fencepost.domain.egress import EgressPolicy
from fencepost.domain.instants import from_wire
from fencepost.domain.limits import Limits

T = TypeVar("T")
PREFIX = "FENCEPOST_"


class SettingsError(Exception):
    """The environment does not describe a stage; `problems` names each variable and what it must be."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        self.problems = dict(problems)
        super().__init__("; ".join(f"{name} {problem}" for name, problem in self.problems.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One stage. `admins` are the principals that administer it (account and role, never a session).

    A table or queue that a function has no business with may be missing: asking for it is the fault, and the
    adapters say so by name. `no_fire_before` turns older timers into skips after a restore (protocol F5); `restored`
    names the copy that the tables are, which fires nothing until it is opened; `replaced` is the table of the ledger
    that it replaces.
    """

    stage: str
    limits: Limits = field(default_factory=Limits)
    tables: Mapping[Table, str] = field(default_factory=dict)
    queues: Mapping[QueueName, str] = field(default_factory=dict)
    kms_key_id: str | None = None
    admins: frozenset[str] = frozenset()
    egress: EgressPolicy = field(default_factory=EgressPolicy)
    no_fire_before: datetime | None = None
    restored: str | None = None
    replaced: str | None = None
    region: str = "us-east-1"

    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ) -> Settings:
        """Reads the variables named ``FENCEPOST_...``. Raises SettingsError with every fault."""
        reader = _Reader(environ)
        stage = reader.text("STAGE")
        limits = reader.limits()
        egress = EgressPolicy(
            ports=reader.optional("PORTS", _ports, frozenset({443})),
            allow_private=reader.optional("ALLOW_PRIVATE", _cidrs, frozenset()),
        )
        settings = cls(
            stage=stage,
            limits=limits,
            tables={name: value for name in Table if (value := reader.raw(f"TABLE_{_upper(name)}"))},
            queues={name: value for name in QueueName if (value := reader.raw(f"QUEUE_{_upper(name)}"))},
            kms_key_id=reader.raw("KMS_KEY_ID"),
            admins=frozenset(_words(reader.raw("ADMINS") or "")),
            egress=egress,
            no_fire_before=reader.optional("NO_FIRE_BEFORE", _instant, None),
            restored=reader.raw("RESTORED"),
            replaced=reader.raw("TABLE_REPLACED"),
            region=environ.get("AWS_REGION", "us-east-1"),
        )
        reader.finish()
        return settings


class _Reader:
    """Reads variables and collects what is wrong with them."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._problems: dict[str, str] = {}

    def raw(self, name: str) -> str | None:
        return self._environ.get(PREFIX + name, "").strip() or None

    def text(self, name: str) -> str:
        value = self.raw(name)
        if value is None:
            self._problems[PREFIX + name] = "is not set"
        return value or ""

    def optional(self, name: str, parse: Callable[[str], T], default: T) -> T:
        value = self.raw(name)
        if value is None:
            return default
        try:
            return parse(value)
        except ValueError as error:
            self._problems[PREFIX + name] = f"is {value!r}: {error}"
            return default

    def limits(self) -> Limits:
        """The limits that a stage may set, each judged by itself, then together."""
        shards = self.optional("SHARDS", lambda text: Limits(shards=_whole(text)).shards, Limits().shards)
        horizon = self.optional("HORIZON_SECONDS", _horizon, Limits().horizon)
        return Limits(shards=shards, horizon=horizon)

    def finish(self) -> None:
        if self._problems:
            raise SettingsError(self._problems)


def _upper(name: str) -> str:
    return name.upper().replace("-", "_")


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for part in text.split(",") if (word := part.strip()))


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("it must be a whole number") from None


def _horizon(text: str) -> timedelta:
    return Limits(horizon=timedelta(seconds=_whole(text))).horizon


def _ports(text: str) -> frozenset[int]:
    ports = frozenset(map(_whole, _words(text)))
    if not ports or not all(1 <= port <= 65535 for port in ports):
        raise ValueError("ports are numbers from 1 to 65535, separated by commas")
    return ports


def _cidrs(text: str) -> frozenset[str]:
    return EgressPolicy(allow_private=frozenset(_words(text))).allow_private


def _instant(text: str) -> datetime:
    try:
        return from_wire(text)
    except ValueError:
        raise ValueError("it must be an RFC 3339 instant with an offset") from None
