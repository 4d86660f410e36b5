"""The local AWS engine as a process of its own: on loopback, with signatures and policies enforced."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import urllib3
from botocore.config import Config

from infra.packaging.folders import ROOT

HOST = "127.0.0.1"
ACCOUNT = "000000000000"
REGION = "us-east-1"
ROOT_KEY, ROOT_SECRET = ACCOUNT, "test"
"""The engine's account root. Nothing here leads to any other account."""

VENV = ROOT / ".venv-engine" / "bin"
_READY = urllib3.Retry(total=40, backoff_factor=0.05, backoff_max=0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A running engine."""

    port: int
    process: int
    log: Path

    @property
    def endpoint(self) -> str:
        """The URL that serves every AWS service."""
        return f"http://{HOST}:{self.port}"

    def client(self, service: str) -> Any:  # noqa: ANN401 - boto3 makes the classes of its clients at run time
        """A client of the account's root."""
        config = Config(connect_timeout=2, read_timeout=60, retries={"total_max_attempts": 1})
        return boto3.client(  # type: ignore[call-overload] # the stubs want each service's name as a literal
            service,
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=ROOT_KEY,
            aws_secret_access_key=ROOT_SECRET,
            config=config,
        )

    def alive(self) -> bool:
        """Whether it still runs."""
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return False
        return True


@contextlib.contextmanager
def running(home: Path) -> Iterator[Engine]:
    """An engine with its files under `home`; it and everything it started are gone afterwards."""
    program = VENV / "ministack"
    if not program.exists():
        raise FileNotFoundError(f"{program.relative_to(ROOT)} is missing: run `make setup`")
    home.mkdir(parents=True, exist_ok=True)
    port, log = _free_port(), home / "engine.log"
    with log.open("wb") as lines:
        process = subprocess.Popen(
            [program],
            env=_environment(port, home),
            cwd=home,
            stdout=lines,
            stderr=lines,
            start_new_session=True,
        )
    try:
        _wait(f"http://{HOST}:{port}/_ministack/health", log)
        yield Engine(port=port, process=process.pid, log=log)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=10)


def _environment(port: int, home: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return kept | {
        "AUTH": "true",
        "BIND_HOST": HOST,
        "GATEWAY_PORT": str(port),
        "IOT_MTLS_ENABLED": "0",
        "HOME": str(home),
        "TMPDIR": str(home),
    }


def _wait(url: str, log: Path) -> None:
    try:
        with urllib3.PoolManager() as pool:
            pool.request("GET", url, retries=_READY, timeout=2)
    except urllib3.exceptions.HTTPError:
        last = log.read_text(errors="replace")[-2_000:]
        raise RuntimeError(f"the engine did not get ready; its last words:\n{last}") from None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
