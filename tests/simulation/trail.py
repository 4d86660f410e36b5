"""Which functions of the code under test a history ran: what was judged stays judged where only others have changed.

A history is decided by its seed and by the code that ran in it. `follow` puts a mark at the beginning of every function
of the use cases before they are imported; `Trail` tells which marks a history set. Not followed one by one are the
modules whose answers are remembered from one history to the next (`speed.py`): they count as a whole, as everything
outside functions does.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "layers/core/python/fencepost"
SIMULATOR = ROOT / "tests/simulation"
MARKS = "__trail__"
FOLLOWED = ("application", "domain", "runtime")
WHOLE = (
    "application/codec.py",
    "application/errands/",
    "application/keys.py",
    "application/messages.py",
    "application/ports.py",
    "application/store.py",
    "domain/addresses.py",
    "domain/egress.py",
    "domain/faults.py",
    "domain/hosts.py",
    "domain/identity.py",
    "domain/instants.py",
    "domain/limits.py",
    "domain/model.py",
    "domain/notification.py",
    "domain/schedule/",
)
"""What is run for an answer that outlives a history; a test runs histories twice in one process to see that this is all."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
_following: list[bytearray] = []


def followed(path: Path) -> bool:
    """Whether the functions of a file are told apart."""
    place = path.relative_to(CORE).as_posix() if path.is_relative_to(CORE) else ""
    return place.partition("/")[0] in FOLLOWED and not place.startswith(WHOLE)


def functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """The outermost functions of a module, methods among them, each with its qualified name."""
    waiting: list[tuple[str, Sequence[ast.stmt]]] = [("", tree.body)]
    while waiting:
        prefix, body = waiting.pop()
        for statement in body:
            if isinstance(statement, Function):
                yield prefix + statement.name, statement
            elif isinstance(statement, ast.ClassDef):
                waiting.append((f"{prefix}{statement.name}.", statement.body))


@cache
def numbers() -> dict[str, int]:
    """Every followed function, as ``file:qualified.name``, and the number of its mark."""
    names = {
        f"{path.relative_to(CORE).as_posix()}:{name}"
        for path in sorted(CORE.rglob("*.py"))
        if followed(path)
        for name, _ in functions(ast.parse(path.read_bytes()))
    }
    return {name: number for number, name in enumerate(sorted(names))}


def marked(source: bytes, path: Path) -> ast.Module:
    """The module with a mark at the beginning of every followed function."""
    tree, place = ast.parse(source), path.relative_to(CORE).as_posix()
    for name, function in functions(tree):
        mark = ast.parse(f"{MARKS}[{numbers()[f'{place}:{name}']}] = 1").body[0]
        behind = 1 if ast.get_docstring(function, clean=False) is not None else 0
        for node in ast.walk(mark):
            ast.copy_location(node, function.body[0])
        function.body.insert(behind, mark)
    return tree


class _Marking(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        """Compiled anew each time: what lies compiled beside the source has no marks."""
        path = Path(self.get_filename(fullname))
        code: CodeType = compile(marked(path.read_bytes(), path), str(path), "exec", dont_inherit=True)
        return code

    def exec_module(self, module: ModuleType) -> None:
        vars(module)[MARKS] = _following[0]
        super().exec_module(module)


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith("fencepost."):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None and followed(Path(spec.origin)):
            spec.loader = _Marking(fullname, spec.origin)
        return spec


def follow() -> None:
    """From here on, in this process. Raises RuntimeError where a module to be followed was imported before."""
    if _following:
        return
    early = [
        name for name in sys.modules if name.startswith(tuple(f"fencepost.{each}." for each in FOLLOWED))
    ]
    if early:
        raise RuntimeError(f"imported before they could be followed: {', '.join(sorted(early))}")
    _following.append(bytearray(len(numbers())))
    sys.meta_path.insert(0, _Finder())


class Trail:
    """Begins where a history begins; what was run to import the modules counts for every history."""

    _always: bytes = b""

    def __init__(self) -> None:
        if _following and not Trail._always:
            Trail._always = bytes(_following[0])
        if _following:
            _following[0][:] = Trail._always

    def ran(self) -> int | None:
        """The functions that ran since, as the bits of their numbers; None where nobody follows."""
        if not _following:
            return None
        return bits(number for number, mark in enumerate(_following[0]) if mark)


def bits(members: Iterable[int]) -> int:
    """A set of numbers as one."""
    return sum(1 << number for number in set(members))
