"""The list prices that the dashboard reckons with: those of `fencepost size`, so that there is one place for them."""

from __future__ import annotations

from fencepost.domain.sizing.prices import GIGABYTE_SECOND, READ_UNIT, WRITE_UNIT

__all__ = ["GIGABYTE_SECOND", "READ_UNIT", "WRITE_UNIT"]
