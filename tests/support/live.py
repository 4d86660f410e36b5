"""The local service as an owner starts it, a target that can be told how to answer, and calls signed by botocore."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from fencepost.domain.instants import to_wire
from fencepost.runtime.clock import monotonic_seconds, sleep_ms, utc_now

REGION = "us-east-1"
READY_SECONDS = 60.0
STOP_SECONDS = 60.0
ADMIN = "arn:aws:sts::000000000000:assumed-role/fencepost-admin/local"
_ENDPOINT = re.compile(r"endpoint\s+(http://127\.0\.0\.1:\d+)/v1")


class RefusedError(Exception):
    """The API's refusal."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(f"{status}: {body}")
        self.status = status
        self.body = body


@dataclass
class LiveService:
    """One data directory, and the process that serves it now."""

    data: Path
    options: tuple[str, ...] = ("--allow-private-targets",)
    store: str = "sqlite"
    endpoint: str = ""
    process: subprocess.Popen[str] | None = None
    output: list[str] = field(default_factory=list)
    _reader: threading.Thread | None = None

    def start(self) -> None:
        """Starts the command and returns when its screen is printed, with the endpoint where it has one."""
        command = [sys.executable, "-c", "from fencepost.cli import main; main()", "local", "--port", "0"]
        self.process = subprocess.Popen(
            [*command, "--data-dir", str(self.data), *self._store(), *self.options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200"},
        )
        before = len(self.output)
        self._reader = threading.Thread(target=self._read, args=(self.process,), daemon=True)
        self._reader.start()
        until(
            lambda: any("Fencepost" in line for line in self.output[before:]) or None,
            READY_SECONDS,
            "the banner",
        )
        if "--engine-only" not in self.options:
            self.endpoint = until(lambda: self._printed(before), READY_SECONDS, "the endpoint in the banner")

    def _store(self) -> tuple[str, ...]:
        return () if "--store" in self.options else ("--store", self.store)

    def kill(self) -> None:
        """As a crash: nothing is finished, nothing is said."""
        assert self.process is not None
        assert self._reader is not None
        self.process.kill()
        self.process.wait()
        self._reader.join()

    def stop(self) -> int:
        """Ctrl-C; the exit status."""
        assert self.process is not None
        assert self._reader is not None
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(STOP_SECONDS)
        self._reader.join()
        return status

    @contextmanager
    def running(self) -> Iterator[LiveService]:
        """Started, and stopped at the end if it still runs then."""
        self.start()
        try:
            yield self
        finally:
            if self.process is not None and self.process.poll() is None:
                self.stop()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                self.output.append(line.rstrip())

    def _printed(self, since: int) -> str | None:
        found = (_ENDPOINT.search(line) for line in self.output[since:])
        return next((match[1] for match in found if match), None)

    def lines(self, name: str) -> list[dict[str, Any]]:
        """A log of the data directory."""
        path = self.data / "log" / f"{name}.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def call(self, method: str, path: str, body: object = None, *, arn: str = ADMIN) -> Any:
        """One call, signed by botocore with the key of `arn`. Raises RefusedError."""
        url = f"{self.endpoint}{path}"
        content = b"" if body is None else json.dumps(body).encode()
        request = AWSRequest(
            method=method, url=url, data=content, headers={"Content-Type": "application/json"}
        )
        SigV4Auth(self._credentials(arn), "execute-api", REGION).add_auth(request)
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
        try:
            connection.request(method, path, body=content, headers=dict(request.prepare().headers.items()))
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        loaded = json.loads(text) if text else None
        if answer.status >= 400:
            raise RefusedError(answer.status, loaded)
        return loaded

    def _credentials(self, arn: str) -> Credentials:
        entries = json.loads((self.data / "credentials.json").read_text())
        (entry,) = [each for each in entries if each["arn"] == arn]
        return Credentials(entry["access_key_id"], entry["secret_access_key"])

    def put_team(self, team: str, **facts: Any) -> None:
        """Declares a team."""
        self.call("PUT", f"/v1/teams/{team}", facts)

    def put_job(
        self, team: str, job: str, schedule: Mapping[str, Any], url: str, **facts: Any
    ) -> dict[str, Any]:
        """Declares a job with a webhook."""
        made: dict[str, Any] = self.call(
            "PUT", f"/v1/teams/{team}/jobs/{job}", declaration(schedule, url, **facts)
        )
        return made

    def put_jobs(self, team: str, jobs: Mapping[str, Mapping[str, Any]]) -> None:
        """Declares any number of jobs, a hundred in a call."""
        items = [{"name": name, "job": job} for name, job in jobs.items()]
        for start in range(0, len(items), 100):
            body = {"items": items[start : start + 100]}
            results = self.call("POST", f"/v1/teams/{team}/bulk", body)["results"]
            assert all(each["problem"] is None for each in results)

    def executions(self, team: str, job: str) -> list[dict[str, Any]]:
        """The job's records, the newest first."""
        items: list[dict[str, Any]] = []
        cursor = ""
        while True:
            page = self.call("GET", f"/v1/teams/{team}/jobs/{job}/executions{cursor}")
            items += page["items"]
            if page["next"] is None:
                return items
            cursor = f"?cursor={page['next']}"

    def only(self, team: str, job: str, state: str, within: float = 20.0) -> dict[str, Any]:
        """The job's one record, once it is in `state`."""

        def settled() -> dict[str, Any] | None:
            found = self.executions(team, job)
            return found[0] if len(found) == 1 and found[0]["state"] == state else None

        record: dict[str, Any] = until(settled, within, f"{team}/{job} {state}")
        return record


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """One request as the target got it."""

    at: datetime
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def execution(self) -> str:
        """Which firing it is."""
        return self.headers["fencepost-execution"]

    @property
    def fence(self) -> int:
        """Under which fence it came."""
        return int(self.headers["fencepost-fence"])


class LiveTarget:
    """A real HTTP server. `answers` gives a status by path from the arrivals there so far; 200 where it has none."""

    def __init__(self) -> None:
        self.arrivals: dict[str, list[Arrival]] = defaultdict(list)
        self.answers: dict[str, Callable[[list[Arrival]], int]] = {}
        self._lock = threading.Lock()
        target = self

        class Exchange(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                target._take(self)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class says so
                """Says nothing."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 512

        self._server = Server(("127.0.0.1", 0), Exchange)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    @contextmanager
    def serving(self) -> Iterator[LiveTarget]:
        """Answers for as long."""
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        yield self
        self._server.shutdown()
        self._server.server_close()

    def at(self, path: str) -> list[Arrival]:
        """What arrived there so far."""
        with self._lock:
            return list(self.arrivals[path])

    def _take(self, exchange: BaseHTTPRequestHandler) -> None:
        arrival = Arrival(
            at=utc_now(),
            path=exchange.path,
            headers={name.lower(): value for name, value in exchange.headers.items()},
            body=exchange.rfile.read(int(exchange.headers.get("Content-Length", 0))),
        )
        with self._lock:
            self.arrivals[exchange.path].append(arrival)
            so_far = list(self.arrivals[exchange.path])
        answer = self.answers.get(exchange.path)
        status = 200 if answer is None else answer(so_far)
        try:
            exchange.send_response(status)
            exchange.send_header("Content-Length", "0")
            exchange.end_headers()
        except OSError:
            return  # who called has hung up


def declaration(schedule: Mapping[str, Any], url: str, **facts: Any) -> dict[str, Any]:
    """A job with a webhook."""
    webhook = {"url": url, "timeout_seconds": facts.pop("timeout_seconds", 10)}
    return {"schedule": schedule, "target": {"webhook": webhook}, **facts}


def until(look: Callable[[], Any], within: float, what: str) -> Any:
    """What `look` finds, as soon as it is not None. Fails after `within` seconds."""
    deadline = monotonic_seconds() + within
    while (found := look()) is None:
        assert monotonic_seconds() < deadline, f"{what}: not within {within} s"
        sleep_ms(50)
    return found


def ahead(seconds: float) -> str:
    """A whole second at least so far ahead, on the wire."""
    instant = utc_now() + timedelta(seconds=seconds)
    return to_wire(instant.replace(microsecond=0) + timedelta(seconds=1 if instant.microsecond else 0))
