"""The local AWS engine as a fixture: a process of its own, once per test worker, on loopback.

Ask for `engine`, mark the test with `pytest.mark.engine`, and keep to tables and queues whose names begin with
`engine.prefix()`: the process is shared by all tests of the worker and is not wiped between them.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import pytest
import urllib3
from botocore.config import Config

from fencepost.adapters.wire.service import Dialect, WireClient
from fencepost.adapters.wire.signature import Credentials, Signer
from fencepost.runtime.clock import monotonic_ms, sleep_ms, utc_now

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_stepfunctions import SFNClient

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / ".venv-engine" / "bin" / "ministack"
REGION = "us-east-1"
READY_WITHIN_MS = 20_000
_HOST = "127.0.0.1"
_serial = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A running engine: where it listens, and clients for it with timeouts short enough for tests."""

    port: int
    worker: str

    @property
    def endpoint(self) -> str:
        """The URL that serves every AWS service."""
        return f"http://{_HOST}:{self.port}"

    def prefix(self) -> str:
        """A name prefix nobody else on this engine has: the isolation between tests."""
        return f"{self.worker}-{next(_serial)}-"

    def config(self, *, attempts: int = 3, pool: int = 32) -> Config:
        """Short timeouts; `attempts=1` for tests that want to see each failure themselves."""
        return Config(
            connect_timeout=2,
            read_timeout=10,
            retries={"mode": "standard", "total_max_attempts": attempts},
            max_pool_connections=pool,
            parameter_validation=True,
        )

    def _session(self) -> boto3.Session:
        return boto3.Session(
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
            region_name=REGION,
        )

    def dynamodb(self, *, attempts: int = 3) -> DynamoDBClient:
        """A low-level DynamoDB client."""
        config = self.config(attempts=attempts)
        return self._session().client("dynamodb", endpoint_url=self.endpoint, config=config)

    def sqs(self, *, attempts: int = 3) -> SQSClient:
        """An SQS client; its read timeout leaves room for short long polls only."""
        return self._session().client(
            "sqs", endpoint_url=self.endpoint, config=self.config(attempts=attempts)
        )

    def wire(self, dialect: Dialect, *, seconds: float = 10) -> WireClient:
        """The client that firings use on AWS."""
        return WireClient(
            dialect,
            urllib3.connection_from_url(self.endpoint, maxsize=32),
            signer=Signer(Credentials(access_key="testing", secret_key="testing"), dialect.name, REGION),
            now=utc_now,
            timeout=urllib3.Timeout(connect=2, read=seconds),
        )

    def sns(self) -> SNSClient:
        """An SNS client."""
        return self._session().client("sns", endpoint_url=self.endpoint, config=self.config())

    def events(self) -> EventBridgeClient:
        """An EventBridge client."""
        return self._session().client("events", endpoint_url=self.endpoint, config=self.config())

    def awslambda(self) -> LambdaClient:
        """A Lambda client."""
        return self._session().client("lambda", endpoint_url=self.endpoint, config=self.config())

    def stepfunctions(self) -> SFNClient:
        """A Step Functions client."""
        return self._session().client("stepfunctions", endpoint_url=self.endpoint, config=self.config())


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """The worker's engine, started when the first test asks, killed with everything it started at the end."""
    if not PROGRAM.exists():
        pytest.fail(f"{PROGRAM.relative_to(ROOT)} is missing: run `make setup`")
    home = tmp_path_factory.mktemp("engine")
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    port = _free_port()
    with (home / "engine.log").open("wb") as log:
        process = subprocess.Popen(
            [PROGRAM], env=_environment(port, home), cwd=home, stdout=log, stderr=log, start_new_session=True
        )
    try:
        _wait_until_ready(process, port, home / "engine.log")
        yield Engine(port=port, worker=worker)
    finally:
        _stop(process)


def _environment(port: int, home: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return kept | {
        "BIND_HOST": _HOST,
        "GATEWAY_PORT": str(port),
        "IOT_MTLS_ENABLED": "0",
        "HOME": str(home),
        "TMPDIR": str(home),
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = monotonic_ms() + READY_WITHIN_MS
    while monotonic_ms() < deadline:
        if process.poll() is not None:
            break
        if _answers(port):
            return
        sleep_ms(50)
    pytest.fail(f"the engine did not get ready; its last words:\n{log.read_text(errors='replace')[-2_000:]}")


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection(_HOST, port, timeout=1)
    try:
        connection.request("GET", "/_ministack/health")
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Kill the whole session, Lambda workers included: nothing in it is worth saving."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=10)
