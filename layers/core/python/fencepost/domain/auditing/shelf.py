"""The records of one page in the order of their instants, and what each instant is explained by."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from fencepost.domain.model import Execution


def first_of(record: Execution) -> datetime:
    """The occurrence that a record begins with."""
    return record.id.nominal or record.due


@dataclass(frozen=True, kw_only=True)
class Page:
    """Records of occurrences in [since, before), and in `carried` those from before `since` that may reach in."""

    since: datetime
    before: datetime
    records: Sequence[Execution]
    carried: Sequence[Execution] = ()

    @cached_property
    def all(self) -> tuple[Execution, ...]:
        """Every record, by instant."""
        return tuple(sorted((*self.carried, *self.records), key=first_of))

    @cached_property
    def _firsts(self) -> list[datetime]:
        return [first_of(record) for record in self.all]

    @cached_property
    def ranges(self) -> tuple[Execution, ...]:
        """Those that speak for several occurrences."""
        return tuple(record for record in self.all if record.until is not None)

    @cached_property
    def _range_firsts(self) -> list[datetime]:
        return [first_of(record) for record in self.ranges]

    def own(self, instant: datetime) -> Execution | None:
        """The record that begins with `instant`."""
        place = bisect_left(self._firsts, instant)
        return self.all[place] if place < len(self.all) and self._firsts[place] == instant else None

    def covering(self, instant: datetime) -> Execution | None:
        """The last range that begins before `instant` and holds it."""
        for place in reversed(range(bisect_left(self._range_firsts, instant))):
            until = self.ranges[place].until
            if until is not None and until >= instant:
                return self.ranges[place]
        return None

    def following(self, instant: datetime) -> Execution | None:
        """The first record that begins after `instant`."""
        place = bisect_right(self._firsts, instant)
        return self.all[place] if place < len(self.all) else None

    def preceding(self, instant: datetime) -> Execution | None:
        """The last record that begins before `instant`."""
        place = bisect_left(self._firsts, instant)
        return self.all[place - 1] if place else None

    def of_era(self, generation: int) -> Iterator[Execution]:
        """The records of one generation, by instant."""
        return (record for record in self.all if record.generation == generation)

    def planted_by(self, generation: int, *, before: datetime) -> Iterator[Execution]:
        """The records by which one generation counts its firings: those whose successors it planted, by instant."""
        for record in self.all:
            if first_of(record) >= before:
                return
            if record.planted_generation == generation:
                yield record
