"""CPU of processes and of all that came from them, as Linux counts it."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
_TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Process:
    """`spent_ms`: CPU of the process, and of the children that it has waited for."""

    parent: int
    spent_ms: float


def parsed(stat: str) -> Process:
    """A line of /proc/PID/stat; the name in it may hold anything, parentheses too."""
    fields = stat.rpartition(")")[2].split()
    return Process(int(fields[1]), sum(map(int, fields[11:15])) * _TICK_MS)


def running(proc: Path = PROC) -> dict[int, Process]:
    """All processes that there are."""
    found = {}
    for folder in proc.iterdir():
        if folder.name.isdigit():
            try:
                found[int(folder.name)] = parsed((folder / "stat").read_text())
            except OSError:
                continue  # it ended meanwhile
    return found


def tree(roots: Iterable[int], processes: dict[int, Process]) -> set[int]:
    """The roots that run, and all that descends from them."""
    children = defaultdict(list)
    for pid, process in processes.items():
        children[process.parent].append(pid)
    found, left = set[int](), [pid for pid in roots if pid in processes]
    while left:
        pid = left.pop()
        if pid not in found:
            found.add(pid)
            left += children[pid]
    return found


def spent_ms(roots: Iterable[int], apart: Iterable[int] = ()) -> tuple[float, float]:
    """CPU of the trees of `roots` without those of `apart`, and of those of `apart`."""
    processes = running()
    others = tree(apart, processes)
    own = tree(roots, processes) - others
    return sum(processes[pid].spent_ms for pid in own), sum(processes[pid].spent_ms for pid in others)
