"""Every limit and time constant of the firing protocol, named, in one frozen value.

A stage may set some of them (`runtime.settings`); nothing else in the code holds a number of this kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

_S = timedelta(seconds=1)
_M = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Raises ValueError at construction when two limits contradict each other."""

    shards: int = 64
    horizon: timedelta = 3 * _M
    misfire_grace: timedelta = 60 * _S
    watermark_lag: timedelta = 5 * _M
    planting_check: timedelta = 10 * _M
    writer_gives_up: timedelta = 60 * _S
    absent_job_alarm: timedelta = 10 * _M

    claim_group: int = 33
    claim_rate_min: int = 33
    claim_rate_max: int = 100
    resend_after: timedelta = 45 * _S
    release_spread: timedelta = 60 * _S
    catch_up_step: timedelta = 1 * _S
    max_delay: timedelta = 15 * _M
    timer_instead: timedelta = 14 * _M
    early_send: timedelta = 1 * _S
    surface_early: timedelta = timedelta(milliseconds=200)
    claim_takes: timedelta = timedelta(milliseconds=70)
    hold_at_most: timedelta = 2 * _S

    tick_lease: timedelta = 20 * _S
    scan_stagger: timedelta = timedelta(milliseconds=800)
    scan_spread: timedelta = 52 * _S
    scan_lease: timedelta = 45 * _S
    scan_budget: timedelta = 40 * _S

    lease_margin: timedelta = 15 * _S
    holder_stops: timedelta = 5 * _S
    taker_waits: timedelta = 2 * _S
    deliver_budget: timedelta = 50 * _S
    resend_at_receive: int = 3
    undeliverable_after: int = 3
    single_after_losses: int = 2

    slots_per_lane: int = 32
    slot_tries: int = 2
    slot_lanes_read: int = 2
    slot_margin: timedelta = 10 * _S
    slot_memory: timedelta = 30 * _S
    full_memory: timedelta = timedelta(milliseconds=200)
    busy_memory: timedelta = 1 * _S
    backlog_lanes: int = 8
    backlog_memory: timedelta = 1 * _S
    reservation: timedelta = 60 * _S
    hand_over_batch: int = 8
    overlap_queue: int = 100
    pump_budget: timedelta = 20 * _S
    pump_after_mark: timedelta = 2 * _S
    conflict_tries: int = 3
    conflict_wait: timedelta = timedelta(milliseconds=40)

    attempts_kept: int = 5
    excerpt_bytes: int = 512
    circuit_failures: int = 5
    circuit_open: timedelta = 30 * _S
    circuit_afresh: timedelta = 60 * _M
    host_wait: timedelta = 1 * _S
    host_wait_longest: timedelta = 60 * _S
    host_lookahead: timedelta = 10 * _M
    host_tries: int = 4
    record_min_life: timedelta = timedelta(hours=48)
    key_overlap: timedelta = timedelta(hours=24)

    def __post_init__(self) -> None:
        """The horizon must fit into a queue's delay, or a claimed firing would surface early."""
        if not _M <= self.horizon <= self.timer_instead:
            raise ValueError(f"horizon is {self.horizon}; it must lie in 1..14 minutes")
        if self.shards < 1:
            raise ValueError(f"shards is {self.shards}; a stage has at least one")
