"""Redis and PostgreSQL on loopback, each in a folder of its own and as it comes; none of them is there unless installed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from fencepost.runtime.clock import monotonic_ms, sleep_ms

READY_WITHIN_MS = 20_000
_HOST = "127.0.0.1"


class NotInstalledError(Exception):
    """The server is not on this machine."""


@contextmanager
def redis(folder: Path) -> Iterator[tuple[int, str]]:
    """Its process and its address. Every write goes to its log, which is brought to the disk each second."""
    binary = _found("redis-server")
    port = _free_port()
    asked = ["--port", str(port), "--bind", _HOST, "--dir", str(folder), "--appendonly", "yes", "--save", ""]
    with ended(subprocess.Popen([binary, *asked], stdout=subprocess.DEVNULL)) as process:
        _wait(port)
        yield process.pid, f"redis://{_HOST}:{port}/0"


@contextmanager
def postgres(folder: Path) -> Iterator[tuple[int, str]]:
    """Its process and its address. It refuses to run as root: then it runs as the user that its package made."""
    binaries = Path(_found("postgres")).resolve().parent
    user = "postgres" if os.geteuid() == 0 else None
    data = folder / "postgres"
    data.mkdir()
    if user is not None:
        for each in (folder.parent, folder):
            each.chmod(0o755)
        shutil.chown(data, user)
    made: list[str | Path] = [binaries / "initdb", "-D", data, "-A", "trust", "-U", "peers", "-E", "UTF8"]
    subprocess.run(made, user=user, cwd=data, check=True, stdout=subprocess.DEVNULL)
    port = _free_port()
    asked: list[str | Path] = ["-D", data, "-p", str(port), "-h", _HOST, "-c", "unix_socket_directories="]
    server = subprocess.Popen([binaries / "postgres", *asked], user=user, cwd=data, stderr=subprocess.DEVNULL)
    with ended(server) as process:
        _wait(port)
        yield process.pid, f"postgresql://peers@{_HOST}:{port}/postgres"


@contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """The process, asked to end afterwards, and killed where it does not."""
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _found(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise NotInstalledError(program)
    return path


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(port: int) -> None:
    deadline = monotonic_ms() + READY_WITHIN_MS
    while monotonic_ms() < deadline:
        with closing(socket.socket()) as probe:
            if probe.connect_ex((_HOST, port)) == 0:
                return
        sleep_ms(50)
    raise RuntimeError(f"nobody listens on port {port}")
