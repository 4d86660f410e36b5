"""Reads what a group of timers needs to be decided: their jobs, and the ended generations of old ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fencepost.application import keys
from fencepost.application.codec_job import decode_ended_generation, decode_job
from fencepost.application.store import Item, Key, Store
from fencepost.domain.model import EndedGeneration, Job, Timer


@dataclass(frozen=True, slots=True)
class JobFacts:
    """Read-committed: what is missing proves nothing (protocol B2). Decoding happens per timer, so that one item
    that cannot be read does not hold up its neighbours."""

    items: Mapping[Key, Item]

    def job(self, uid: str) -> Job | None:
        """The job or its tombstone. Raises UndecodableError."""
        item = self.items.get(keys.job(uid))
        return None if item is None else decode_job(item)

    def ended(self, timer: Timer) -> EndedGeneration | None:
        """The timer's own generation, if it has ended and was read. Raises UndecodableError."""
        item = self.items.get(keys.ended_generation(timer.uid, timer.generation))
        return None if item is None else decode_ended_generation(item)


def read_facts(store: Store, timers: Sequence[Timer]) -> JobFacts:
    """One batch for the jobs; a second one only where a timer is of an older generation."""
    found = dict(store.batch_get(list(dict.fromkeys(keys.job(timer.uid) for timer in timers))))
    old = [timer for timer in timers if _generation(found.get(keys.job(timer.uid))) > timer.generation]
    if old:
        found |= store.batch_get([keys.ended_generation(timer.uid, timer.generation) for timer in old])
    return JobFacts(found)


def _generation(item: Item | None) -> int:
    value = None if item is None else item.get("gen")
    return value if isinstance(value, int) else 0
