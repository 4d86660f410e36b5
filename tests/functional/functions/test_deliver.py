"""The delivery function: all messages of a batch at once, each for itself, and never an exception for the whole."""

from __future__ import annotations

import threading

import pytest

from fencepost.application.store import Query, StoreBusyError, Table, items
from fencepost.domain.outcome import Delivered, TimedOut
from fencepost.domain.states import ExecutionState
from functions.deliver import handler
from tests.support.functions import WorldStage, refused
from tests.support.world import BROKEN, World

JOBS = ("nightly-report", "invoices", "cleanup")


@pytest.fixture
def world():
    return World()


def queue_all(world, **facts):
    return [world.queue(world.job(name), **facts) for name in JOBS]


def states(world, records):
    return [world.record(each).state.value for each in records]


def test_a_batch_is_delivered_and_acknowledged(world):
    records, stage = queue_all(world), WorldStage(world)
    assert refused(stage.feed(handler.build, "sqs_deliver")) == []
    assert states(world, records) == ["SUCCEEDED"] * 3
    assert len(world.targets.calls) == 3


def test_what_was_on_time_is_measured_so(world):
    queue_all(world)
    stage = WorldStage(world)
    stage.feed(handler.build, "sqs_deliver")
    assert (stage.metric("Fired"), stage.metric("OnTime")) == ([1.0] * 3, [1.0] * 3)
    assert all(0 <= late < 5_000 for late in stage.metric("LatenessMs"))
    (line,) = [line for line in stage.lines() if "Fired" in line]
    assert (line["Stage"], line["Tier"]) == ("test", "standard")


def test_what_is_late_lowers_the_ratio_and_what_waited_for_its_own_team_does_not(world):
    late, waiting, _ = queue_all(world)
    world.clock.advance(seconds=9)
    moved = world.store_record(
        type(waiting)(**{**_fields(waiting), "state": ExecutionState.WAITING, "lane": "x"})
    )
    stage = WorldStage(world)
    stage.feed(handler.build, "sqs_deliver")
    assert world.record(moved).state is ExecutionState.SUCCEEDED
    assert stage.metric("LatenessMs") == pytest.approx([9_000] * 3, abs=1_000)
    assert (stage.metric("Fired"), stage.metric("OnTime")) == ([1.0, 1.0], [0.0, 0.0])
    assert world.record(late).lateness is not None


def _fields(record):
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


def test_the_messages_of_a_batch_are_worked_on_at_the_same_time(world):
    queue_all(world)
    together = threading.Barrier(3, timeout=10)

    def answer(_):
        together.wait()
        return Delivered(status=200)

    world.targets.then = answer
    stage = WorldStage(world)
    assert refused(stage.feed(handler.build, "sqs_deliver")) == []
    assert not together.broken


def test_what_is_early_goes_back_with_the_rest_of_its_time_and_holds_up_nobody(world):
    early, *rest = [world.queue(world.job(name), due=world.clock.now()) for name in JOBS]
    world.clock.advance(seconds=-31)
    stage = WorldStage(world)
    answer = stage.feed(handler.build, "sqs_deliver")
    assert refused(answer) == ["0001", "0002", "0003"]
    assert stage.noting.put_back == {"0001": 30, "0002": 30, "0003": 30}
    assert states(world, [early, *rest]) == ["QUEUED"] * 3
    assert world.targets.calls == []


def test_what_is_due_in_a_moment_is_held_and_never_called_early(world):
    records = queue_all(world)
    world.clock.advance(seconds=-1)
    assert refused(WorldStage(world).feed(handler.build, "sqs_deliver")) == []
    assert all(call.at >= record.due for call, record in zip(world.targets.calls, records, strict=True))


def test_r10_what_nobody_understands_is_set_aside_with_its_reason_and_its_neighbour_is_delivered(world):
    record, stage = world.queue(world.job("nightly-report")), WorldStage(world)
    assert refused(stage.feed(handler.build, "sqs_deliver_undecodable")) == []
    assert world.record(record).state is ExecutionState.SUCCEEDED
    kept = list(items(world.memory, Query(table=Table.CONTROL, pk="X#standard")))
    assert len(kept) == 6
    assert all(each["why"] and each["expires"] > 0 and isinstance(each["body"], str) for each in kept)
    assert stage.metric("Quarantined") == [1.0] * 6


def test_what_cannot_even_be_set_aside_is_tried_again(world):
    def no_control(call, proceed):
        if call.method == "write" and call.args[0].key.pk.startswith("X#"):
            raise StoreBusyError("slow down")
        return proceed()

    record = world.queue(world.job("nightly-report"))
    world.rewire(no_control)
    stage = WorldStage(world)
    assert refused(stage.feed(handler.build, "sqs_deliver_undecodable")) == [f"000{n}" for n in range(1, 7)]
    assert world.record(record).state is ExecutionState.SUCCEEDED


def test_a_bug_that_one_message_hits_is_its_own_affair(world):
    records = queue_all(world)

    def bug(delivery):
        if delivery.facts.job == "invoices":
            raise ZeroDivisionError("a bug in Fencepost")
        return Delivered(status=200)

    world.targets.then = bug
    stage = WorldStage(world)
    assert refused(stage.feed(handler.build, "sqs_deliver")) == ["0002"]
    assert stage.noting.put_back == {"0002": 2}
    assert states(world, records) == ["SUCCEEDED", "RUNNING", "SUCCEEDED"]
    (line,) = [line for line in stage.lines() if line.get("message") == "message failed"]
    assert "ZeroDivisionError" in line["exception"]


def test_a_store_that_is_gone_fails_every_message_and_not_the_function(world):
    queue_all(world)

    def gone(call, proceed):
        raise RuntimeError("no store")

    world.rewire(gone)
    stage = WorldStage(world)
    assert refused(stage.feed(handler.build, "sqs_deliver")) == ["0001", "0002", "0003"]


def test_what_is_put_back_on_purpose_never_reaches_the_dead_letter_queue(world):
    world.queue(world.job("nightly-report"))
    world.clock.advance(seconds=-60)
    before = len(world.mail.waiting("standard"))
    stage = WorldStage(world)
    assert refused(stage.feed(handler.build, "sqs_deliver_redelivered")) == [], "sent anew, then acknowledged"
    assert len(world.mail.waiting("standard")) == before + 1


def test_a_failure_that_will_be_tried_again_is_counted(world):
    queue_all(world)
    world.targets.then = BROKEN
    stage = WorldStage(world)
    assert refused(stage.feed(handler.build, "sqs_deliver")) == []
    assert stage.metric("Retries") == [1.0] * 3


def test_who_took_workers_down_before_runs_after_the_others_and_alone(world):
    order, inside = [], []

    def answer(delivery):
        inside.append(delivery.facts.job)
        order.append((delivery.facts.job, len(inside)))
        inside.remove(delivery.facts.job)
        return TimedOut(error="slow") if delivery.facts.job == "invoices" else Delivered(status=200)

    world.targets.then = answer
    suspicious = world.queue(world.job("nightly-report"), losses=2)
    for name in JOBS[1:]:
        world.queue(world.job(name))
    stage = WorldStage(world)
    assert refused(stage.feed(handler.build, "sqs_deliver")) == []
    assert order[-1] == ("nightly-report", 1)
    assert world.record(suspicious).state is ExecutionState.SUCCEEDED
