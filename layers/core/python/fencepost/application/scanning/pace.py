"""How fast a scan claims timers that are not due yet: a crowded minute takes most of the horizon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from fencepost.application.ports import Clock
from fencepost.domain.limits import Limits
from fencepost.domain.model import Timer

_MARGIN = timedelta(seconds=30)


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
        elapsed = (now - self.filled_at) / timedelta(seconds=1)
        self.tokens = min(float(self.limits.claim_group), self.tokens + elapsed * rate)
        self.filled_at = now
        if self.tokens < len(group):
            pause = timedelta(seconds=(len(group) - self.tokens) / rate)
            if now + pause >= self.ends:
                return False
            self.clock.sleep(pause)
            self.tokens, self.filled_at = float(len(group)), self.clock.now()
        self.tokens -= len(group)
        return True

    def _rate(self, ahead: timedelta, left: int) -> float:
        seconds = max(ahead - _MARGIN, timedelta(seconds=1)) / timedelta(seconds=1)
        return min(float(self.limits.claim_rate_max), max(float(self.limits.claim_rate_min), left / seconds))
