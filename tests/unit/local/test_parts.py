"""Data directory, identities, journals, the AWS that is not there, what the terminal shows."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from fencepost.adapters.seam import seamed
from fencepost.adapters.targets.aws import AwsCaller
from fencepost.application.ports import Outgoing, QueueName
from fencepost.domain.identity import ExecutionId
from fencepost.domain.outcome import Delivered, Failed
from fencepost.domain.targets import (
    EventBridgeTarget,
    LambdaTarget,
    SnsTarget,
    SqsTarget,
    StepFunctionsTarget,
)
from fencepost.local.aws import LocalClients
from fencepost.local.aws_engine import program
from fencepost.local.calls import CallLog, InFlight, line
from fencepost.local.files import DataDir, DataDirError, Journal
from fencepost.local.gateway.credentials import CredentialsFile
from fencepost.local.identities import identities
from fencepost.local.live import Live, Tail, percentile
from fencepost.local.main import run
from fencepost.local.options import LocalOptions, OptionsError, Parts, StoreKind
from fencepost.local.stage import LocalStage, settings
from fencepost.local.workers import kill_calling
from fencepost.runtime.clock import SystemClock
from tests.support.deliveries import DUE, SENT_AT, delivery

ACCOUNT = "000000000000"
REGION = "us-east-1"
TARGETS: dict[str, Any] = {
    "sns": SnsTarget(topic_arn=f"arn:aws:sns:{REGION}:{ACCOUNT}:topic"),
    "sqs": SqsTarget(queue_url=f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/queue"),
    "events": EventBridgeTarget(
        bus_arn=f"arn:aws:events:{REGION}:{ACCOUNT}:event-bus/bus", source="team", detail_type="Fired"
    ),
    "stepfunctions": StepFunctionsTarget(
        state_machine_arn=f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:machine"
    ),
    "lambda": LambdaTarget(function_arn=f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:function"),
}


@pytest.fixture
def data(tmp_path):
    return DataDir.open(tmp_path / "data")


@pytest.mark.parametrize("service", TARGETS)
def test_every_aws_target_takes_what_it_is_sent_and_it_is_written_down(service):
    took: list[Any] = []
    caller = AwsCaller(clients=LocalClients(took.append, lambda: "id-1"))
    outcome = caller.call(delivery(TARGETS[service], body=b'{"a":1}'), timeout=timedelta(seconds=5))
    assert isinstance(outcome, Delivered)
    (entry,) = took
    assert (entry["service"], entry["team"]) == (service, "payments")
    assert entry["body"] in ({"a": 1}, {"fencepost": entry["body"].get("fencepost"), "payload": {"a": 1}})


def test_a_data_directory_belongs_to_its_owner_and_to_one_process_at_a_time(data):
    assert stat.S_IMODE(data.path.stat().st_mode) == 0o700
    held = data.lock("engine")
    with pytest.raises(DataDirError, match=f"process {os.getpid()} runs the engine"):
        data.lock("engine")
    data.lock("api").close()
    held.close()
    data.lock("engine").close()


def test_a_lock_goes_with_the_process_that_was_killed(data):
    code = (
        "import sys, pathlib; from fencepost.local.files import DataDir; "
        "held = DataDir(pathlib.Path(sys.argv[1])).lock('engine'); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(data.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(DataDirError, match=f"process {other.pid}"):
            data.lock("engine")
        other.send_signal(signal.SIGKILL)
        other.wait()
        data.lock("engine").close()


def test_a_directory_that_cannot_be_made_is_told_by_its_name(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DataDirError, match="file"):
        DataDir.open(tmp_path / "file" / "data")


def test_identities_are_drawn_once(data):
    first = identities(CredentialsFile(data.credentials))
    again = identities(CredentialsFile(data.credentials))
    assert first == again
    assert first.admin.secret_access_key != first.demo.secret_access_key


def test_many_writers_never_tear_a_line(data):
    journals = [Journal(data.calls) for _ in range(4)]

    def write(journal):
        for number in range(200):
            journal.write({"n": number, "text": "x" * 500})

    threads = [threading.Thread(target=write, args=(journal,)) for journal in journals]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for journal in journals:
        journal.close()
    lines = [json.loads(text) for text in data.calls.read_text().splitlines()]
    assert len(lines) == 800


@pytest.mark.parametrize(
    "wrong",
    [
        {"store": StoreKind.MEMORY, "workers": 2},
        {"store": StoreKind.MEMORY, "parts": Parts.API},
        {"workers": -1},
        {"workers": 17},
        {"port": 70_000},
        {"demo": True, "parts": Parts.ENGINE},
    ],
)
def test_options_that_contradict_each_other_are_refused(wrong):
    with pytest.raises(OptionsError):
        LocalOptions(**wrong)


def test_private_targets_are_for_those_who_ask():
    assert settings(LocalOptions()).egress.allow_private == frozenset()
    assert settings(LocalOptions(demo=True)).egress.allow_http
    assert settings(LocalOptions(allow_private_targets=True)).egress.allow_http


def test_what_a_killed_receiver_held_is_let_go_at_the_next_start(data):
    stage = LocalStage.open(LocalOptions(data_dir=data.path), data)
    stage.queues.send([Outgoing(queue=QueueName.BULK, body="x")])
    (held,) = stage.consumer.receive(QueueName.BULK, 10, timedelta(0))
    assert stage.consumer.receive(QueueName.BULK, 10, timedelta(0)) == []
    stage.close()
    later = LocalStage.open(LocalOptions(data_dir=data.path), data)
    later.release_held()
    (again,) = later.consumer.receive(QueueName.BULK, 10, timedelta(0))
    assert (again.body, again.message_id, again.receive_count) == ("x", held.message_id, 2)
    later.close()


def test_a_call_leaves_a_line_and_its_name_while_it_lasts(tmp_path):
    mark = tmp_path / "mark"
    lines: list[Any] = []
    during: list[str] = []
    made = delivery(TARGETS["sns"])

    def proceed():
        during.append(mark.read_text())
        return Failed(status=503, error="answered 503")

    class Targets:
        def call(self, delivery, *, timeout):
            return proceed()

    log = CallLog(lines.append, lambda: SENT_AT + timedelta(milliseconds=30))
    seamed(Targets(), "targets", log, InFlight(mark)).call(made, timeout=timedelta(seconds=1))
    assert during == [made.facts.execution_id]
    assert mark.read_text() == ""
    assert lines == [
        line(made, Failed(status=503, error="answered 503"), SENT_AT + timedelta(milliseconds=30))
    ]
    assert (lines[0]["lateness_ms"], lines[0]["took_ms"], lines[0]["outcome"]) == (112, 30, "failed")


def entry(**changes):
    made = replace(delivery(TARGETS["sns"]), sent_at=DUE + timedelta(milliseconds=changes.pop("late", 5)))
    return line(made, Delivered(status=200), made.sent_at) | {"team": "demo"} | changes


def test_the_terminal_shows_firings_and_who_was_told_and_sums_up(data):
    shown = io.StringIO()
    live = Live(Console(file=shown, width=160), team="demo")
    tail = Tail({data.calls: live.call, data.aws: live.told})
    tail.start()
    calls, aws = Journal(data.calls), Journal(data.aws)
    for late in (3, 1, 90):
        calls.write(entry(late=late))
    calls.write(entry(attempt=2, late=1_800))
    calls.write(entry(team="somebody-else"))
    aws.write(
        {
            "service": "sns",
            "to": "arn:topic",
            "team": "demo",
            "body": {"job": "doomed", "kind": "dead", "id": "ntf-1"},
        }
    )
    tail.stop()
    live.summary()
    text = shown.getvalue()
    assert live.lateness == [3, 1, 90]
    assert "3 ms" in text
    assert "+1800 ms" in text
    assert "doomed is dead" in text
    assert "somebody-else" not in text
    assert "3 firings, late by 3 ms at the median, 90 ms at the 99th percentile" in text


def test_backfills_and_runs_now_are_not_called_late():
    uid = "a" * 20
    shown = io.StringIO()
    live = Live(Console(file=shown, width=200))
    for late in (3, 5):
        live.call(entry(late=late, execution=str(ExecutionId.occurrence(uid, DUE))))
    live.call(entry(late=86_400_000, execution=str(ExecutionId.backfill(uid, "0123456789ab", DUE))))
    live.call(entry(late=700, execution=str(ExecutionId.run_now(uid, "key"))))
    live.summary()
    says = "2 firings, late by 3 ms at the median, 5 ms at the 99th percentile, 3 to 5 ms in all; 2 backfilled or run at once"
    assert f"{says}; attempts: 4 delivered" in shown.getvalue()

    live, shown = Live(Console(file=(only := io.StringIO()), width=200)), only
    live.call(entry(late=700, execution=str(ExecutionId.run_now(uid, "key"))))
    live.summary()
    assert "\n1 backfilled or run at once; attempts: 1 delivered" in shown.getvalue()


@given(st.lists(st.integers(0, 10_000), min_size=1), st.integers(1, 100))
def test_a_percentile_is_a_sample_that_enough_do_not_exceed(samples, percent):
    found = percentile(sorted(samples), percent)
    assert found in samples
    assert sum(each <= found for each in samples) * 100 >= percent * len(samples)
    assert sum(each < found for each in samples) * 100 < percent * len(samples)


def test_a_data_directory_in_use_is_one_clear_line_and_a_failure(data):
    held, shown = data.lock("engine"), io.StringIO()
    status = run(LocalOptions(data_dir=data.path, port=0), Console(file=shown, width=200))
    held.close()
    assert status == 1
    assert "cannot start" in shown.getvalue()


@pytest.mark.parametrize(
    ("name", "holds", "says"),
    [
        ("credentials.json", b"{", "credentials.json: not JSON"),
        ("secrets.key", b"short", "secrets.key: "),
        ("fencepost.sqlite", b"no database " * 400, "fencepost.sqlite: file is not a database"),
        ("log/service.jsonl", None, "service.jsonl: Is a directory"),
    ],
)
def test_a_file_that_is_spoilt_is_one_clear_line_that_names_it(data, name, holds, says):
    if holds is None:
        (data.path / name).mkdir()
    else:
        (data.path / name).write_bytes(holds)
    shown = io.StringIO()
    options = LocalOptions(data_dir=data.path, port=0, store=StoreKind.SQLITE)
    assert run(options, Console(file=shown, width=300)) == 1
    assert "cannot start: " in shown.getvalue()
    assert says in shown.getvalue()
    data.lock("engine").close()


@pytest.mark.parametrize("blank", ["", " "])
def test_a_blank_variable_for_the_engine_is_as_if_it_were_not_set(monkeypatch, blank):
    monkeypatch.delenv("FENCEPOST_ENGINE", raising=False)
    usual = program()
    monkeypatch.setenv("FENCEPOST_ENGINE", blank)
    assert program() == usual


def test_a_port_in_use_is_told_with_a_way_out(data):
    shown = io.StringIO()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        options = LocalOptions(data_dir=data.path, port=port, store=StoreKind.SQLITE)
        assert run(options, Console(file=shown, width=300)) == 1
    assert f"cannot start: port {port}: Address already in use; --port 0 takes" in shown.getvalue()


def test_without_workers_there_is_nobody_to_kill(data):
    assert kill_calling(data, 0) is None
    held = data.lock("engine")
    assert kill_calling(data, 0) is None
    (data.workers / "4194305").touch()  # no process has such a number
    assert kill_calling(data, 0) is None
    held.close()


def test_a_worker_is_killed_and_what_it_called_is_named(data):
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
    ) as worker:
        data.worker(worker.pid).write_text("abc-s-1\nabc-s-2")
        assert kill_calling(data, 0) is None, "no service runs: the number may be anybody's"
        held = data.lock("engine")
        assert kill_calling(data, 0) == (worker.pid, "abc-s-1, abc-s-2")
        assert worker.wait(10) == -signal.SIGKILL
        held.close()


def test_a_stage_in_memory_needs_no_file(data):
    stage = LocalStage.open(LocalOptions(store=StoreKind.MEMORY, data_dir=data.path), data)
    stage.queues.send([Outgoing(queue=QueueName.SCAN, body="x")])
    assert len(stage.consumer.receive(QueueName.SCAN, 1, timedelta(0))) == 1
    assert not data.database.exists()
    assert isinstance(stage.clock, SystemClock)
    stage.release_held()
    stage.close()
