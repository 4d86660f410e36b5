"""What was probably meant by a refused expression or zone."""

from __future__ import annotations

import difflib

from fencepost.domain.schedule.zones import zone_names


def alternative(text: str) -> str | None:
    """An accepted schedule close to the refused `text`, or None."""
    del text
    return None


def similar_zones(name: str) -> str | None:
    """Up to three zones whose names are near `name`."""
    near = difflib.get_close_matches(name[:40], zone_names(), n=3, cutoff=0.6)
    return " or ".join(near) or None
