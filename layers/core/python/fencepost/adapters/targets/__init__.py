"""Calling targets: one caller per family of targets, one vocabulary of outcomes."""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol

from fencepost.domain.delivery import Delivery
from fencepost.domain.outcome import Outcome


class TargetCaller(Protocol):
    """Obligation: one attempt, within `timeout`, and an Outcome whatever the target does. It never retries."""

    def call(self, delivery: Delivery, *, timeout: timedelta) -> Outcome:
        """Delivers once."""
