"""`python -m tests.bench.peers`: measures all contestants one after the other, about four minutes each.

`--only NAME` measures those whose name holds NAME; `--write` puts the table into docs/performance.md, in which who was not
measured keeps its row.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

from fencepost.domain.instants import MINUTE, floor_minute
from fencepost.runtime.clock import sleep_ms, utc_now
from tests.bench import figures, page
from tests.bench.peers.contestants import MOST, ROOT, Contestant, all_of_them, version
from tests.bench.peers.lateness import late
from tests.bench.peers.processes import spent_ms
from tests.bench.peers.servers import NotInstalledError, ended
from tests.support.live import RefusedError

MINUTES = 2
BEFORE = timedelta(seconds=5)
"""From how long before the first boundary CPU is counted; it ends so long before the boundary after the last."""


def main() -> None:
    """Measures what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.peers", description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=MOST, choices=range(1, MOST + 1), metavar=f"1..{MOST}")
    parser.add_argument("--minutes", type=int, default=MINUTES)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    rows = []
    for contestant in all_of_them():
        if asked.only.lower() in contestant.name.lower():
            rows.append(measured(contestant, min(asked.jobs, contestant.most), asked.minutes))
            print(json.dumps(rows[-1]), flush=True)
    if asked.write:
        write(rows, asked.jobs, asked.minutes)


def write(rows: Sequence[dict[str, Any]], jobs: int, minutes: int) -> None:
    """Keeps them with what one should know of the run, and writes the page anew."""
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    load = f"{os.getloadavg()[2]:.1f}"
    facts = {
        "jobs": jobs,
        "minutes": minutes,
        "machine": machine,
        "load": load,
        "day": f"{utc_now():%Y-%m-%d}",
    }
    figures.keep(peers={**facts, "rows": merged(figures.kept().get("peers"), rows)})
    page.write()


def merged(kept: Mapping[str, Any] | None, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of all contestants in their order: those measured now, else those that were kept."""
    known = {row["name"]: row for row in [*(kept or {"rows": []})["rows"], *rows]}
    return [known[each.name] for each in all_of_them() if each.name in known]


def measured(contestant: Contestant, jobs: int, minutes: int) -> dict[str, Any]:
    """One row: lateness in milliseconds, CPU in milliseconds for each firing."""
    row: dict[str, Any] = {
        "name": contestant.name,
        "version": version(contestant.package),
        "how": contestant.how,
        "under": contestant.under,
        "jobs": jobs,
    }
    with (
        tempfile.TemporaryDirectory(prefix="fencepost-peers-") as folder,
        ended(_target()) as target,
    ):
        assert target.stdout is not None
        port = int(target.stdout.readline())
        try:
            with contestant.begin(_inner(folder), f"http://127.0.0.1:{port}", jobs) as running:
                return row | _window(running.own, running.under, jobs, minutes, port)
        except NotInstalledError as error:
            return row | {"missing": f"server not installed: {error}"}
        except (AssertionError, OSError, RuntimeError, RefusedError, subprocess.SubprocessError) as error:
            return row | {"missing": f"did not run: {error}"}


def _window(own: Sequence[int], under: Sequence[int], jobs: int, minutes: int, port: int) -> dict[str, Any]:
    """One boundary to warm up, then `minutes` that count."""
    first = floor_minute(utc_now() + timedelta(seconds=15)) + 2 * MINUTE
    boundaries = [(first + n * MINUTE).timestamp() for n in range(minutes)]
    _until(first - BEFORE)
    mine, below = spent_ms(own, under)
    _until(first + minutes * MINUTE - BEFORE)
    mine, below = (after - before for before, after in zip((mine, below), spent_ms(own, under), strict=True))
    found = late(_arrivals(port), jobs, boundaries)
    if found is None:
        return {"missing": "nothing arrived"}
    firings = jobs * minutes
    cpu = {"cpu_ms": round(mine / firings, 3), "under_ms": round(below / firings, 3)}
    return {name: round(value, 1) for name, value in asdict(found).items()} | cpu


def _until(instant: Any) -> None:
    sleep_ms((instant - utc_now()) // timedelta(milliseconds=1))


def _target() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.bench.peers.target"], cwd=ROOT, stdout=subprocess.PIPE
    )


def _inner(folder: str) -> Path:
    inner = Path(folder) / "run"
    inner.mkdir()
    return inner


def _arrivals(port: int) -> list[tuple[str, float]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/arrivals")
        return [(path, at) for path, at in json.loads(connection.getresponse().read())]
    finally:
        connection.close()


if __name__ == "__main__":
    main()
