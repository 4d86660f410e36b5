"""What one firing uses, as counted on the wire (tests/bench/expected.json; a test compares)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """Of a firing that succeeds at its first attempt, items up to 1 KB; what a batch shares is counted apart."""

    timer_writes: float = 3.0  # the next timer in a transaction, this one deleted
    claim_writes: float = 2.0  # the record, in the same transaction
    record_writes: float = 2.0  # lease, outcome
    slot_writes: float = 2.0  # taken, freed
    own_reads: float = 4.03  # the timer, the job at its claim; the record, the job, the payload at delivery
    batch_reads: float = 3.0  # the team, the stage's switches, who waits
    own_requests: float = 0.12  # sent by ten
    batch_requests: float = 2.0  # received and deleted together

    @property
    def writes(self) -> float:
        """All of them."""
        return self.timer_writes + self.claim_writes + self.record_writes + self.slot_writes

    def reads(self, fill: float) -> float:
        """In batches of `fill`."""
        return self.own_reads + self.batch_reads / fill

    def requests(self, fill: float) -> float:
        """In batches of `fill`."""
        return self.own_requests + self.batch_requests / fill


FIRING = Units()

# A pass of one shard with nothing due, every minute; the tick's share of it and its messages included.
PASS_WRITES = 3.0 + 3.0 / 64
PASS_READS = 12.0 + 27.0 / 64
PASS_QUEUE_REQUESTS = 136.0 / 64

# One job of the daily second net and of the daily audit, a month old, fired once a day.
NET_READS, NET_CALLS = 2.0, 2.0
AUDIT_READS, AUDIT_CALLS = 3.0, 4.0
CALL_SECONDS = 0.004
"""One call of the store after the other, with what is made of the answer: assumed."""

# What functions have, as stages set it (infra/stages.py; a test compares).
DELIVERY_MB = 512
SCAN_MB = 512
UPKEEP_MB = 1769

# Seconds of a whole core, measured on x86; Lambda's arm64 cores are reckoned with at half their speed.
CLAIM_CPU = 2 * 0.000_33
DELIVERY_CPU = 2 * 0.002
FULL_CORE_MB = 1769
