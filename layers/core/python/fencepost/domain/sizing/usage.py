"""What one firing uses, as counted on the wire (tests/bench/expected.json; a test compares)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """Per firing that succeeds at its first attempt, items up to 1 KB."""

    timer_writes: float = 3.0  # the next timer in a transaction, this one deleted
    claim_writes: float = 2.0  # the record, in the same transaction
    record_writes: float = 2.0  # lease, outcome
    slot_writes: float = 2.0  # taken, freed
    reads: float = 4.33
    queue_requests: float = 0.32  # sending by ten; receiving and deleting by ten
    batch: float = 10.0

    @property
    def writes(self) -> float:
        """All of them."""
        return self.timer_writes + self.claim_writes + self.record_writes + self.slot_writes


FULL_BATCHES = Units()
ALONE = Units(reads=7.03, queue_requests=2.12, batch=1.0)

# A pass of one shard with nothing due, every minute; the tick's share of it and its messages included.
PASS_WRITES = 3.0 + 2.0 / 64
PASS_READS = 12.0 + 26.0 / 64
PASS_QUEUE_REQUESTS = 136.0 / 64

# Seconds of a whole core, measured on x86; Lambda's arm64 cores are reckoned with at half their speed.
CLAIM_CPU = 2 * 0.000_33
DELIVERY_CPU = 2 * 0.002
FULL_CORE_MB = 1769
