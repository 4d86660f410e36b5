"""Tickers, scanners, deliverers and owners as processes on the engine, killed and stopped at random."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter, defaultdict
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from fencepost.application.auditing.audit import SETTLED, Window
from fencepost.application.auditing.teams import ShareAuditor
from fencepost.application.codec import decode_execution
from fencepost.application.store import Share, Table
from fencepost.domain.states import ExecutionState
from tests.support.engine import Engine
from tests.support.live import until
from tests.support.racing import JOBS, LIMITS, Racer, ended, prepare

ROOT = Path(__file__).resolve().parents[3]
CHAOS_SECONDS = 12
REST_SECONDS = 90
SEEDS = os.environ.get("FENCEPOST_RACE_SEEDS") or os.environ["SIM_START"]
"""One that nobody has seen, the same for all workers of a run; or those that are asked for, with commas between them."""


@contextmanager
def supervised(engine: Engine, prefix: str, folder: Path, seed: int):
    """The supervisor; it ends when its input does, and takes its processes along."""
    command = [sys.executable, "-m", "tests.support.racing", engine.endpoint, prefix, str(folder)]
    process = subprocess.Popen(
        [*command, str(seed), str(CHAOS_SECONDS)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
        process.communicate("\n", timeout=60)
    finally:
        process.kill()
        process.wait()


def items(racer: Racer, table: Table):
    return [item for page in racer.store.scan(Share(table=table)) for item in page]


def records(racer: Racer):
    return [decode_execution(item) for item in items(racer, Table.EXECUTIONS) if "state" in item]


def unfinished(racer: Racer):
    return [record for record in records(racer) if not record.final]


@pytest.mark.engine
@pytest.mark.parametrize("seed", [int(seed) for seed in SEEDS.split(",")])
def test_D02_D05_L01_killed_and_stopped_processes_lose_and_double_nothing(
    engine: Engine, tmp_path: Path, seed: int
) -> None:
    """Whatever fails, `FENCEPOST_RACE_SEEDS` repeats the blows, if not the moments that they fall on."""
    print(f"FENCEPOST_RACE_SEEDS={seed}")
    prefix = engine.prefix()
    racer = prepare(engine.endpoint, prefix, tmp_path)
    with supervised(engine, prefix, tmp_path, seed) as supervisor:
        assert supervisor.stdout is not None
        said = supervisor.stdout.readline()
        assert said, "the supervisor died"
        print(said)
        ended(racer)
        until(lambda: None if unfinished(racer) else True, REST_SECONDS, "rest")
        try:
            until(lambda: None if held(racer) else True, REST_SECONDS, "free slots")
        except AssertionError as error:
            raise AssertionError(f"still held: {held(racer)}") from error
    print(f"{len(records(racer))} records, {len(racer.calls.lines())} calls")
    check_records(racer)
    check_explained(racer)
    check_timers(racer)


def held(racer: Racer):
    """Slots, locks, places in lanes and marks."""
    now = racer.stage.clock.now().timestamp() * 1000
    return [
        item
        for item in items(racer, Table.CONTROL)
        if (item["pk"][:2] == "S#" and item["until"] > now)
        or (item["pk"][:2] == "L#" and item.get("x") and item.get("until", now) > now)
        or item["pk"][:2] in {"B#", "O#", "M#"}
    ]


def check_records(racer: Racer) -> None:
    """One accepted outcome each; no fence comes twice; every call is one of the record's attempts; never early."""
    found = {str(record.id): record for record in records(racer)}
    calls = defaultdict(list)
    for line in racer.calls.lines():
        calls[line["execution"]].append(line)
    assert len(found) > 2 * len(JOBS)
    assert calls.keys() <= found.keys()
    for identity, record in found.items():
        fences = Counter(line["fence"] for line in calls[identity])
        accepted = [attempt for attempt in record.attempts if attempt.outcome == "delivered"]
        assert set(fences.values()) <= {1}, f"{identity} was called twice under a fence"
        assert len(accepted) == (record.state is ExecutionState.SUCCEEDED), f"{record}"
        assert all(attempt.fence in fences for attempt in accepted), f"{record} was never called"
        assert max(fences, default=0) <= record.fence
        assert sum(fences.values()) <= len(record.attempts) + record.attempts_dropped
        assert len({line["body"] for line in calls[identity]}) <= 1
        assert all(line["at"] >= record.due.timestamp() * 1000 for line in calls[identity])


def check_explained(racer: Racer) -> None:
    """The auditor, which knows the revisions alone, finds every occurrence explained; it may look at once, since all rests."""
    now = racer.stage.clock.now()
    window = Window(since=now - timedelta(hours=1), before=now, now=now + 2 * SETTLED, limits=LIMITS)
    auditor = ShareAuditor(store=racer.store, clock=racer.stage.clock)
    report = auditor.run(Share(table=Table.JOBS), window, now + timedelta(minutes=5))
    assert report.findings == [], report.findings
    assert (report.jobs, report.unread) == (len(JOBS), 0)
    assert report.explained > 2 * len(JOBS)


def check_timers(racer: Racer) -> None:
    """Paused jobs have none that anybody would fire, and nothing was set aside."""
    left = [item["sk"] for item in items(racer, Table.TIMERS) if item["pk"].startswith("Q#")]
    assert left == []
    aside = [item for item in items(racer, Table.CONTROL) if item["pk"].startswith("X#")]
    assert aside == []
