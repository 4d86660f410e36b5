"""The data directory of one machine's service: where everything lies, and who may use it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO


class DataDirError(Exception):
    """The data directory cannot be used; says why."""


@dataclass(frozen=True, slots=True)
class DataDir:
    """Made when it is missing, for its owner alone."""

    path: Path

    @classmethod
    def open(cls, path: Path) -> DataDir:
        """Makes what is missing. Raises DataDirError."""
        data = cls(path.resolve())
        try:
            for folder in (data.path, data.path / "log", data.path / "workers"):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise DataDirError(f"{path}: {error.strerror}") from error
        return data

    @property
    def database(self) -> Path:
        """Store and queues."""
        return self.path / "fencepost.sqlite"

    @property
    def engine(self) -> Path:
        """The AWS engine's state, its log, and where it listens."""
        return self.path / "engine"

    @property
    def credentials(self) -> Path:
        """Who may call."""
        return self.path / "credentials.json"

    @property
    def secrets_key(self) -> Path:
        """What seals the teams' secrets."""
        return self.path / "secrets.key"

    @property
    def service_log(self) -> Path:
        """What the functions say and measure."""
        return self.path / "log" / "service.jsonl"

    @property
    def calls(self) -> Path:
        """Every call of a target, one line each."""
        return self.path / "log" / "calls.jsonl"

    @property
    def aws(self) -> Path:
        """What would have gone to AWS: topics, queues, buses, functions."""
        return self.path / "log" / "aws.jsonl"

    @property
    def workers(self) -> Path:
        """One file per worker process, named by its pid; it lists the executions whose targets it calls."""
        return self.path / "workers"

    def worker(self, pid: int) -> Path:
        """The file of one process."""
        return self.workers / str(pid)

    def lock(self, part: str) -> TextIO:
        """Takes the one place of `part` in this directory; it is free again when the process ends, however it ends.

        Raises DataDirError where another process has it.
        """
        file = (self.path / f"{part}.lock").open("a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip()
            file.close()
            raise DataDirError(f"{self.path}: process {holder} runs the {part} here already") from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        return file

    def held(self, part: str) -> bool:
        """Whether a process has the place of `part`."""
        try:
            file = (self.path / f"{part}.lock").open("rb")
        except FileNotFoundError:
            return False
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False


class LogFile(TextIOWrapper):
    """A log to append to. A full disk is no reason to fail, nor to say so at every line: what cannot be written is
    dropped.
    """

    def __init__(self, path: Path) -> None:
        """Makes the file where it is missing. Raises OSError."""
        super().__init__(path.open("ab"), encoding="utf-8")

    def write(self, text: str, /) -> int:
        """As much as the disk takes."""
        with suppress(OSError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        """As much as the disk takes."""
        with suppress(OSError):
            super().flush()


class Journal:
    """A file of JSON lines to which any number of threads and processes append."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(self, entry: Mapping[str, Any]) -> None:
        """One line, in one piece."""
        os.write(self._file, (json.dumps(entry, separators=(",", ":"), default=str) + "\n").encode())

    def close(self) -> None:
        """No line may follow."""
        os.close(self._file)
