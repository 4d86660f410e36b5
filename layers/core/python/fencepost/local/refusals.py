"""Whether this machine's store takes what is written: what a full disk, a quota or a broken file would go unnoticed by,
since a store that refuses writes is read as well as ever.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

from fencepost.adapters.seam import PortCall
from fencepost.adapters.sqlite.database import DatabaseBusyError
from fencepost.application.ports import QueueUnavailableError
from fencepost.application.store import OutcomeUnknownError

T = TypeVar("T")
REMEMBERED = timedelta(minutes=2)
"""How long a refusal counts. The tick of every minute writes, and is refused again where nothing has changed."""
ROOM = 1 << 20
"""Bytes: with less left on its disk the store soon refuses what is larger than a page."""
_READS = frozenset({"get", "batch_get", "pages", "scan"})


class Refusals:
    """A seam's `Around` for store and queues that remembers which write was refused last. Being busy is no refusal.

    `now`: the stage's clock; `folder`: where the store lies on this machine's disk, None where it does not.
    """

    def __init__(self, now: Callable[[], datetime], folder: Path | None = None) -> None:
        self._now = now
        self._folder = folder
        self._lock = threading.Lock()
        self._last: tuple[datetime, str] | None = None

    def __call__(self, call: PortCall, proceed: Callable[[], T]) -> T:
        """Lets the call happen, and its refusal pass on."""
        try:
            return proceed()
        except (OutcomeUnknownError, QueueUnavailableError) as error:
            if call.method not in _READS and not isinstance(error.__cause__, DatabaseBusyError):
                with self._lock:
                    self._last = (self._now(), str(error))
            raise

    def trouble(self) -> str | None:
        """What keeps the service from writing, in words; None where nothing does. Raises nothing."""
        room = self._room()
        if room is not None and room < ROOM:
            return f"the disk is full: {room:,} bytes are left where the store lies"
        with self._lock:
            last = self._last
        if last is None or self._now() - last[0] > REMEMBERED:
            return None
        return f"a write was refused at {last[0]:%H:%M:%S}Z: {last[1]}"

    def _room(self) -> int | None:
        if self._folder is None:
            return None
        try:
            return shutil.disk_usage(self._folder).free
        except OSError:
            return None
