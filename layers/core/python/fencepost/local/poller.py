"""What an event source mapping does on AWS: receives batches, invokes a function, deletes what it did not refuse.

A handler stands for one execution environment: it has one event at a time. When all of a function's environments are
busy, nothing more is received, so messages wait in their queue, where any other process may take them.
"""

from __future__ import annotations

import hashlib
import queue
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from fencepost.application.ports import QueueConsumer, QueueName, QueueUnavailableError, Received
from fencepost.local.gateway.policy import ACCOUNT
from fencepost.runtime.function import Build, Handler, instrumented
from fencepost.runtime.observability import Observability
from fencepost.runtime.settings import Settings
from fencepost.runtime.stage import Stage

RECEIVE_WAIT = timedelta(milliseconds=500)
AFTER_TROUBLE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """Which queue feeds which function, with how many environments and messages at once."""

    queue: QueueName
    build: Build
    environments: int
    batch: int = 10


@dataclass(frozen=True, slots=True)
class Context:
    """What a handler gets to know of its invocation."""

    aws_request_id: str
    function_name: str


class Poller:
    """Feeds one function from one queue, in threads of its own, from `start` until `stop`."""

    def __init__(self, stage: Stage, consumer: QueueConsumer, feed: Feed) -> None:
        self._observed: Observability = stage.observed
        self._settings = stage.settings
        self._entropy = stage.entropy
        self._consumer = consumer
        self._feed = feed
        self._stopping = threading.Event()
        self._free: queue.SimpleQueue[Handler] = queue.SimpleQueue()
        for _ in range(feed.environments):
            self._free.put(instrumented(feed.build(stage), stage.observed))
        self._pool = ThreadPoolExecutor(feed.environments, thread_name_prefix=f"fn-{feed.queue}")
        self._thread = threading.Thread(target=self._poll, name=f"poll-{feed.queue}", daemon=True)

    def start(self) -> None:
        """Begins to receive."""
        self._thread.start()

    def stop(self) -> None:
        """Receives nothing more; what is under way goes on."""
        self._stopping.set()

    def drain(self) -> None:
        """Returns when everything that was received is done with."""
        self._thread.join()
        self._pool.shutdown(wait=True)

    def _poll(self) -> None:
        while not self._stopping.is_set():
            try:
                handler = self._free.get(timeout=RECEIVE_WAIT.total_seconds())
            except queue.Empty:
                continue
            messages = self._receive()
            if messages:
                self._pool.submit(self._invoke, handler, messages)
            else:
                self._free.put(handler)

    def _receive(self) -> Sequence[Received]:
        try:
            return self._consumer.receive(self._feed.queue, self._feed.batch, RECEIVE_WAIT)
        except QueueUnavailableError as error:
            self._observed.logger.warning(
                "nothing received", extra={"queue": self._feed.queue, "why": str(error)}
            )
            self._stopping.wait(AFTER_TROUBLE)
            return ()

    def _invoke(self, handler: Handler, messages: Sequence[Received]) -> None:
        """A handler that raises keeps its whole batch, as on AWS."""
        try:
            context = Context(self._entropy.token(), f"local-{self._feed.queue}")
            answer = handler(to_event(messages, self._settings), context)
            refused = {each["itemIdentifier"] for each in answer["batchItemFailures"]}
            self._consumer.delete([each for each in messages if each.message_id not in refused])
        except Exception:
            self._observed.logger.exception("batch kept", extra={"queue": self._feed.queue})
        finally:
            self._free.put(handler)


def to_event(messages: Sequence[Received], settings: Settings) -> dict[str, Any]:
    """The event that the mapping would send."""
    return {"Records": [_record(message, settings) for message in messages]}


def _record(message: Received, settings: Settings) -> dict[str, Any]:
    name = settings.queues[message.queue].rpartition("/")[2]
    return {
        "messageId": message.message_id,
        "receiptHandle": message.receipt,
        "body": message.body,
        "attributes": {"ApproximateReceiveCount": str(message.receive_count), "SenderId": ACCOUNT},
        "messageAttributes": {},
        "md5OfBody": hashlib.md5(message.body.encode(), usedforsecurity=False).hexdigest(),
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:{settings.region}:{ACCOUNT}:{name}",
        "awsRegion": settings.region,
    }
