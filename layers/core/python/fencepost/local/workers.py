"""Delivery in processes of its own, which may be killed at any moment: each death is told, and another one begins."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fencepost.local.files import DataDir
from fencepost.runtime.clock import monotonic_seconds, sleep_ms

LOOK_EVERY = 0.2
DRAIN_SECONDS = 60.0
_GLANCE_MS = 2
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Worker:
    """One process, and the file that names it while it lives."""

    number: int
    process: subprocess.Popen[bytes]
    mark: Path


class Workers:
    """Keeps `count` worker processes running from `start` until `stop`."""

    def __init__(self, data: DataDir, count: int, arguments: tuple[str, ...], tell: Tell) -> None:
        self._data = data
        self._count = count
        self._command = (sys.executable, "-m", "fencepost.local.worker", *arguments)
        self._tell = tell
        self._alive: list[Worker] = []
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="workers", daemon=True)

    def start(self) -> None:
        """Starts them all."""
        for mark in self._data.workers.iterdir():
            mark.unlink()
        self._alive = [self._begin(number) for number in range(1, self._count + 1)]
        self._thread.start()

    def stop(self) -> None:
        """Asks them to finish what they hold."""
        self._stopping.set()
        for worker in self._alive:
            worker.process.terminate()

    def drain(self) -> None:
        """Returns when they have ended; who takes longer than a delivery may is killed."""
        self._thread.join()
        for worker in self._alive:
            try:
                worker.process.wait(DRAIN_SECONDS)
            except subprocess.TimeoutExpired:
                worker.process.kill()
            worker.mark.unlink(missing_ok=True)

    def _watch(self) -> None:
        while not self._stopping.wait(LOOK_EVERY):
            self._alive = [self._still(worker) for worker in self._alive]

    def _still(self, worker: Worker) -> Worker:
        status = worker.process.poll()
        if status is None:
            return worker
        worker.mark.unlink(missing_ok=True)
        how = f"killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        fresh = self._begin(worker.number)
        self._tell(
            f"worker {worker.number} (pid {worker.process.pid}) was {how}; pid {fresh.process.pid} takes its place"
        )
        return fresh

    def _begin(self, number: int) -> Worker:
        process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, start_new_session=True)  # noqa: S603 - our own interpreter and module
        mark = self._data.worker(process.pid)
        mark.touch()
        return Worker(number, process, mark)


def kill_calling(data: DataDir, patience: float) -> tuple[int, str] | None:
    """Kills a worker as a crash would, in the middle of a call where one begins within `patience` seconds.

    Its pid and the executions whose targets it was calling; None where no worker runs. Marks that a killed service left
    are nobody's: their numbers may long be those of other processes.
    """
    if not data.held("engine"):
        return None
    deadline = monotonic_seconds() + patience
    while True:
        marks = {mark: _calls(mark) for mark in data.workers.iterdir() if mark.name.isdigit()}
        calling = [mark for mark, calls in marks.items() if calls]
        over = not marks or monotonic_seconds() >= deadline
        for mark in calling or (marks if over else ()):
            if _killed(int(mark.name)):
                return int(mark.name), marks[mark]
        if over:
            return None
        sleep_ms(_GLANCE_MS)


def _calls(mark: Path) -> str:
    try:
        return ", ".join(mark.read_text().split())
    except FileNotFoundError:
        return ""


def _killed(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
