"""The CDK command line on the packaged Node: `python -m infra.deploy deploy --all -c stage=dev`.

Installed from its lock into `infra/cli/node_modules` when it is first wanted; nothing is installed globally.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from infra.node import node, npm

HOME = Path(__file__).resolve().parent / "cli"
PROGRAM = HOME / "node_modules" / "aws-cdk" / "bin" / "cdk"


def command(arguments: Sequence[str]) -> list[str]:
    """What runs: this Python synthesises, whatever `python` means on the path."""
    app = f"{sys.executable} -m infra.app"
    return [str(node()), str(PROGRAM), "--app", app, "--no-notices", *arguments]


def install() -> None:
    """Brings the command line to what its lock says."""
    installed = HOME / "node_modules" / ".package-lock.json"
    if installed.exists() and installed.stat().st_mtime >= (HOME / "package-lock.json").stat().st_mtime:
        return
    subprocess.run([*npm(), "ci", "--silent"], cwd=HOME, check=True)


def main(arguments: Sequence[str]) -> int:
    """Installs if need be, and runs; returns the status of the run."""
    install()
    return subprocess.run(command(arguments), cwd=HOME.parent.parent, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
