"""Every widget, alarm and objective reads what some handler emits: a simulated hour of the real handlers says so.

Its lines are in the very format that CloudWatch reads; what is compared is namespace, name and dimensions.
"""

from __future__ import annotations

from datetime import timedelta
from functools import cache

import pytest

from fencepost.application import keys
from fencepost.application.codec import encode_timer
from fencepost.application.planting import WATERMARK, fire_timer
from fencepost.application.ports import QueueName
from fencepost.application.store import Delete, Key, Put, StoreBusyError, Table
from fencepost.domain.instants import to_ms
from fencepost.domain.model import Misfire, MisfirePolicy, RetryPolicy, Tier
from fencepost.domain.outcome import Delivered, Failed
from fencepost.domain.schedule import parse_schedule
from fencepost.runtime.function import instrumented
from functions.dead_letter import handler as dead_letter
from functions.deliver import handler as deliver
from functions.pump import handler as pump
from functions.scan import handler as scan
from functions.sweep import handler as sweep
from functions.tick import handler as tick
from infra.names import NAMESPACE
from tests.infra.test_operations import charted, dashboard, watched
from tests.support.functions import QUEUES, WorldStage
from tests.support.grants import held
from tests.support.stacks import synthesised
from tests.support.world import World

pytestmark = pytest.mark.xdist_group("infra")

MINUTE = timedelta(minutes=1)
FEEDS = {
    QueueName.SCAN: (scan, 1),
    QueueName.PUMP: (pump, 1),
    **{QueueName(tier.value): (deliver, 10) for tier in Tier},
    **{QueueName(f"dead-{tier.value}"): (dead_letter, 10) for tier in Tier},
}


class Dies(BaseException):
    """What takes a worker away in mid-call."""


class Hour:
    """The handlers of a stage, woken and fed as AWS would, minute by minute."""

    def __init__(self):
        self.world = World()
        self.stage = WorldStage(self.world)
        self.world.rewire(self.stage.observed.telemetry.around, self.busy)
        self.stage.store = self.stage.quick_store = self.world.store
        self.stage.queues = self.world.queues
        self.throttles, self.died = 0, False
        built = {queue: (self.build(each), most) for queue, (each, most) in FEEDS.items()}
        self.feeds = {
            queue: (instrumented(one, self.stage.observed), most) for queue, (one, most) in built.items()
        }
        self.tick = instrumented(self.build(tick), self.stage.observed)
        self.sweep = instrumented(self.build(sweep), self.stage.observed)

    def build(self, module):
        """A handler that may do what its deployed role may."""
        return module.build(held(self.stage, module.__name__))

    def busy(self, call, proceed):
        """Now and then the store has no room."""
        if call.method == "get" and self.throttles:
            self.throttles -= 1
            raise StoreBusyError("throttled")
        return proceed()

    def minute(self, throttles=0):
        """A tick, and all that it leads to."""
        end = self.world.clock.now() + MINUTE
        self.tick({}, None)
        self.throttles = throttles
        while True:
            busy = [queue for queue in self.feeds if self.feed(queue)]
            if busy:
                continue
            surfaces = self.world.mail.next_visible()
            if surfaces is None or surfaces >= end:
                break
            self.world.clock.set(max(surfaces, self.world.clock.now()))
        self.world.clock.set(max(end, self.world.clock.now()))

    def feed(self, queue):
        """One batch of a queue through its function; a worker that dies acknowledges nothing."""
        handle, most = self.feeds[queue]
        batch = self.world.mail.receive(queue, most, timedelta(0))
        if batch:
            try:
                back = handle(event(batch), None)["batchItemFailures"]
            except Dies:
                return True
            kept = {each["itemIdentifier"] for each in back}
            self.world.mail.delete([message for message in batch if message.message_id not in kept])
        return bool(batch)

    def run(self):
        """The hour itself: something of everything that a stage goes through."""
        self.crowd()
        self.failures()
        self.oddities()
        for minute in range(60):
            self.minute(throttles=int(minute == 30))
        self.sweep({}, None)

    def crowd(self):
        """A job of each tier every few minutes, one of a team that has no slot, and one that catches up."""
        often = {"cron": "*/4 * * * *", "timezone": "UTC"}
        for tier in (Tier.CRITICAL, Tier.STANDARD, Tier.BULK):
            self.plant(tier.value, often, tier=tier)
        self.world.team("crowded", max_concurrency=0)
        self.plant("crowded", often, team="crowded")
        missed = Misfire(policy=MisfirePolicy.CATCH_UP, window=timedelta(days=7), max_runs=5)
        self.plant("catching-up", {"cron": "*/5 * * * *", "timezone": "UTC"}, misfire=missed, ago=20)

    def plant(self, name, schedule, *, ago=0, **facts):
        now = self.world.clock.now() - ago * MINUTE
        job = self.world.job(name, schedule=parse_schedule(schedule, now=now), **facts)
        first = fire_timer(
            job, now + MINUTE if not ago else now, ordinal=1, now=now, limits=self.world.limits
        )
        self.world.memory.write(Put(key=keys.timer(first), item=encode_timer(first)))
        return job

    def failures(self):
        """In each tier one firing that fails for good, and in one a worker that dies."""
        once = RetryPolicy(max_attempts=2, initial_delay=timedelta(seconds=5))
        for tier in Tier:
            job = self.world.job(f"failing-{tier.value}", retry=once)
            self.world.queue(job, tier=tier)
        self.world.queue(self.world.job("dying", retry=once), due=self.world.clock.now() + MINUTE)
        self.world.targets.then = self.answer

    def answer(self, delivery):
        """What a target does when it is called."""
        if delivery.facts.job == "dying" and not self.died:
            self.died = True
            raise Dies
        failing = "failing" in delivery.facts.job
        return Failed(status=500, error="answered 500") if failing else Delivered(status=200)

    def oddities(self):
        """A timer that nobody understands, and one whose job is gone."""
        now = self.world.clock.now()
        broken = Key(Table.TIMERS, f"{now:%Y%m%dT%H%M}#0000", "0000000000000#?#nobodyaaaaaaaaaaaaaa#1")
        self.world.memory.write(Put(key=broken, item={"v": 1}))
        gone = self.plant("gone", {"cron": "0 * * * *", "timezone": "UTC"}, ago=15)
        self.world.memory.write(Delete(key=keys.job(gone.uid)))
        self.world.memory.write(
            Put(key=keys.watermark(0), item={"v": 1, WATERMARK: to_ms(now - 30 * MINUTE)})
        )


def event(batch):
    """What Lambda is given for these messages."""
    return {
        "Records": [
            {
                "messageId": message.message_id,
                "receiptHandle": message.receipt,
                "body": message.body,
                "attributes": {"ApproximateReceiveCount": str(message.receive_count)},
                "eventSource": "aws:sqs",
                "eventSourceARN": f"arn:aws:sqs:eu-central-1:111122223333:{QUEUES[message.queue].rpartition('/')[2]}",
            }
            for message in batch
        ]
    }


@cache
def lines():
    """The metric lines of the hour."""
    hour = Hour()
    hour.run()
    return [line for line in hour.stage.lines() if "_aws" in line]


@cache
def emitted():
    """Every metric of the hour as CloudWatch would keep it, the stage's name put in place of the test's."""
    found = set()
    for line in lines():
        for directive in line["_aws"]["CloudWatchMetrics"]:
            for names in directive["Dimensions"]:
                dimensions = frozenset((name, {"test": "prod"}.get(line[name], line[name])) for name in names)
                found |= {(directive["Namespace"], each["Name"], dimensions) for each in directive["Metrics"]}
    return found


def own(metrics):
    return {each for each in metrics if each[0] == NAMESPACE}


def test_every_widget_reads_what_a_handler_emits():
    assert own(charted(synthesised("prod"))) - emitted() == set()


def test_every_alarm_and_the_objective_read_what_a_handler_emits():
    assert own(watched(synthesised("prod"))) - emitted() == set()


def test_whatever_is_emitted_is_read_by_somebody():
    read = {name for _, name, _ in own(charted(synthesised("prod")) | watched(synthesised("prod")))}
    assert {name for _, name, _ in emitted()} == read


def test_the_fields_that_log_queries_ask_for_are_in_the_lines():
    for widget in dashboard(synthesised("prod")):
        if widget["type"] == "log":
            metric = widget["properties"]["query"].partition("ispresent(")[2].partition(")")[0]
            teams = {line.get("team") for line in lines() if metric in line}
            assert teams == {"crowded"}, metric


def test_ratio_and_total_have_the_same_number_of_samples():
    """Else the ratio would wander with the batches."""
    for line in lines():
        assert len(line.get("Fired", [])) == len(line.get("OnTime", []))
