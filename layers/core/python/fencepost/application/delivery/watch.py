"""Gives a live lease somebody who judges its end."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.application.delivery.long_work import watched
from fencepost.application.delivery.results import Acknowledge, Disposition, Raced
from fencepost.application.delivery.tools import Tools
from fencepost.application.moves import rewritten
from fencepost.domain.judgement import LiveLease
from fencepost.domain.model import Execution


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """One per process."""

    tools: Tools

    def over(self, record: Execution, step: LiveLease) -> Disposition | Raced:
        """A wake-up at the lease's end that is durable before the message goes.

        The message in hand may be the very wake-up that watched, so a watched lease gets one anew (protocol D7).
        """
        if step.watched:
            self.tools.rearm(record, step.until)
        elif not watched(self.tools, record, rewritten(record, watch=record.fence)):
            return Raced("its holder moved it")
        return Acknowledge(why=f"{step.why}, and is watched")
