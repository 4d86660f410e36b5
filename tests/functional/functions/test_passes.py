"""Tick, scan, pump, dead letter and second net, each fed with what wakes it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fencepost.adapters.seam import seamed
from fencepost.application import keys
from fencepost.application.codec import encode_timer
from fencepost.application.planting import WATERMARK, fire_timer
from fencepost.application.ports import QueueName, QueueUnavailableError
from fencepost.application.store import Key, Put, Query, Table, items
from fencepost.domain.instants import from_wire, to_ms
from fencepost.domain.outcome import Refused
from fencepost.domain.schedule import TZDATA_RELEASED, tzdata_version
from fencepost.domain.states import ExecutionState
from functions.dead_letter import handler as dead_letter
from functions.deliver import handler as deliver
from functions.pump import handler as pump
from functions.scan import handler as scan
from functions.sweep import handler as sweep
from functions.tick import handler as tick
from tests.support.functions import WorldStage, refused
from tests.support.world import START, World


@pytest.fixture
def world():
    return World()


@pytest.fixture
def stage(world):
    return WorldStage(world)


def sent(world, queue):
    return [each.body for each in world.mail.waiting(queue)]


def plant(world, name="nightly-report"):
    """The job's occurrence of nine o'clock, as its owner's PUT left it."""
    job = world.job(name)
    timer = fire_timer(job, from_wire(START), ordinal=1, now=world.clock.now(), limits=world.limits)
    world.memory.write(Put(key=keys.timer(timer), item=encode_timer(timer)))
    return job


def test_a_tick_asks_for_every_shard_and_every_team_that_waits(world, stage):
    world.memory.write(Put(key=keys.mark("payments", "B#payments#standard#1"), item={"v": 1}))
    answer = stage.feed(tick.build, "schedule_tick")
    assert answer == {"leased": True, "scans": 1, "pumps": 1}
    assert sent(world, QueueName.SCAN) == [f'{{"v":1,"shard":0,"now":{to_ms(world.clock.now())}}}']
    assert '"team":"payments"' in sent(world, QueueName.PUMP)[0]
    assert stage.metric("TickRan") == [1.0]


def test_L06_a_tick_whose_messages_no_queue_takes_says_so(world, stage):
    def deaf(call, proceed):
        raise QueueUnavailableError("SQS did not answer")

    stage.queues = seamed(stage.queues, "queues", deaf)
    assert stage.feed(tick.build, "schedule_tick") == {"leased": True, "scans": 0, "pumps": 0}
    assert (stage.metric("TickRan"), stage.metric("Unsent")) == ([1.0], [1.0])
    (said,) = [line for line in stage.lines() if line.get("level") == "ERROR"]
    assert (said["message"], said["unsent"]) == ("the tick could not send everything", 1)


def test_a_tick_that_sends_everything_has_nothing_to_say(world, stage):
    stage.feed(tick.build, "schedule_tick")
    assert stage.metric("Unsent") == []


def test_d07_the_second_tick_of_a_minute_asks_for_nothing_and_says_that_it_ran(world, stage):
    stage.feed(tick.build, "schedule_tick")
    assert stage.feed(tick.build, "schedule_tick") == {"leased": False, "scans": 0, "pumps": 0}
    assert len(sent(world, QueueName.SCAN)) == 1
    assert stage.metric("TickRan") == [1.0, 1.0]


def test_a_scan_turns_a_due_timer_into_a_message(world, stage):
    plant(world)
    assert refused(stage.feed(scan.build, "sqs_scan")) == []
    (record,) = world.records()
    assert record.state is ExecutionState.QUEUED
    assert str(record.id) in sent(world, QueueName.STANDARD)[0]
    assert stage.metric("Claimed") == [1.0]
    assert stage.metric("ClaimLagMs") == [0.0]
    assert len(stage.metric("WatermarkAgeSeconds")) == 1


def test_a_scan_request_that_nobody_understands_does_not_keep_the_next_one(world, stage):
    plant(world)
    assert refused(stage.feed(scan.build, "sqs_scan_undecodable")) == []
    assert len(world.records()) == 1
    (kept,) = items(world.memory, Query(table=Table.CONTROL, pk="X#scan"))
    assert "scan request" in kept["why"]


def test_c3_a_timer_that_nobody_understands_is_told_and_counted(world, stage):
    plant(world)
    minute = "20260301T0900#0000"
    broken = Key(Table.TIMERS, minute, "0000000000000#?#nightlyreportaaaaaaa#1")
    world.memory.write(Put(key=broken, item={"v": 1}))
    assert refused(stage.feed(scan.build, "sqs_scan")) == []
    assert len(world.records()) == 1, "its neighbour fires all the same"
    assert stage.metric("Quarantined") == [1.0]
    assert any(line.get("message") == "timer set aside" for line in stage.lines())


def test_a_pump_says_who_waits_and_how_many_slots_are_in_use(world, stage):
    world.team(max_concurrency=0)
    world.queue(world.job("nightly-report"))
    stage.feed(deliver.build, "sqs_deliver")
    assert [each.state for each in world.records()] == [ExecutionState.WAITING]
    world.team(max_concurrency=1)
    assert refused(stage.feed(pump.build, "sqs_pump")) == []
    assert (stage.metric("Backlog"), stage.metric("SlotsInUse")) == ([1.0], [1.0])
    (line,) = [line for line in stage.lines() if "Backlog" in line]
    assert line["team"] == "payments"
    assert len(sent(world, QueueName.STANDARD)) == 2, "the slot's new owner was called"


def test_a_dead_letter_is_told_once_and_counted(world, stage):
    world.targets.then = Refused(status=410, error="answered 410: never again")
    record = world.queue(world.job("nightly-report"))
    stage.feed(deliver.build, "sqs_deliver")
    assert world.record(record).state is ExecutionState.DEAD
    assert refused(stage.feed(dead_letter.build, "sqs_dead_letter")) == []
    assert refused(stage.feed(dead_letter.build, "sqs_dead_letter")) == []
    assert [each.execution_id for each in world.notifier.told] == [str(record.id)]
    assert world.dead_letters()[0].notified_at is not None


def test_a_dead_letter_stays_until_its_team_was_told(world, stage):
    world.targets.then = Refused(status=410, error="answered 410: never again")
    world.queue(world.job("nightly-report"))
    stage.feed(deliver.build, "sqs_deliver")
    world.notifier.deaf = True
    assert refused(stage.feed(dead_letter.build, "sqs_dead_letter")) == ["0001"]
    assert stage.noting.put_back["0001"] > 0


def test_a_dead_letter_that_nobody_understands_is_set_aside(world, stage):
    world.queue(world.job("nightly-report"))
    assert refused(stage.feed(dead_letter.build, "sqs_dead_letter_undecodable")) == []
    (kept,) = items(world.memory, Query(table=Table.CONTROL, pk="X#dead-bulk"))
    assert kept["body"] == "not ours"


def test_the_second_net_says_its_zeros(world, stage):
    world.memory.write(Put(key=keys.watermark(0), item={"v": 1, WATERMARK: to_ms(world.clock.now())}))
    found = stage.feed(sweep.build, "schedule_sweep")
    assert found["timerless_jobs"] == 0
    assert (stage.metric("TimerlessJobs"), stage.metric("Quarantined")) == ([0.0], [0.0])


def test_t08_the_age_of_the_zone_rules_is_measured(world, stage):
    assert set(TZDATA_RELEASED) == {tzdata_version()}, "a new version of tzdata brings its date along"
    world.clock.set(TZDATA_RELEASED[tzdata_version()] + timedelta(days=12, hours=5))
    stage.feed(sweep.build, "schedule_sweep")
    assert stage.metric("TzdataAgeDays") == [12.0]


def test_what_the_second_net_catches_is_an_error_in_the_log(world, stage):
    world.job("nightly-report")
    world.memory.write(Put(key=keys.watermark(0), item={"v": 1, WATERMARK: to_ms(world.clock.now())}))
    assert stage.feed(sweep.build, "schedule_sweep")["timerless_jobs"] == 1
    assert stage.metric("TimerlessJobs") == [1.0]
    assert any(line["level"] == "ERROR" for line in stage.lines() if "level" in line)


def test_the_shares_of_a_day_catch_everything_once(world, stage):
    world.job("nightly-report")
    world.memory.write(Put(key=keys.watermark(0), item={"v": 1, WATERMARK: to_ms(world.clock.now())}))
    caught = []
    for _ in range(24 * 12):
        caught.append(stage.feed(sweep.build, "schedule_sweep_share")["timerless_jobs"])
        world.clock.advance(minutes=5)
    assert sum(caught) == 1
