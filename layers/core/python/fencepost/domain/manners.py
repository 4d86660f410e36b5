"""How a team spares a host that it calls: so many calls at once, so many a minute. Whoever is too many waits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from fencepost.domain.faults import Fault
from fencepost.domain.hosts import host_rule
from fencepost.domain.instants import MINUTE
from fencepost.domain.limits import Limits

MOST_PARALLEL = 1_000
MOST_PER_MINUTE = 60_000
_MS = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLimit:
    """What one host is spared to. None: no limit of that kind."""

    host: str
    max_parallel: int | None = None
    max_per_minute: int | None = None

    @property
    def spacing(self) -> timedelta | None:
        """How far apart two calls begin at least, in whole milliseconds."""
        return None if self.max_per_minute is None else -(-MINUTE // (self.max_per_minute * _MS)) * _MS


@dataclass(frozen=True, slots=True, kw_only=True)
class HostWait:
    """What a record notes while its host's limits keep it: since when, and the host that it has a ticket for."""

    since: datetime
    ticket: str | None = None


def limit_of(limits: Iterable[HostLimit], host: str) -> HostLimit | None:
    """The limit of this host, if it has one."""
    return next((limit for limit in limits if limit.host == host), None)


def longer(since: datetime, now: datetime, fraction: float, limits: Limits) -> timedelta:
    """How long to stay away from a host that is full: a share of the wait so far, so that a crowd asks seldom, and
    spread by `fraction` of [0, 1), so that it does not ask at once.
    """
    grown = min(max((now - since) / 4, limits.host_wait), limits.host_wait_longest)
    return grown * (1 + fraction) / 2


def check_host_limits(limits: Sequence[HostLimit], *, field: str = "hosts") -> tuple[Fault, ...]:
    """Every host that is not spelt as one."""
    faults = []
    for limit in limits:
        broken = host_rule(limit.host)
        if broken is None and limit.host != limit.host.lower():
            broken = "must be lower-case", limit.host.lower()
        if broken is not None:
            rule, suggestion = broken
            faults.append(
                Fault(field=f"{field}.{limit.host[:80]}", value=limit.host, rule=rule, suggestion=suggestion)
            )
    return tuple(faults)
