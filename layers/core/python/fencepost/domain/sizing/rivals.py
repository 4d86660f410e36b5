"""What others take for the same load, and what is not the same about it."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.domain.sizing import prices
from fencepost.domain.sizing.bill import Bill
from fencepost.domain.sizing.load import Load


@dataclass(frozen=True, slots=True)
class Rival:
    """Dollars a month, where the price comes from, and what one should know."""

    name: str
    dollars: float
    source: str
    note: str

    def per_million(self, load: Load) -> float:
        """Dollars for a million firings."""
        return self.dollars / load.firings * 1e6


def rivals(load: Load, ours: Bill) -> tuple[Rival, ...]:
    """For the load of `ours`."""
    return (_scheduler(load, ours), _qstash(load), _temporal(load))


def _scheduler(load: Load, ours: Bill) -> Rival:
    """Like for like: it fires into a queue, and the rest of the path, lease and outcome included, is as ours. It looks
    up nothing, claims nothing, holds nothing until due, has no slots, and nobody looks after it each day.
    """
    fired = max(0.0, load.firings - prices.SCHEDULER_INVOCATIONS_FREE) * prices.SCHEDULER_INVOCATION
    sent = load.firings * prices.QUEUE_REQUEST
    note = (
        "a minute's precision, 1,000 a second before the excess is delayed, no concurrency cap of a team, no misfire "
        "policies; each firing is a queue request of its own"
    )
    return Rival("EventBridge Scheduler, same delivery", fired + sent + ours.shared, "AWS price list", note)


def _qstash(load: Load) -> Rival:
    messages = load.firings * prices.QSTASH_MESSAGE
    schedules = max(0, load.jobs - prices.QSTASH_SCHEDULES_FREE) * prices.QSTASH_ACTIVE_SCHEDULE
    note = (
        f"messages alone; active schedules beyond a thousand would be ${schedules:,.0f} more as listed. Fixed plans "
        "carry up to 10 million messages a day for $420"
    )
    return Rival("Upstash QStash, pay as you go", messages, "copy of the vendor's page, not verified", note)


def _temporal(load: Load) -> Rival:
    left, dollars = load.firings * prices.TEMPORAL_ACTIONS, 0.0
    for actions, price in prices.TEMPORAL_TIERS:
        dollars += min(left, actions) * price
        left = max(0.0, left - actions)
    dollars += left * prices.TEMPORAL_LAST_TIER
    note = "4 actions each; beyond 200 million actions the price is negotiated, here it stays at the last one listed"
    return Rival("Temporal Cloud", dollars, "copy of the vendor's page, not verified", note)
