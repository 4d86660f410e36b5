"""Crontabs. A command cannot be called from afar: it becomes the payload, for a runner of one's own to carry out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from fencepost.cli.imports.carried import Cargo
from fencepost.domain.schedule import CrontabLine, parse_crontab, schedule_to_wire

_SETTING = re.compile(r"\s*([A-Za-z_]\w*)\s*=", re.ASCII)
_ZONES = frozenset({"CRON_TZ", "TZ"})
_PREFIX = re.compile(r"(?:[A-Za-z_]\w*=\S*\s+|(?:cd\s+\S+|\.\s+\S+|source\s+\S+)\s*&&\s*|\[[^]]*\]\s*&&\s*)+")
_STEPS_ASIDE = frozenset(
    {"bash", "sh", "env", "nice", "ionice", "exec", "nohup", "python", "python3", "php", "perl", "ruby", "node"}
)  # fmt: skip
_TAKES_ONE = frozenset({"flock", "timeout"})  # a lock, a time: not what is run
_PERCENT = re.compile(r"(?<!\\)%")


def read_crontab(
    text: str, target: Mapping[str, Any], now: datetime, *, timezone: str = "UTC", users: bool = False
) -> Cargo:
    """The jobs of a crontab, all for `target`. `users`: a system crontab, with a user before each command. Raises Faults
    for a file that is too large.
    """
    cargo = Cargo()
    for number, line in enumerate(text.splitlines(), start=1):
        setting = None if line.lstrip().startswith("#") else _SETTING.match(line)
        if setting and setting[1] not in _ZONES:
            cargo.leave(f"line {number}", line.strip(), f"{setting[1]} is the runner's own affair")
    for entry in parse_crontab(text, now=now, timezone=timezone):
        _take(cargo, entry, target, now, users=users)
    return cargo


def _take(cargo: Cargo, entry: CrontabLine, target: Mapping[str, Any], now: datetime, *, users: bool) -> None:
    where = f"line {entry.number}"
    if entry.schedule is None:
        cargo.leave(where, entry.text, reasons(entry))
        return
    payload: dict[str, Any] = {}
    command = entry.command
    if users:
        payload["user"], _, command = command.partition(" ")
    command, *rest = _PERCENT.split(command.strip())
    payload["command"] = _plain(command).strip()
    if rest:
        payload["stdin"] = "\n".join(map(_plain, rest))
    job = {"schedule": schedule_to_wire(entry.schedule), "target": dict(target), "payload": payload}
    cargo.take(where, name_of(payload["command"]) or f"line-{entry.number}", job, now)


def reasons(entry: CrontabLine) -> str:
    """Why a line has no schedule; where it stands is said already."""
    return re.sub(rf"line {entry.number}(\.\w+)?: ", "", "; ".join(map(str, entry.faults)))


def _plain(text: str) -> str:
    r"""Without cron's own escape: ``\%`` stands for a percent sign."""
    return text.replace("\\%", "%")


def name_of(command: str) -> str:
    """A name for a command: its program's, without path and ending; interpreters and wrappers step aside."""
    plain = re.sub(r"\bsudo (-u \S+ )?", "", _PREFIX.sub("", command, count=1))
    words = iter(plain.split())
    for word in words:
        bare = word.strip("'\"();&|<>").rpartition("/")[2]
        if bare in _TAKES_ONE:
            next((each for each in words if not each.startswith("-")), None)
        elif _is_program(word, bare):
            return re.sub(r"\.(sh|py|pl|php|rb|js)$", "", bare)
    return ""


def _is_program(word: str, bare: str) -> bool:
    known = re.sub(r"[\d.]+$", "", bare)
    return bool(bare) and not word.startswith("-") and not {bare, known} & _STEPS_ASIDE and not bare.isdigit()
