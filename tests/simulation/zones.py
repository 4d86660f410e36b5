"""A newer release of the time-zone database in the midst of a history: in it one zone's clock is a quarter of an hour
further on than it was.

All processes are replaced at once, as a deployment does it: nobody computes by one release and signs with the other.
"""

from __future__ import annotations

import sys
import zoneinfo
from importlib import resources
from pathlib import Path
from tempfile import mkdtemp

import tzdata

from fencepost.domain.schedule.zones import use_bundled_tzdata

ZONE, LIKE = "Asia/Kolkata", "Asia/Kathmandu"
NEWER = "2026sim"
_OLDER = tzdata.IANA_VERSION
_made: list[Path] = []


def release() -> None:
    """From here on this process has the newer release."""
    if not _made:
        folder = Path(mkdtemp(prefix="zones-"))
        where = folder / ZONE
        where.parent.mkdir()
        where.write_bytes(resources.files("tzdata").joinpath("zoneinfo", *LIKE.split("/")).read_bytes())
        _made.append(folder)
    zoneinfo.reset_tzpath(to=(str(_made[0]),))
    vars(tzdata)["IANA_VERSION"] = NEWER  # who reads it, reads it anew each time
    _forget()


def restore() -> None:
    """Back to the release that is installed; nothing to do where it never changed."""
    if tzdata.IANA_VERSION != _OLDER:
        vars(tzdata)["IANA_VERSION"] = _OLDER
        use_bundled_tzdata()
        _forget()


def _forget() -> None:
    """Whatever the code under test remembers of zones."""
    zoneinfo.ZoneInfo.clear_cache()
    for name, module in list(sys.modules.items()):
        if name.startswith("fencepost."):
            for value in list(vars(module).values()):
                clear = getattr(value, "cache_clear", None)
                if clear is not None:
                    clear()
