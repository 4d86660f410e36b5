"""Bring a virtual environment to what the locks say; do nothing when it is already there.

Usage: python scripts/setup.py ENVIRONMENT...   with ENVIRONMENT one of run, dev, browser, engine, peers

Standard library only, since it runs before anything is installed. `run` is what the service needs,
`dev` adds the gate, the tests and the synthesis to it, `browser` what drives a browser in tests of the console;
`engine` is the local AWS engine's own venv, `peers` that of the other schedulers which `make bench-peers` runs.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements"
OLDEST_PYTHON = (3, 11)


@dataclass(frozen=True, kw_only=True)
class Environment:
    """One named set of locks and the venv they go to."""

    folder: str
    locks: tuple[str, ...]
    project: bool  # install Fencepost itself, editable


ENVIRONMENTS = {
    "run": Environment(folder=".venv", locks=("runtime", "tools"), project=True),
    "dev": Environment(folder=".venv", locks=("runtime", "tools", "dev", "infra"), project=True),
    "browser": Environment(folder=".venv", locks=("browser",), project=False),
    "engine": Environment(folder=".venv-engine", locks=("engine",), project=False),
    "peers": Environment(folder=".venv-peers", locks=("peers",), project=False),
}


def main(names: list[str]) -> None:
    """Set up each named environment in turn."""
    if sys.version_info < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        sys.exit(
            f"Fencepost needs Python {wanted} or newer, this is {sys.version.split()[0]}: set PYTHON=..."
        )
    unknown = [name for name in names if name not in ENVIRONMENTS]
    if unknown or not names:
        sys.exit(
            f"name one or more of {', '.join(ENVIRONMENTS)}; unknown: {', '.join(unknown) or 'none given'}"
        )
    for name in names:
        bring(name, ENVIRONMENTS[name])


def bring(name: str, environment: Environment) -> None:
    """Install unless the stamp of an earlier run shows the same inputs."""
    folder = ROOT / environment.folder
    stamp, wanted = folder / f".fencepost-{name}", fingerprint(environment)
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print(f"setting up {environment.folder} ({name}), a minute or so, once ...", file=sys.stderr, flush=True)
    python = create(folder)
    install(python, environment)
    stamp.write_text(wanted)


def fingerprint(environment: Environment) -> str:
    """A hash of everything the installation depends on."""
    inputs = [lock_file("bootstrap"), *map(lock_file, environment.locks)]
    if environment.project:
        inputs.append(ROOT / "pyproject.toml")
    digest = hashlib.sha256(repr((sys.version, str(ROOT))).encode())
    for path in inputs:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def lock_file(name: str) -> Path:
    """Where the lock of this name lies."""
    return REQUIREMENTS / f"{name}.lock"


def create(folder: Path) -> Path:
    """The venv's interpreter; the venv is made anew for another Python, or when the project was moved."""
    mark, wanted = folder / ".fencepost-python", f"{sys.version}\n{folder}"
    if not mark.exists() or mark.read_text() != wanted:
        venv.create(folder, with_pip=True, clear=True)
        mark.write_text(wanted)
    return folder / "bin" / "python"


def install(python: Path, environment: Environment) -> None:
    """Everything from the locks, every file by its hash, with uv; without uv, with pip."""
    pip = [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    run([*pip, "--require-hashes", "-r", str(lock_file("bootstrap"))])
    uv = python.parent / "uv"
    installer = [str(uv), "pip", "install", "-q", "--python", str(python)] if works(uv) else pip
    locks = [word for name in environment.locks for word in ("-r", str(lock_file(name)))]
    run([*installer, "--require-hashes", *locks])
    if environment.project:
        run([*installer, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)])


def works(program: Path) -> bool:
    """Whether this machine can execute the program at all (an old libc may refuse a newer binary)."""
    try:
        return subprocess.run([str(program), "--version"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def run(command: list[str]) -> None:
    """Run one command to its end; its failure ends the set-up with its own status."""
    quiet = os.environ | {"UV_PYTHON_DOWNLOADS": "never"}
    status = subprocess.run(command, cwd=ROOT, env=quiet, check=False).returncode
    if status:
        sys.exit(status)


if __name__ == "__main__":
    main(sys.argv[1:])
