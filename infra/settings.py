"""What a stage is told about its size: values, and the rules that they keep before anything is synthesised."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from infra.names import DEAD, DELIVERERS, Fn

UNRESERVED = 100
"""What Lambda keeps back for functions without a reservation: an account's reservations must leave it alone."""

INVOKES_PER_POLLER = 10
VISIBILITY_FACTOR = 6
LONGEST_HORIZON = 14 * 60


class StageError(ValueError):
    """The settings contradict each other; the message names every fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pollers:
    """Provisioned pollers: there before the load is, each paid by the hour."""

    minimum: int
    maximum: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AtMost:
    """Pollers that come and go by themselves, never with more than so many invocations at once."""

    concurrency: int


Polling = Pollers | AtMost


@dataclass(frozen=True, slots=True, kw_only=True)
class Provisioned:
    """Capacity bought by the hour, scaled between two bounds towards a share in use."""

    least: int
    most: int
    percent: int = 70


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSize:
    """How a table pays for writes and reads, and how much of them it takes from its first second.

    `writes` and `reads` None: on demand. Warm throughput is paid once and can never be lowered.
    """

    writes: Provisioned | None = None
    reads: Provisioned | None = None
    warm_writes: int | None = None
    warm_reads: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSize:
    """One function. `reserved` is both what it is guaranteed and the most it gets."""

    memory: int
    timeout: int
    reserved: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSize:
    """Requests a second, and how many at once, before the gateway refuses; a firewall in front if wanted."""

    rate: int
    burst: int
    firewall: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """The promise that is measured: so much of a window's firings begin on time."""

    goal: float = 99.0
    days: int = 28
    at_least: int = 20
    """Fewer firings than this in a look-back window say nothing about its ratio."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Everything that tells one stage from another.

    `callers` are the other accounts whose principals may call the API, where their own policies let them, as a team's
    principals. `account_concurrency` is the Lambda quota of the account, `reserved_elsewhere` what other stages and services
    reserve of it. `no_fire_before` is an RFC 3339 instant: older timers are recorded as skipped, not fired.
    `restored` is the suffix of restored tables, and such a stage fires nothing until `fencepost recover` opens it;
    `replaced` is the suffix of those that they replace, by default the store's own. A `closed` stage has no tick: nothing is claimed until it is deployed open again.
    """

    name: str
    shards: int
    horizon: int = 180
    account: str | None = None
    region: str = "us-east-1"
    account_concurrency: int
    reserved_elsewhere: int = 0
    functions: Mapping[Fn, FunctionSize]
    polling: Mapping[Fn, Polling]
    tables: Mapping[str, TableSize] = field(default_factory=dict)
    api: ApiSize
    retain: bool
    recovery_days: int = 7
    log_days: int
    customer_key: bool = False
    demand_bytecode: bool = False
    objective: Objective = field(default_factory=Objective)
    admins: tuple[str, ...] = ()
    callers: tuple[str, ...] = ()
    alarm_emails: tuple[str, ...] = ()
    runbook: str = "docs/runbook.md"
    no_fire_before: str | None = None
    restored: str | None = None
    replaced: str | None = None
    closed: bool = False

    def check(self) -> Stage:
        """Itself. Raises StageError with every fault."""
        faults = [*self._concurrency(), *self._pollers(), *self._times(), *self._tables(), *self._callers()]
        if faults:
            raise StageError(f"stage {self.name}: " + "; ".join(faults))
        return self

    @property
    def reserved(self) -> int:
        """What all its functions reserve."""
        return sum(size.reserved for size in self.functions.values())

    def size(self, function: Fn) -> FunctionSize:
        """The room of one function."""
        return self.functions[function]

    def table(self, table: str) -> TableSize:
        """The room of one table: on demand, nothing warm, unless said otherwise."""
        return self.tables.get(table, TableSize())

    def _concurrency(self) -> Iterator[str]:
        wanted = self.reserved + self.reserved_elsewhere
        allowed = self.account_concurrency - UNRESERVED
        if wanted > allowed:
            yield (
                f"functions reserve {self.reserved} and others {self.reserved_elsewhere}, in all {wanted}; "
                f"the account's quota of {self.account_concurrency} less {UNRESERVED} allows {allowed}"
            )

    def _pollers(self) -> Iterator[str]:
        for function, polling in self.polling.items():
            reserved = self.size(function).reserved
            match polling:
                case Pollers(minimum=least, maximum=most):
                    if not 2 <= least <= min(most, 200):
                        yield f"{function}: {least} to {most} pollers; the minimum must be 2..200 and not above the maximum"
                    if most * INVOKES_PER_POLLER > reserved:
                        yield f"{function}: {most} pollers invoke {most * INVOKES_PER_POLLER} at once, it reserves {reserved}"
                case AtMost(concurrency=most):
                    mappings = len(DEAD) if function is Fn.DEAD_LETTER else 1
                    if not 2 <= most <= 1000:
                        yield f"{function}: at most {most} at once; it must be 2..1000"
                    if most * mappings > reserved:
                        yield f"{function}: {mappings} x {most} at once, it reserves {reserved}"

    def _times(self) -> Iterator[str]:
        if not 60 <= self.horizon <= LONGEST_HORIZON:
            yield f"horizon is {self.horizon}; it must be 60..{LONGEST_HORIZON} seconds"
        if self.shards < 1:
            yield f"shards is {self.shards}; a stage has at least one"
        missing = [name for name in Fn if name not in self.functions]
        unfed = [
            name
            for name in (*DELIVERERS.values(), Fn.DEAD_LETTER, Fn.SCAN, Fn.PUMP)
            if name not in self.polling
        ]
        if missing or unfed:
            yield f"no room for {', '.join(missing) or 'nothing'}; no polling for {', '.join(unfed) or 'nothing'}"

    def _callers(self) -> Iterator[str]:
        for account in self.callers:
            if not re.fullmatch(r"\d{12}", account):
                yield f"callers: {account} is no account; it must be twelve digits"

    def _tables(self) -> Iterator[str]:
        for table, size in self.tables.items():
            for what, bought in (("writes", size.writes), ("reads", size.reads)):
                if bought is not None and not 1 <= bought.least <= bought.most:
                    yield f"{table}: {what} from {bought.least} to {bought.most}"
            if (size.writes is None) != (size.reads is None):
                yield f"{table}: writes and reads are either both provisioned or both on demand"
