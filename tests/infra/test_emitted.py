"""Every widget, alarm and objective reads what some handler emits: a simulated hour of the real handlers says so.

Its lines are in the very format that CloudWatch reads; what is compared is namespace, name and dimensions.
"""

from __future__ import annotations

from datetime import timedelta
from functools import cache

import pytest

from fencepost.application import keys
from fencepost.application.codec import VERSION
from fencepost.application.planting import WATERMARK
from fencepost.application.ports import QueueName, QueueUnavailableError
from fencepost.application.store import Delete, Key, Put, StoreBusyError, Table
from fencepost.domain.instants import to_ms
from fencepost.domain.model import Misfire, MisfirePolicy, RetryPolicy, Tier
from fencepost.domain.outcome import Delivered, Failed
from infra.names import NAMESPACE
from tests.infra.test_operations import charted, dashboard, watched
from tests.support.machine import MINUTE, DiesError, Machine
from tests.support.stacks import synthesised
from tests.support.world import World

pytestmark = pytest.mark.xdist_group("infra")


class Hour(Machine):
    """Something of everything that a stage goes through."""

    def __init__(self):
        self.throttles, self.died, self.passed, self.deaf = 0, False, 0, False
        super().__init__(World(), self.busy)

    def busy(self, call, proceed):
        """Now and then the store has no room, and once no queue takes what the tick sends."""
        if call.method == "get" and self.throttles:
            self.throttles -= 1
            raise StoreBusyError("throttled")
        if self.deaf and call.method == "send" and call.args[0][0].queue is QueueName.SCAN:
            self.deaf = False
            raise QueueUnavailableError("SQS did not answer")
        return proceed()

    def ticked(self):
        """In the middle of the hour one call is refused, and later all that a tick sends."""
        self.passed += 1
        self.throttles = int(self.passed == 30)
        self.deaf = self.passed == 40

    def run(self):
        self.crowd()
        self.failures()
        self.oddities()
        self.minutes(60)
        self.sweep({}, None)
        self.audit({}, None)

    def crowd(self):
        """A job of each tier every few minutes, one of a team that has no slot, and one that catches up."""
        often = {"cron": "*/4 * * * *", "timezone": "UTC"}
        for tier in (Tier.CRITICAL, Tier.STANDARD, Tier.BULK):
            self.plant(tier.value, often, tier=tier)
        self.world.team("crowded", max_concurrency=0)
        self.plant("crowded", often, team="crowded")
        missed = Misfire(policy=MisfirePolicy.CATCH_UP, window=timedelta(days=7), max_runs=5)
        self.plant("catching-up", {"cron": "*/5 * * * *", "timezone": "UTC"}, misfire=missed, ago=20)

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
            raise DiesError
        failing = "failing" in delivery.facts.job
        return Failed(status=500, error="answered 500") if failing else Delivered(status=200)

    def oddities(self):
        """A timer that nobody understands, one that a later version wrote, and one whose job is gone."""
        now = self.world.clock.now()
        broken = Key(Table.TIMERS, f"{now:%Y%m%dT%H%M}#0000", "0000000000000#?#nobodyaaaaaaaaaaaaaa#1")
        self.world.memory.write(Put(key=broken, item={"v": 1}))
        later = Key(Table.TIMERS, broken.pk, "0000000000001#F#laterrraaaaaaaaaaaaa#1")
        self.world.memory.write(Put(key=later, item={"v": VERSION + 1}))
        gone = self.plant("gone", {"cron": "0 * * * *", "timezone": "UTC"}, ago=15)
        self.world.memory.write(Delete(key=keys.job(gone.uid)))
        self.world.memory.write(
            Put(key=keys.watermark(0), item={"v": 1, WATERMARK: to_ms(now - 30 * MINUTE)})
        )


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
