"""Work that a target does after it answered: its lease, and the watch that judges it."""

from __future__ import annotations

from datetime import datetime, timedelta

from fencepost.application.admission import Admission
from fencepost.application.delivery.tools import Tools
from fencepost.application.moves import Moved, rewritten, while_leased
from fencepost.application.planting import watch_timer
from fencepost.domain.attempts import closed
from fencepost.domain.instants import floor_ms
from fencepost.domain.judgement import judged_at
from fencepost.domain.model import Execution, LongWork, Timer
from fencepost.domain.outcome import Outcome

STILL_TO_COME = timedelta(seconds=5)
"""More than clocks are apart: a message that is delayed for longer than that has not been taken yet."""


def begin_long_work(
    tools: Tools, doors: Admission, record: Execution, terms: LongWork, outcome: Outcome
) -> Execution | None:
    """The lease of long work, with a watch that is durable before anybody forgets the message.

    None: the record, or its slot, is no longer the holder's.
    """
    now = tools.clock.now()
    run_until = floor_ms(now + terms.max_run)
    until = min(floor_ms(now + terms.lease), run_until)
    if not tools.repeated(lambda: doors.slots.extend(record, until, now)):
        return None
    attempts = closed(record, outcome, at=None)
    after = rewritten(record, lease_until=until, run_until=run_until, watch=record.fence, attempts=attempts)
    return after.record if watched(tools, record, while_leased(record, after)) else None


def extend_long_work(
    tools: Tools, doors: Admission, record: Execution, terms: LongWork, now: datetime
) -> Execution | None:
    """A heartbeat: the slot first, then the lease; the watch finds out by itself (protocol D7). None: lost."""
    until = floor_ms(now + terms.lease)
    until = until if record.run_until is None else min(until, record.run_until)
    if record.lease_until is not None and until <= record.lease_until:
        return record
    if not tools.repeated(lambda: doors.slots.extend(record, until, now)):
        return None
    after = while_leased(record, rewritten(record, lease_until=until))
    return after.record if tools.commit(record, after) else None


def watched(tools: Tools, record: Execution, after: Moved) -> bool:
    """Writes `after` with a wake-up at the end of its lease; false where the race is lost.

    The message goes out first: should the write then fail, it is one more wake-up that finds nothing to do.
    """
    at = judged_at(after.record, tools.limits)
    if tools.send_wake(after.record, at):
        return tools.commit(record, after, insist=True)
    return _with_watch(tools, record, after, at) is not None


def watched_from_waiting(tools: Tools, record: Execution, after: Moved) -> bool:
    """Writes the lease of what waited, with a wake-up at its end; false where the race is lost.

    A message alone would do as little as the one in hand: whoever stands still between the two writes finds it gone,
    since it came, saw the record wait, and was taken away. So a timer is in the lease's own transaction, and goes once
    it is certain that the message is still to come.
    """
    at = judged_at(after.record, tools.limits)
    sent = tools.send_wake(after.record, at)
    timer = _with_watch(tools, record, after, at)
    if timer is None:
        return False
    if sent and tools.clock.now() < at - STILL_TO_COME:
        tools.forget(timer)
    return True


def _with_watch(tools: Tools, record: Execution, after: Moved, at: datetime) -> Timer | None:
    """Writes `after` and the timer that judges its lease at `at`, together; None where the race is lost."""
    return tools.commit_with_timer(
        record, after, lambda now: watch_timer(after.record, at, now=now, limits=tools.limits)
    )
