"""What was measured, kept beside the code: the page is made of it, so that it can be written anew without measuring."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).with_name("figures.json")


def kept() -> dict[str, Any]:
    """All sections' figures as they were last measured."""
    found: dict[str, Any] = json.loads(FIGURES.read_text(encoding="utf-8"))
    return found


def keep(**sections: Any) -> None:
    """Replaces these sections' figures; they stay in the order in which they were measured."""
    found = (kept() if FIGURES.exists() else {}) | sections
    FIGURES.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
