"""One batch of messages: all at once, each by itself, and never an exception for the whole.

An exception would make the event source back off for everybody; so a message that fails is reported alone, and comes
back after a while of its own. One that cannot be understood is set aside and acknowledged; one of a later version comes
back as often as its queue allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

from fencepost.application.codec import NewerShapeError, UndecodableError
from fencepost.application.ports import QueueUnavailableError, Received
from fencepost.application.set_aside import SetAside
from fencepost.runtime.clock import StoppedError
from fencepost.runtime.events import Event, failures, received, unread
from fencepost.runtime.observability import Metric
from fencepost.runtime.stage import Stage

LONGEST_PAUSE = 300
NEWER_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Done:
    """The message may go."""


@dataclass(frozen=True, slots=True)
class Again:
    """The message shall come back after `seconds`."""

    seconds: int


@dataclass(frozen=True, slots=True)
class Last:
    """Ask again when nothing else of the batch is under way."""


Verdict: TypeAlias = Done | Again | Last
Work = Callable[[Received], Verdict]
Prepare = Callable[[Sequence[Received]], None]


class Batches:
    """Works through batches; `parallel` messages at once at most. One per execution environment."""

    def __init__(self, stage: Stage, *, parallel: int = 1) -> None:
        self._stage = stage
        self._aside = SetAside(stage.store)
        self._pool = ThreadPoolExecutor(parallel) if parallel > 1 else None

    def run(
        self, event: Event, work: Work, alone: Work | None = None, *, before: Prepare | None = None
    ) -> dict[str, Any]:
        """`before` sees the whole batch; then every message goes through `work`, and those that it put last through
        `alone`, one by one.
        """
        messages = received(event, self._stage.settings.queues)
        if before is not None:
            self._prepare(messages, before)
        verdicts = list(zip(messages, self._side_by_side(messages, work), strict=True))
        back = [message for message, verdict in verdicts if isinstance(verdict, Again)]
        for message, verdict in verdicts:
            if isinstance(verdict, Last):
                late = self._one(message, alone or work)
                back += [] if isinstance(late, Done) else [message]
        return failures(back, self._unread(event, messages))

    def _unread(self, event: Event, messages: Sequence[Received]) -> list[str]:
        """What is no message of this stage stays where it is, until its queue gives it up; the others go on."""
        left = unread(event, messages)
        if left:
            self._stage.observed.logger.error("records not read", extra={"message_ids": left})
        return left

    def _prepare(self, messages: Sequence[Received], before: Prepare) -> None:
        """What was not prepared is read by each message for itself."""
        try:
            before(messages)
        except Exception:
            self._stage.observed.logger.exception("batch not prepared", extra={"messages": len(messages)})

    def _side_by_side(self, messages: Sequence[Received], work: Work) -> list[Verdict]:
        if self._pool is None or len(messages) == 1:
            return [self._one(message, work) for message in messages]
        return list(self._pool.map(lambda message: self._one(message, work), messages))

    def _one(self, message: Received, work: Work) -> Verdict:
        """The verdict on one message, put into effect; whatever goes wrong is this message's affair."""
        try:
            verdict = work(message)
        except NewerShapeError as error:
            verdict = self._left(message, str(error))
        except UndecodableError as error:
            verdict = self._set_aside(message, str(error))
        except StoppedError:
            verdict = Again(1)
        except Exception:
            self._stage.observed.logger.exception("message failed", extra=_named(message))
            verdict = Again(pause(message.receive_count))
        if isinstance(verdict, Again):
            self._put_back(message, verdict.seconds)
        return verdict

    def _left(self, message: Received, why: str) -> Verdict:
        """A later version will know what to do with it: while both are deployed, the next to get it may be one."""
        self._stage.observed.logger.info(
            "message left to a later version", extra={**_named(message), "why": why}
        )
        self._stage.observed.telemetry.add(Metric.NEWER_SHAPES, queue=message.queue.value)
        return Again(NEWER_SECONDS)

    def _set_aside(self, message: Received, why: str) -> Verdict:
        self._stage.observed.logger.error("message set aside", extra={**_named(message), "why": why})
        try:
            self._aside.keep(message, why, self._stage.clock.now())
        except Exception:
            self._stage.observed.logger.exception("message could not be set aside", extra=_named(message))
            return Again(pause(message.receive_count))
        self._stage.observed.telemetry.add(Metric.QUARANTINED, queue=message.queue.value)
        return Done()

    def _put_back(self, message: Received, seconds: int) -> None:
        """Where even that fails the message comes back when the queue's own patience ends."""
        try:
            self._stage.queues.set_visibility(message, seconds)
        except QueueUnavailableError as error:
            self._stage.observed.logger.warning("message keeps its visibility", extra={"why": str(error)})


def pause(receive_count: int) -> int:
    """Seconds until a message that failed for no reason of its own comes back: 2, 4, 8 ... 300."""
    return int(min(2 ** min(receive_count, 16), LONGEST_PAUSE))


def _named(message: Received) -> dict[str, object]:
    return {
        "queue": message.queue.value,
        "message_id": message.message_id,
        "receive_count": message.receive_count,
    }
