"""Bytecode for layers: `/opt` is read-only, so what is not compiled before is compiled by every cold start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from infra.packaging.target import Target, interpreter


def compiler(target: Target) -> str | None:
    """The interpreter that compiles for the target. Without one, says so loudly."""
    found = interpreter(target.python)
    if found is None:
        sys.stderr.write(
            f"WARNING: no Python {target.python} on this machine: the layers go without bytecode, and every cold start "
            "compiles them anew (2.5 times as slow). Put that Python on the path or name it in FENCEPOST_LAMBDA_PYTHON.\n"
        )
    return found


def compile_all(program: str, layer: Path) -> None:
    """Compiles every module of the layer, as the files that they will be under /opt, checked against nothing.

    Unchecked, because a zip loses the times that ordinary bytecode is checked by; and the same bytes each time.
    """
    options = ["-q", "-j", "2", "--invalidation-mode", "unchecked-hash", "-s", str(layer), "-p", "/opt"]
    command = [program, "-m", "compileall", *options, str(layer / "python")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
