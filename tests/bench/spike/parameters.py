"""What the model knows of AWS. Seconds, units and counts; each is documented by AWS or says that it is assumed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Aws:
    """Documented: batch of 10, poller of 10 polls a second and 10 invocations, default mapping from 5 by 300 a minute
    up to 1,250, a thousand new environments in ten seconds for one function, 1,000 write units a second for one
    partition, fair queues' threshold of 30 in flight and a tenth of all. Everything else is assumed.
    """

    batch: int = 10
    polls_per_second: float = 10.0
    invokes_per_poller: int = 10
    default_start: int = 5
    default_per_minute: float = 300.0
    default_cap: int = 1_250
    starts_burst: int = 1_000
    starts_per_second: float = 100.0
    partition_writes: float = 1_000.0
    fair_in_flight: int = 30
    fair_share: float = 0.1

    surface_jitter: float = 0.1  # assumed: a delayed message surfaces up to so late
    poll: float = 0.02  # assumed: from a message's surfacing to a function that runs
    cold_start: float = 0.8  # assumed: twice the CPU of imports as measured, and a sandbox
    read: float = 0.006  # assumed, as all latencies of the store
    write: float = 0.007
    transaction: float = 0.020
    query: float = 0.007
    send: float = 0.010
    cpu_before_call: float = 0.0022  # measured on x86, doubled for arm64: per firing, up to its call
    cpu_after_call: float = 0.0018


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a stage is set. `pollers` None: the default mapping; else provisioned, with so many."""

    pollers: int | None
    concurrency: int
    memory_mb: int = 512
    warm: int = 30
    table_writes: float = 30_000.0
    fair: bool = True

    @property
    def share_of_core(self) -> float:
        """1,769 MB are one core."""
        return min(1.0, self.memory_mb / 1769)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """How targets answer: seconds, median and spread (a log-normal's sigma)."""

    median: float = 0.15
    sigma: float = 0.35


AWS = Aws()
