"""Runs the next step of whatever errand a message names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from fencepost.application.errands.errand import Errand, ErrandKind

Step = Callable[[Errand, datetime], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Errands:
    """One per process. Steps raise StoreError when a repeat may help; the errand stands until its work is done."""

    steps: Mapping[ErrandKind, Step]

    def run(self, errand: Errand, now: datetime) -> None:
        """One step."""
        self.steps[errand.kind](errand, now)
