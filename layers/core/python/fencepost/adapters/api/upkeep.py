"""What the API needs for work of more than one step, and for switches."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from fencepost.application import messages
from fencepost.application.backfills.asking import Backfills
from fencepost.application.errands.errand import Errand
from fencepost.application.errands.running import Errands
from fencepost.application.ports import Queues, QueueUnavailableError
from fencepost.application.registry.departures import Departures
from fencepost.application.restoring.opening import Opening
from fencepost.application.restoring.recovery import Recovery
from fencepost.application.store import StoreError
from fencepost.application.switches.flipping import SETTLED_SECONDS, Switches


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """One per process. `recovery`: None in a stage whose settings name no restored copy."""

    backfills: Backfills
    switches: Switches
    errands: Errands
    departures: Departures
    opening: Opening
    recovery: Recovery | None
    queues: Queues

    def first_step(self, errand: Errand, now: datetime) -> None:
        """Takes a step at once; what it does not do now, the errand's next steps do."""
        with suppress(StoreError):
            self.errands.run(errand, now)

    def hasten(self, errand: Errand) -> None:
        """Asks for a step soon; if that fails, the tick asks for it."""
        with suppress(QueueUnavailableError):
            self.queues.send([messages.step(errand)])

    def pump_raised(self, team: str, now: datetime) -> None:
        """Asks for a pump of a team that may run more at once, for when no process believes any longer that its cap is what
        it was; if that fails, the tick asks for it.
        """
        with suppress(QueueUnavailableError):
            self.queues.send([replace(messages.pump(team, now), delay=SETTLED_SECONDS)])
