"""The layers as a function would see them, on this machine: only what is locked, only what is shipped."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from infra.packaging.dependencies import LOCK, SERVICES

_ASK = """
import importlib, json, sys
sys.path[:0] = json.loads(sys.argv[1])
module = importlib.import_module(sys.argv[2])
print(json.dumps({"handler": callable(module.handler), "modules": sorted(sys.modules)}))
"""


def locked() -> frozenset[str]:
    """The packages of the dependency layer, by name."""
    return frozenset(re.findall(r"^([a-z0-9][\w.-]*)(?:\[.*?\])?==", LOCK.read_text(), re.MULTILINE))


def link_locked(site: Path) -> frozenset[str]:
    """Fills `site` with links to exactly the locked packages of this environment, botocore's data trimmed.

    The layer itself holds binaries for another machine; this has the same packages for this one. Returns their names.
    """
    site.mkdir(parents=True)
    found = set()
    for name in locked():
        try:
            files = distribution(name).files or []
        except PackageNotFoundError:
            continue  # locked for another platform or Python
        found.add(name)
        for top in {path.parts[0] for path in files} - {"..", "__pycache__"}:
            link = site / top
            if not link.exists():
                link.symlink_to(Path(str(distribution(name).locate_file(top))))
    _trim_botocore(site)
    return frozenset(found)


def _trim_botocore(site: Path) -> None:
    original = (site / "botocore").resolve()
    (site / "botocore").unlink()
    (site / "botocore" / "data").mkdir(parents=True)
    for entry in original.iterdir():
        if entry.name != "data":
            (site / "botocore" / entry.name).symlink_to(entry)
    for entry in (original / "data").iterdir():
        if entry.is_file() or entry.name in SERVICES:
            (site / "botocore" / "data" / entry.name).symlink_to(entry)


class _EmptyAws(BaseHTTPRequestHandler):
    """Answers every call with an empty object: no item is there, every write is done."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Quiet."""


@contextmanager
def empty_aws() -> Iterator[str]:
    """The URL of an AWS that has nothing in it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _EmptyAws)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def start(handler: str, path: list[Path], environment: Mapping[str, str]) -> frozenset[str]:
    """Starts a function as Lambda does, in a process that has nothing on its path but `path`.

    Returns the names of all modules that are loaded then. Raises AssertionError with its last words if it fails.
    """
    told = {
        "PATH": os.environ["PATH"],
        "AWS_LAMBDA_FUNCTION_NAME": "probe",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_EC2_METADATA_DISABLED": "true",
        "PYTHONWARNINGS": "error",
        **environment,
    }
    command = [sys.executable, "-I", "-S", "-B", "-c", _ASK, json.dumps(list(map(str, path))), handler]
    run = subprocess.run(command, env=told, capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == 0, run.stderr[-3000:]
    answer = json.loads(run.stdout.splitlines()[-1])
    assert answer["handler"]
    return frozenset(answer["modules"])
