"""What a layer is built for: a Python, a machine, and where an interpreter for its bytecode may be found."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """`native`: for this very machine, whatever its system; else for Linux on `machine`."""

    python: str = "3.13"
    machine: str = "aarch64"
    native: bool = False

    def __str__(self) -> str:
        """Fit for a folder's name."""
        return f"python{self.python.replace('.', '')}-{'native' if self.native else self.machine}"


LAMBDA = Target()


def native(interpreter: Path | str = sys.executable) -> Target:
    """What `interpreter` on this machine runs."""
    machine = {"arm64": "aarch64", "AMD64": "x86_64"}.get(platform.machine(), platform.machine())
    return Target(python=_version(str(interpreter)) or "", machine=machine, native=True)


def interpreter(python: str) -> str | None:
    """An interpreter of exactly this minor version, for its bytecode; None where the machine has none."""
    return next((each for each in _candidates(python) if _version(each) == python), None)


def _candidates(python: str) -> Iterator[str]:
    """The one that is named, this one, the one on the path, and those that pyenv keeps behind its shims."""
    named = os.environ.get("FENCEPOST_LAMBDA_PYTHON", "").strip()
    if named:
        yield named
    yield sys.executable
    on_path = shutil.which(f"python{python}")
    if on_path:
        yield on_path
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    yield from (str(each) for each in sorted(versions.glob(f"{python}*/bin/python{python}")))


@cache
def _version(program: str) -> str | None:
    """The minor version that a program answers with; None where it does not run (as a shim without its version)."""
    question = [program, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    try:
        answer = subprocess.run(question, capture_output=True, text=True, check=False, timeout=30)
    except OSError:
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None
