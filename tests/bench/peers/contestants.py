"""Who is measured, and how each is started: as its documentation says, with up to fifty calls at once where it can."""

from __future__ import annotations

import http
import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from fencepost.local.aws_engine import AwsEngine
from fencepost.runtime.clock import sleep_ms
from tests.bench.peers import servers
from tests.support.live import LiveService, RefusedError, declaration

ROOT = Path(__file__).resolve().parents[3]
BIN = ROOT / ".venv-peers" / "bin"
NODE = Path(__file__).with_name("node")
TEAM = "bench"
TRIES = 5
MOST = 300
UNDER_THE_ENGINE = 60
"""The engine is a stand-in in Python that takes 0.15 s of CPU for the calls of one firing: 300 at a time are more than a
minute of it, and what comes late then tells of nothing else."""
_SUBJECTS = "tests.bench.peers.subjects"
_SERVERS: Mapping[str, Callable[[Path], AbstractContextManager[tuple[int, str]]]] = {
    "Redis": servers.redis,
    "PostgreSQL": servers.postgres,
}


@dataclass(frozen=True, slots=True)
class Running:
    """The processes whose CPU is the contestant's own, and those of the server under it."""

    own: tuple[int, ...]
    under: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """`begin(folder, target, jobs)` runs it until the context is left. `package`: what its version is read from.
    `most`: how many jobs it is given at most."""

    name: str
    package: str
    how: str
    under: str
    begin: Callable[[Path, str, int], AbstractContextManager[Running]]
    most: int = MOST


def all_of_them() -> tuple[Contestant, ...]:
    """In the order of the table."""
    return (
        _fencepost("engine", "a local AWS engine in Python", UNDER_THE_ENGINE),
        _fencepost("sqlite", "SQLite, in its process"),
        _peer(
            "APScheduler",
            "apscheduler",
            "SQLAlchemy store, 50 threads",
            "SQLite, in its process",
            [_python("aps")],
        ),
        _peer("Celery beat", "celery", "beat, and a worker of 50 threads", "Redis", _celery()),
        _peer("RQ", "rq", "its cron, and 8 workers that fork for each job", "Redis", _rq()),
        _peer(
            "Procrastinate",
            "procrastinate",
            "a worker, 50 at once",
            "PostgreSQL",
            [_python("procrastinate_app")],
        ),
        _peer(
            "BullMQ", "bullmq", "job schedulers, a worker, 50 at once", "Redis", [["node", NODE / "bull.mjs"]]
        ),
    )


def version(package: str) -> str:
    """As it is locked; Fencepost's own as it stands."""
    if package == "bullmq":
        lock = json.loads((NODE / "package-lock.json").read_text())
        return str(lock["packages"]["node_modules/bullmq"]["version"])
    source = "pyproject.toml" if package == "fencepost" else "requirements/peers.lock"
    pin = r'^version = "(.+)"' if package == "fencepost" else rf"^{package}==(\S+)"
    found = re.search(pin, (ROOT / source).read_text(), re.MULTILINE)
    assert found is not None, f"{package} is not in {source}"
    return found[1]


def _python(module: str) -> list[str | Path]:
    return [BIN / "python", "-m", f"{_SUBJECTS}.{module}"]


def _celery() -> Sequence[Sequence[str | Path]]:
    app: list[str | Path] = [BIN / "celery", "-A", f"{_SUBJECTS}.celery_app"]
    return (
        [*app, "worker", "-P", "threads", "-c", "50", "--loglevel", "WARNING"],
        [*app, "beat", "--schedule", "beat", "--pidfile", "", "--loglevel", "WARNING"],
    )


def _rq() -> Sequence[Sequence[str | Path]]:
    quiet = ["--logging-level", "warning", "--path", str(ROOT), "--url", "PEERS_REDIS"]
    cron = ROOT / "tests" / "bench" / "peers" / "subjects" / "rq_cron.py"
    return (
        [BIN / "rq", "worker-pool", "default", "-n", "8", *quiet],
        [BIN / "rq", "cron", str(cron), *quiet],
    )


def _peer(
    name: str, package: str, how: str, under: str, commands: Sequence[Sequence[str | Path]]
) -> Contestant:
    @contextmanager
    def begin(folder: Path, target: str, jobs: int) -> Iterator[Running]:
        with ExitStack() as stack:
            known = {"PEERS_URL": target, "PEERS_JOBS": str(jobs), "PEERS_DIR": str(folder)}
            below: tuple[int, ...] = ()
            if under in _SERVERS:
                pid, url = stack.enter_context(_SERVERS[under](folder))
                known |= {f"PEERS_{under.upper().replace('POSTGRESQL', 'POSTGRES')}": url}
                below = (pid,)
            environment = {**os.environ, **known, "PYTHONPATH": str(ROOT), "NODE_ENV": "production"}
            log = stack.enter_context((folder / "log").open("ab"))
            own = [
                stack.enter_context(
                    servers.ended(
                        subprocess.Popen(
                            [known.get(str(word), word) for word in command],
                            cwd=folder,
                            env=environment,
                            stdout=log,
                            stderr=log,
                        )
                    )
                )
                for command in commands
            ]
            yield Running(tuple(process.pid for process in own), below)

    return Contestant(name=name, package=package, how=how, under=under, begin=begin)


def _declare(service: LiveService, name: str, body: object) -> None:
    """A machine that is busy is asked again."""
    for attempt in range(TRIES):
        try:
            service.call("PUT", f"/v1/teams/{TEAM}/jobs/{name}", body)
            return
        except (RefusedError, TimeoutError) as error:
            busy = getattr(error, "status", http.HTTPStatus.SERVICE_UNAVAILABLE)
            if busy != http.HTTPStatus.SERVICE_UNAVAILABLE or attempt == TRIES - 1:
                raise
            sleep_ms(500)


def _kill(service: LiveService, engine_folder: Path) -> None:
    """Nothing of it is worth saving."""
    if service.process is not None and service.process.poll() is None:
        service.kill()
    engine = AwsEngine.running(engine_folder)
    if engine is not None:
        os.kill(engine.pid, signal.SIGKILL)


def _fencepost(store: str, under: str, most: int = MOST) -> Contestant:
    @contextmanager
    def begin(folder: Path, target: str, jobs: int) -> Iterator[Running]:
        service = LiveService(folder / "data", store=store)
        try:
            service.start()
            service.put_team(TEAM, max_concurrency=50)
            cron = {"cron": "* * * * *", "timezone": "UTC"}
            for n in range(jobs):
                _declare(service, f"job-{n}", declaration(cron, f"{target}/{n}"))
            assert service.process is not None
            engine = AwsEngine.running(folder / "data" / "engine")
            yield Running((service.process.pid,), () if engine is None else (engine.pid,))
        finally:
            _kill(service, folder / "data" / "engine")

    how = "the whole service in one process; a team of 50 slots"
    return Contestant(
        name=f"Fencepost, --store {store}", package="fencepost", how=how, under=under, begin=begin, most=most
    )
