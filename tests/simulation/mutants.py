"""Small changes of the code under test that the checkers must notice: each a rule of the protocol taken away.

A mutant is a replacement in the source of one module, put in place while the module is imported. The text that it
replaces has to be there exactly once: a mutant that no longer fits is an error, not a survivor.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType

ROOT = Path(__file__).resolve().parents[2] / "layers" / "core" / "python"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """`module` below `fencepost`; `bites`: the letters of the checkers that may notice; `profile` to look in.

    `equivalent`: it changes nothing that anybody could see, and has to survive.
    """

    name: str
    module: str
    old: str
    new: str
    bites: str
    profile: str | None = None
    equivalent: bool = False

    @property
    def path(self) -> Path:
        """The file of the module."""
        return Path(self.found().origin or "")

    def found(self) -> importlib.machinery.ModuleSpec:
        """Where the module is imported from in this process."""
        spec = importlib.util.find_spec(f"fencepost.{self.module}")
        assert spec is not None, f"no module fencepost.{self.module}"
        return spec

    def applied(self, source: str) -> str:
        """The changed source. Raises ValueError where the mutant does not fit."""
        count = source.count(self.old)
        if count != 1:
            raise ValueError(
                f"{self.name}: what it replaces is there {count} times in fencepost.{self.module}"
            )
        return source.replace(self.old, self.new)


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads one module with a change."""

    def __init__(self, fullname: str, path: str, mutant: Mutant) -> None:
        super().__init__(fullname, path)
        self._mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        """Compiled from the changed source; nothing is cached."""
        source = self.get_data(self.path).decode()
        return compile(self._mutant.applied(source), self.path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the one module that is changed."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of the changed module; None for every other."""
        if fullname != f"fencepost.{self._mutant.module}":
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        assert spec is not None
        assert spec.origin is not None
        loader = _Loader(fullname, spec.origin, self._mutant)
        return importlib.util.spec_from_file_location(fullname, spec.origin, loader=loader)


def install(mutant: Mutant) -> None:
    """From here on the module is imported changed; it must not have been imported before."""
    name = f"fencepost.{mutant.module}"
    if name in sys.modules:
        raise RuntimeError(f"{name} is imported already")
    sys.meta_path.insert(0, _Finder(mutant))
