"""The AWS engine under a local service: a process in a session of its own, found again, and stopped so that it saves.

The engine keeps its state in memory and writes it down when it is asked to end. So a service that is killed loses
nothing, since the engine lives on and is found again; an engine that is killed loses what came after its last clean
stop.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fencepost.runtime.clock import monotonic_ms, sleep_ms

HOST = "127.0.0.1"
READY_WITHIN_MS = 20_000
SAVED_WITHIN_MS = 30_000
_GLANCE_MS = 50
_QUEUE_ADDRESS = re.compile(r"(http://localhost:)\d+(/\d{12}/)")
_INSTALLED = Path(__file__).resolve().parents[5] / ".venv-engine" / "bin" / "ministack"


class EngineError(Exception):
    """The engine cannot be had; says why."""


def program() -> Path | None:
    """Where the engine is installed: what FENCEPOST_ENGINE names, or the environment beside a checkout."""
    named = os.environ.get("FENCEPOST_ENGINE", "").strip()
    found = Path(named) if named else _INSTALLED
    return found if found.exists() else None


@dataclass(frozen=True, slots=True)
class AwsEngine:
    """A running engine."""

    pid: int
    port: int
    folder: Path

    @property
    def endpoint(self) -> str:
        """The URL that serves every AWS service."""
        return f"http://{HOST}:{self.port}"

    @classmethod
    def running(cls, folder: Path) -> AwsEngine | None:
        """The engine whose state lies in `folder`, if it runs."""
        try:
            known = json.loads((folder / "engine.json").read_text())
            engine = cls(int(known["pid"]), int(known["port"]), folder)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return engine if _alive(engine.pid) and _answers(engine.port) else None

    @classmethod
    def begin(cls, folder: Path) -> AwsEngine:
        """The engine of `folder`: the one that runs, or a new one over the state that the last one saved.

        Raises EngineError.
        """
        known = cls.running(folder)
        if known is not None:
            return known
        binary = program()
        if binary is None:
            raise EngineError("no AWS engine is installed: run `make setup`, or choose --store sqlite")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        port = _free_port()
        _readdress(folder / "state" / "sqs.json", port)
        with (folder / "engine.log").open("ab") as log:
            process = subprocess.Popen(  # noqa: S603 - the program that the owner installed
                [binary],
                env=_environment(port, folder),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        engine = cls(process.pid, port, folder)
        (folder / "engine.json").write_text(json.dumps({"pid": process.pid, "port": port}))
        engine._wait_until_ready(process)
        return engine

    def stop(self) -> None:
        """Asks it to save and end, and waits for that. Raises EngineError where it does not end in time."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)
        deadline = monotonic_ms() + SAVED_WITHIN_MS
        while _alive(self.pid):
            if monotonic_ms() > deadline:
                raise EngineError(f"the engine (pid {self.pid}) did not end; its state may not be saved")
            sleep_ms(_GLANCE_MS)

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = monotonic_ms() + READY_WITHIN_MS
        while monotonic_ms() < deadline and process.poll() is None:
            if _answers(self.port):
                return
            sleep_ms(_GLANCE_MS)
        process.kill()
        raise EngineError(f"the AWS engine did not get ready; its last words are in {self.folder}/engine.log")


def _environment(port: int, folder: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return kept | {
        "BIND_HOST": HOST,
        "GATEWAY_PORT": str(port),
        "IOT_MTLS_ENABLED": "0",
        "PERSIST_STATE": "1",
        "STATE_DIR": str(folder / "state"),
        "HOME": str(folder),
        "TMPDIR": str(folder),
    }


def _readdress(saved: Path, port: int) -> None:
    """Moves saved queues to the engine's new port: it knows a queue by its URL, and would make each of them anew beside
    the one that holds the messages.
    """
    if saved.exists():
        fresh = saved.with_suffix(".new")
        fresh.write_text(_QUEUE_ADDRESS.sub(rf"\g<1>{port}\g<2>", saved.read_text()))
        fresh.replace(saved)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _alive(pid: int) -> bool:
    """Whether the process runs; one that ended and is our own child is let go."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return False  # the number went to somebody else's process
    return True


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection(HOST, port, timeout=1)
    try:
        connection.request("GET", "/_ministack/health")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
