"""A full disk: what the service would only note is dropped, and what it did is not undone by that."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from fencepost.adapters.seam import PortCall
from fencepost.domain.outcome import Accepted
from fencepost.domain.targets import SnsTarget
from fencepost.local.calls import CallLog
from fencepost.local.files import DataDir, Journal, LogFile
from fencepost.local.live import Tail
from fencepost.local.options import LocalOptions, StoreKind
from fencepost.local.stage import LocalStage
from fencepost.runtime.clock import SystemClock
from fencepost.runtime.function import instrumented
from fencepost.runtime.observability import Metric
from tests.support.deliveries import delivery

FULL = Path("/dev/full")
TOPIC = SnsTarget(topic_arn="arn:aws:sns:us-east-1:000000000000:topic")
pytestmark = pytest.mark.skipif(not FULL.exists(), reason="no device that is always full here")


@pytest.fixture
def stage(tmp_path):
    data = DataDir.open(tmp_path)
    data.service_log.symlink_to(FULL)
    data.calls.symlink_to(FULL)
    stage = LocalStage.open(LocalOptions(data_dir=tmp_path, store=StoreKind.MEMORY), data)
    yield stage
    stage.close()


def test_lines_of_the_service_are_dropped_without_a_word(stage, capfd):
    for number in range(100):
        stage.log("something happened", number=number, why="x" * 1_000)

    assert capfd.readouterr() == ("", "")


def test_metrics_that_cannot_be_written_take_no_answer_back(stage, capfd):
    def handler(event, context):
        stage.observed.telemetry.add(Metric.TICK_RAN)
        return event

    assert instrumented(handler, stage.observed)({"done": 1}, None) == {"done": 1}
    assert capfd.readouterr() == ("", "")


def test_a_call_that_cannot_be_noted_still_has_its_outcome(stage):
    outcome = Accepted(status=202)
    journal = Journal(stage.data.calls)
    log = CallLog(journal.write, SystemClock().now)

    assert (
        log(PortCall(port="targets", method="deliver", args=(delivery(TOPIC),)), lambda: outcome) is outcome
    )
    journal.close()


def test_a_line_that_was_torn_does_not_end_the_live_view(tmp_path):
    file, seen, came = tmp_path / "calls.jsonl", [], threading.Event()

    def take(entry):
        seen.append(entry)
        came.set()

    tail = Tail({file: take})
    file.write_text('{"n": 1, "tor{"n": 2}\n{"n": 3}\n')
    tail.start()
    assert came.wait(10)
    tail.stop()

    assert seen == [{"n": 3}]


def test_where_there_is_room_a_line_is_there_at_once(tmp_path):
    log = LogFile(tmp_path / "service.jsonl")
    print(json.dumps({"n": 1}), file=log, flush=True)
    again = LogFile(tmp_path / "service.jsonl")
    print(json.dumps({"n": 2}), file=again, flush=True)

    assert (tmp_path / "service.jsonl").read_text() == '{"n": 1}\n{"n": 2}\n'
    log.close()
    again.close()
