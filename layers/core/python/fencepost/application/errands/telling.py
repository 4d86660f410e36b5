"""Notices that no execution stands for: written down with what they tell of, told by whoever empties dead-letter queues."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fencepost.application import messages
from fencepost.application.codec import UndecodableError
from fencepost.application.errands.errand import Errand, ErrandKind
from fencepost.application.ports import Queues
from fencepost.application.store import Put, Store
from fencepost.domain.notification import Notification, notification_to_wire


def notice_put(notification: Notification) -> Put:
    """Belongs into the transaction of what is told: the notice goes out once that has happened, and only then."""
    errand = Errand(kind=ErrandKind.TELL, subject=notification.id, team=notification.team)
    return errand.put(notice=notification_to_wire(notification))


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """One per process."""

    store: Store
    queues: Queues

    def run(self, errand: Errand, now: datetime) -> None:
        """Hands the notice to a dead-letter queue, which keeps it until the team is told; only then the errand goes."""
        del now
        item = self.store.get(errand.key)
        if item is None:
            return
        notice: Any = item.get("notice")
        if not isinstance(notice, dict):
            raise UndecodableError(f"errand {errand} holds no notice")
        if self.queues.send([messages.notice(notice)])[0]:
            self.store.write(errand.done())
