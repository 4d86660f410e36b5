"""A history as a story: one line per thing that happened, with names that people can follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from tests.simulation.journal import (
    ANSWER,
    ASKED,
    BROKEN,
    CALL,
    GONE,
    REPLIED,
    SENT,
    SPRUNG,
    STRUCK,
    TAKEN,
    TOLD,
    WORKER,
    WRITE,
    Entry,
)
from tests.simulation.labels import label
from tests.simulation.world import History

_SHOWN = (
    "state",
    "reason",
    "gen",
    "planted",
    "fence",
    "attempt",
    "slot",
    "lane",
    "told",
    "watch",
    "exhausted",
)
_INSTANTS = ("due", "after", "until", "lease", "retry", "run_until", "ended", "m", "res")


def story(history: History, about: str | None = None) -> Iterator[str]:
    """The lines; with `about`, only those that name it: a job's uid, an execution, a host, a team."""
    names = _names(history)
    for entry in history.journal.entries:
        line = tell(entry)
        if line is None or (about is not None and about not in _haystack(entry) and about not in line):
            continue
        for uid, name in names.items():
            line = line.replace(uid, name)
        yield line


def _names(history: History) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in history.journal.entries:
        if entry[0] == WRITE and entry[6] == "J" and entry[8] is not None:
            found[entry[5][2:]] = f"{entry[8]['team']}/{entry[8]['name']}"
    return found


def _haystack(entry: Entry) -> str:
    return " ".join(str(each) for each in entry[4:])


def tell(entry: Entry) -> str | None:
    """One line; None for what is not worth one."""
    kind, at, step, task = entry[:4]
    who = "-" if task is None else task.name
    text = _text(kind, entry)
    if text is None:
        return None
    skew = "" if task is None or not task.host.skew else f" ({task.host.skew / 1e6:+.1f}s)"
    return f"{_clock(at)} #{step} {who}{skew}: {text}"


def _text(kind: str, entry: Entry) -> str | None:
    facts = entry[4:]
    if kind == WRITE:
        return _written(entry)
    if kind in {SENT, TAKEN, GONE}:
        queue, message, body = facts
        return f"{kind} {message} on {queue}: {_woken(body)}"
    if kind == TOLD:
        return f"tells {facts[0]}" + ("" if facts[1] else ", which is not taken")
    return _WORDS[kind](facts)


_WORDS: dict[str, Callable[[tuple[Any, ...]], str]] = {
    CALL: lambda f: f"calls the target of {f[0].execution}, fence {f[0].fence}, attempt {f[0].attempt}",
    ANSWER: lambda f: f"the target of {f[0].execution} did {f[1]}: {f[2]}",
    WORKER: lambda f: f"hears a worker: {f[0]}",
    ASKED: lambda f: f"is asked: {f[0]}",
    REPLIED: lambda f: f"replies to {f[0]}: {f[1]}",
    STRUCK: lambda f: f"*** {f[0]} strikes {f[2]} ({', '.join(f[1])})",
    SPRUNG: lambda f: f"... meanwhile an owner wants {f[0]}, beside {', '.join(f[1])}",
    BROKEN: lambda f: f"!!! {f[0]}",
}


def _written(entry: Entry) -> str | None:
    _, _, _, _, table, pk, sk, old, new, _ = entry
    word = label(table, pk, sk, old, new)
    if word in {"tick_lease", "scan_lease"}:
        return None
    where = f"{pk}/{sk}"
    if table == "executions" and not pk.startswith("D#"):
        where = (
            f"{pk}-{sk.replace('#', '-', 1)} @{_instant(int(sk[-13:]))}" if "#r" not in f"#{sk}" else where
        )
    if table == "timers" and not pk.startswith("Q#"):
        where = f"{pk[9:13]}#{pk[-2:]}/{_instant(int(sk[:13]))}{sk[13:]}"
    if new is None:
        return f"{word}: {where} goes"
    return f"{word}: {where} {_difference(old, new)}"


def _difference(old: Any, new: Any) -> str:
    before = old or {}
    parts = [f"{name} {new.get(name)}" for name in _SHOWN if new.get(name) != before.get(name)]
    for name in _INSTANTS:
        if new.get(name) != before.get(name):
            value = new.get(name)
            parts.append(f"{name} {_instant(value) if isinstance(value, int) else value}")
    if "x" in new:
        parts.append(f"of {new['x']} fence {new.get('f', '-')}")
    return ", ".join(parts)


def _instant(value: int) -> str:
    return f"{datetime.fromtimestamp(value / 1000, UTC):%H:%M:%S.%f}"[:-3]


def _woken(body: str) -> str:
    if '"execution":"' in body:
        start = body.index('"execution":"') + 13
        return body[start : body.index('"', start)]
    return body


def _clock(at: int) -> str:
    minutes, rest = divmod(at, 60_000_000)
    return f"{minutes:3d}m{rest / 1e6:09.6f}s"
