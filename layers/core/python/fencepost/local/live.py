"""What the terminal shows while the service runs: every call of a target, everybody told, and a summary at the end."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from fencepost.domain.identity import ExecutionId, ExecutionKind

LOOK_EVERY = 0.1
_COLOURS = {
    "delivered": "green",
    "accepted": "cyan",
    "timed_out": "yellow",
    "failed": "red",
    "refused": "red",
}


class Tail:
    """Follows files of JSON lines from their present end, in one thread, from `start` until `stop`."""

    def __init__(self, sources: Mapping[Path, Callable[[Mapping[str, Any]], None]]) -> None:
        self._sources = sources
        self._places = {path: path.stat().st_size if path.exists() else 0 for path in sources}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="tail", daemon=True)

    def start(self) -> None:
        """Begins to read."""
        self._thread.start()

    def stop(self) -> None:
        """Reads to the present end, and no further."""
        self._stopping.set()
        self._thread.join()
        self._look()

    def _follow(self) -> None:
        while not self._stopping.wait(LOOK_EVERY):
            self._look()

    def _look(self) -> None:
        for path, take in self._sources.items():
            if not path.exists():
                continue
            with path.open("rb") as file:
                file.seek(self._places[path])
                whole, end, _ = file.read().rpartition(b"\n")
            self._places[path] += len(whole) + len(end)
            for line in whole.splitlines():
                entry = None
                with suppress(ValueError):  # torn by a full disk
                    entry = json.loads(line)
                if entry is not None:
                    take(entry)


@dataclass
class Live:
    """Prints. `team` limits it to one team, None shows all. `lateness`: of what a schedule called for as its time came;
    `asked_for`: how many firings were backfills and runs now, which are never on time.
    """

    console: Console
    team: str | None = None
    lateness: list[int] = field(default_factory=list)
    asked_for: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)

    def heading(self) -> None:
        """The columns' names."""
        self.console.print(
            f"{'due':13}{'job':16}{'late':>9}  {'attempt':8}{'fence':15}{'outcome':14}",
            style="bold",
            highlight=False,
        )

    def call(self, entry: Mapping[str, Any]) -> None:
        """One attempt."""
        if self.team is not None and entry["team"] != self.team:
            return
        self.outcomes[entry["outcome"]] += 1
        if entry["attempt"] == 1 and not _by_schedule(entry):
            self.asked_for += 1
        elif entry["attempt"] == 1:
            self.lateness.append(entry["lateness_ms"])
        late = f"{'+' if entry['attempt'] > 1 else ''}{entry['lateness_ms']} ms"
        line = Text(
            f"{entry['due'][11:23]} {entry['job']:16}{late:>9}  {entry['attempt']:<8}{entry['fence']:<15}"
        )
        line.append(_outcome(entry), _COLOURS.get(entry["outcome"], "red"))
        self.console.print(line, soft_wrap=True)

    def told(self, entry: Mapping[str, Any]) -> None:
        """Something that would have gone to AWS."""
        if self.team is not None and entry["team"] != self.team:
            return
        body = entry["body"] if isinstance(entry["body"], dict) else {}
        what = f"{body.get('job', '')} is {body.get('kind', 'told')}"
        text = (
            f"{'':13}{what:16} -> {entry['service']} {entry['to'].rpartition(':')[2]}  {body.get('id', '')}"
        )
        self.console.print(Text(text, "magenta"), soft_wrap=True)

    def summary(self) -> None:
        """How late the firings were that a schedule called for."""
        parts = []
        if self.lateness:
            ordered = sorted(self.lateness)
            parts.append(
                f"{len(ordered)} firings, late by {percentile(ordered, 50)} ms at the median, "
                f"{percentile(ordered, 99)} ms at the 99th percentile, {ordered[0]} to {ordered[-1]} ms in all"
            )
        if self.asked_for:
            parts.append(f"{self.asked_for} backfilled or run at once")
        if parts:
            counts = ", ".join(f"{count} {word}" for word, count in self.outcomes.most_common())
            said = "; ".join([*parts, f"attempts: {counts}"])
            self.console.print(said, highlight=False, soft_wrap=True)


def percentile(ordered: list[int], percent: int) -> int:
    """The least value that `percent` of all do not exceed."""
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def _by_schedule(entry: Mapping[str, Any]) -> bool:
    return ExecutionId.parse(entry["execution"]).kind is ExecutionKind.OCCURRENCE


def _outcome(entry: Mapping[str, Any]) -> str:
    status = "" if entry["status"] is None else f" {entry['status']}"
    error = "" if entry["error"] is None or entry["status"] is not None else f": {entry['error']}"
    return f"{entry['outcome']}{status}{error}"
