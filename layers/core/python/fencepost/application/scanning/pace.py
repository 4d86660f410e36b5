"""How fast a scan claims timers that are not due yet, and at which moments.

A crowded minute takes most of the horizon. And since a queue delays by whole seconds, the moment of sending decides how
long before its firing a message surfaces: sent at any time, somewhere in the second before; sent at the right time,
shortly before, together with all others of that second. Then fewer functions wait for less, with fuller batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from fencepost.application.ports import Clock
from fencepost.domain.limits import Limits
from fencepost.domain.model import Timer

_MARGIN = timedelta(seconds=30)
_SECOND = timedelta(seconds=1)


@dataclass(slots=True, kw_only=True)
class Pace:
    """A token bucket whose burst is one group and whose rate follows from the time left. Past-due timers never wait.

    The rate is between `claim_rate_min` and `claim_rate_max` claims a second for a shard.
    """

    clock: Clock
    limits: Limits
    ends: datetime
    tokens: float
    filled_at: datetime

    @classmethod
    def begin(cls, clock: Clock, limits: Limits, budget: timedelta) -> Pace:
        """A pass that starts now and may take `budget`."""
        now = clock.now()
        return cls(clock=clock, limits=limits, ends=now + budget, tokens=limits.claim_group, filled_at=now)

    @property
    def over(self) -> bool:
        """The pass's time is spent."""
        return self.clock.now() >= self.ends

    def wait(self, group: Sequence[Timer], left: int) -> bool:
        """Returns when `group`, the first of `left` timers, may be claimed; false when the pass's time is up first."""
        now = self.clock.now()
        if now >= self.ends:
            return False
        ahead = min(timer.due for timer in group) - now
        if ahead <= timedelta(0):
            return True
        rate = self._rate(ahead, left)
        elapsed = (now - self.filled_at) / _SECOND
        self.tokens = min(float(self.limits.claim_group), self.tokens + elapsed * rate)
        self.filled_at = now
        short = max(0.0, len(group) - self.tokens)
        pause = self._aligned(timedelta(seconds=short / rate), now, group, rate)
        if now + pause >= self.ends:
            return False
        self.clock.sleep(pause)
        self.filled_at = self.clock.now()
        self.tokens += (self.filled_at - now) / _SECOND * rate
        self.tokens = min(float(self.limits.claim_group), self.tokens) - len(group)
        return True

    def _aligned(self, pause: timedelta, now: datetime, group: Sequence[Timer], rate: float) -> timedelta:
        """`pause`, made longer by less than a second, so that the group's messages surface shortly before they are
        due. Where groups follow each other faster than that, or the first is nearly due, it stays as it is.
        """
        if rate > self.limits.claim_group:
            return pause
        early = self.limits.surface_early + self.limits.claim_takes
        spare = min(timer.due for timer in group) - now - pause - early
        return pause + max(spare, timedelta(0)) % _SECOND

    def _rate(self, ahead: timedelta, left: int) -> float:
        seconds = max(ahead - _MARGIN, _SECOND) / _SECOND
        return min(float(self.limits.claim_rate_max), max(float(self.limits.claim_rate_min), left / seconds))
