"""A message that nobody can understand is kept with its reason and acknowledged: it must not come again and again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from fencepost.application import keys
from fencepost.application.codec import VERSION
from fencepost.application.ports import Received
from fencepost.application.store import Put, Store
from fencepost.domain.instants import to_ms

KEPT = timedelta(days=14)
BODY_CHARACTERS = 4_096
WHY_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class SetAside:
    """Keeps what was set aside for two weeks, as long as a queue would."""

    store: Store

    def keep(self, message: Received, why: str, now: datetime) -> None:
        """Writes the beginning of the message and the reason. Raises StoreError when it could not be kept."""
        item = {
            "v": VERSION,
            "at": to_ms(now),
            "why": why[:WHY_CHARACTERS],
            "body": message.body[:BODY_CHARACTERS],
            "received": message.receive_count,
            "expires": to_ms(now + KEPT) // 1000,
        }
        self.store.write(Put(key=keys.set_aside(message.queue.value, message.message_id), item=item))
