"""From a wake-up to the final record, told on a settable clock."""

from __future__ import annotations
