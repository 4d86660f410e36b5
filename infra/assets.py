"""The code that a stage ships, as folders that lie ready: two layers and one small folder per handler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Assets:
    """Folders to be zipped as they are. `python` is the Lambda's minor version, e.g. ``3.13``.

    `bytecode`: whether the layers hold bytecode of exactly that Python. Without it each cold start compiles them anew.
    """

    dependencies: Path
    core: Path
    functions: Mapping[str, Path]
    python: str = "3.13"
    machine: str = "aarch64"
    bytecode: bool = True
