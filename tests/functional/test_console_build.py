"""What is committed of the console is what its sources build, and its own small tests pass."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from shutil import which

import pytest

from tests.support.node import node

ROOT = Path(__file__).resolve().parents[2]
CONSOLE = ROOT / "console"
STATIC = ROOT / "layers/core/python/fencepost/console/static"
INSTALL_SECONDS = 180


@pytest.fixture(scope="module")
def modules() -> None:
    """What builds the console. Skips where it cannot be had."""
    if (CONSOLE / "node_modules/esbuild").exists():
        return
    npm = which("npm")
    if npm is None:
        pytest.skip("there is no npm on this machine, and console/node_modules is not installed")
    command = [npm, "ci", "--no-audit", "--no-fund"]
    try:
        done = subprocess.run(
            command, cwd=CONSOLE, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm ci did not end within {INSTALL_SECONDS} s")
    if done.returncode:
        pytest.skip(f"npm ci failed: {done.stderr[-300:]}")


def test_the_committed_console_is_what_its_sources_build(modules, tmp_path):
    """To renew it: make console."""
    environment = os.environ | {"FENCEPOST_CONSOLE_OUT": str(tmp_path)}
    done = subprocess.run(
        [node(), "build.mjs"], cwd=CONSOLE, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    built = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    committed = {path.name: path.read_bytes() for path in STATIC.iterdir()}
    assert sorted(built) == sorted(committed)
    assert [name for name in built if built[name] != committed[name]] == []


def test_its_pure_parts_pass_their_tests(modules):
    done = subprocess.run(
        [node(), "build.mjs", "test"], cwd=CONSOLE, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:]


def test_the_lock_names_no_registry():
    lock = (CONSOLE / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in lock
    assert '"integrity"' in lock
    assert "omit-lockfile-registry-resolved=true" in (CONSOLE / ".npmrc").read_text(encoding="utf-8")
