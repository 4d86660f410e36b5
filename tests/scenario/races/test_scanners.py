"""Two scanners and two ticks over 5,000 timers, their calls killed, unanswered and refused at random."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fencepost.adapters.dynamodb.setup import create_tables
from fencepost.adapters.dynamodb.store import DynamoDbStore
from fencepost.adapters.memory.queues import MemoryQueues
from fencepost.adapters.memory.store import MemoryStore
from fencepost.adapters.queue_settings import QUEUE_SETTINGS
from fencepost.adapters.sqs_setup import create_queues
from fencepost.runtime.clock import SystemClock
from fencepost.runtime.entropy import SystemEntropy
from tests.support.crowd import Scanner, at_rest, plant
from tests.support.engine import Engine

ROOT = Path(__file__).resolve().parents[3]
TIMERS = 5_000
SCANNERS = 2


def test_D01_D02_two_scanners_in_memory_make_one_record_of_each_timer() -> None:
    store, queues = MemoryStore(), MemoryQueues(SystemClock())
    plant(store, TIMERS)
    scanners = [Scanner(store, queues, queues, seed) for seed in range(SCANNERS)]
    failed: list[BaseException] = []

    def run(scanner: Scanner) -> None:
        try:
            scanner.run()
        except BaseException as error:  # noqa: BLE001 - the test tells it, since a thread cannot
            failed.append(error)

    threads = [threading.Thread(target=run, args=(scanner,)) for scanner in scanners]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert at_rest(store, TIMERS) == []
    assert all(scanner.trouble.kills for scanner in scanners), "the scanners met trouble"


@pytest.mark.engine
def test_D02_D03_two_scanner_processes_on_the_engine_make_one_record_of_each_timer(engine: Engine) -> None:
    prefix = engine.prefix()
    client = engine.dynamodb()
    store = DynamoDbStore(client, create_tables(client, prefix), clock=SystemClock(), entropy=SystemEntropy())
    create_queues(engine.sqs(), prefix, QUEUE_SETTINGS)
    plant(store, TIMERS)
    command = [sys.executable, "-m", "tests.support.crowd", engine.endpoint, prefix]
    processes = [
        subprocess.Popen([*command, str(seed)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for seed in range(SCANNERS)
    ]
    said = [process.communicate(timeout=240)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * SCANNERS, said
    assert at_rest(store, TIMERS) == []
