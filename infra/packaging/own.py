"""Our own code: the core layer, and one small folder per handler."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from infra.packaging.bytecode import compile_all
from infra.packaging.folders import ROOT, built, digest
from infra.packaging.target import Target

CORE = ROOT / "layers" / "core" / "python"
FUNCTIONS = ROOT / "functions"
NOT_SHIPPED = frozenset({"cli", "client", "console", "local"})
"""Parts of the package that run on somebody's desk."""


def core(target: Target, compiler: str | None) -> Path:
    """The core layer's folder: the package less what is not shipped."""
    sources = [path for path in _sources(CORE / "fencepost") if not _left_out(path)]
    name = f"core-{target}" + ("" if compiler is None else "-compiled")

    def build(folder: Path) -> None:
        _copy(sources, CORE, folder / "python")
        if compiler is not None:
            compile_all(compiler, folder)

    return built(name, _key(sources, CORE), build)


def functions(root: Path = FUNCTIONS) -> Mapping[str, Path]:
    """Per handler its folder: `functions/{name}` under the same import path as in the tests."""
    handlers = sorted(root.glob("*/handler.py"))
    return {handler.parent.name: _function(root, handler.parent) for handler in handlers}


def _function(root: Path, folder: Path) -> Path:
    sources = [root / "__init__.py", *_sources(folder)]

    def build(draft: Path) -> None:
        _copy(sources, root.parent, draft)

    return built(f"function-{folder.name}", _key(sources, root.parent), build)


def _sources(folder: Path) -> list[Path]:
    """Modules and what else is part of a package, no bytecode and no tool's leftovers."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in found if path.suffix == ".py" or path.name == "py.typed")


def _left_out(path: Path) -> bool:
    return path.relative_to(CORE / "fencepost").parts[0] in NOT_SHIPPED


def _key(sources: list[Path], base: Path) -> str:
    return digest(
        part for path in sources for part in (str(path.relative_to(base)).encode(), path.read_bytes())
    )


def _copy(sources: list[Path], base: Path, to: Path) -> None:
    for path in sources:
        copy = to / path.relative_to(base)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
