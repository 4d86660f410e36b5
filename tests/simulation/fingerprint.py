"""The code as digests, function by function: what was judged of other code holds as long as nothing of it changed.

A change in a function touches the histories that ran it. A change anywhere else, of a class, a constant, or a module
whose answers are remembered, touches all. What is merely new touches none: nobody ran it, and who calls it has changed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from hashlib import sha256

from tests.simulation.profiles import MIX, PROFILES
from tests.simulation.trail import CORE, ROOT, SIMULATOR, Function, followed, functions

FUNCTION, IMPORT, OTHER, LOOSE = "function", "import", "other", "loose"
_APART = ("cli", "client", "console", "local")
_ASIDE = frozenset(
    {
        "__main__",
        "campaign",
        "digests",
        "fingerprint",
        "hunt",
        "kept",
        "matrix",
        "mutant_page",
        "mutants",
        "shrink",
        "story",
        "trail",
    }
)
"""What does not decide how a history goes, nor what is said of it. Profiles are digested by their values."""
Prints = Mapping[str, str]


def fingerprint() -> dict[str, str]:
    """``kind path:name`` and a digest, for everything that decides how the histories of the drawn mix go."""
    told = {f"{OTHER} profile {name}": _digest(repr(PROFILES[name])) for name in MIX}
    told[f"{OTHER} mix"] = _digest(repr(dict(MIX)))
    for path in sorted(CORE.rglob("*.py")):
        if path.relative_to(CORE).parts[0] not in _APART:
            told.update(prints_of(path.read_bytes(), str(path.relative_to(CORE)), apart=followed(path)))
    for path in sorted([*SIMULATOR.glob("*.py"), *SIMULATOR.glob("checkers/*.py")]):
        if not path.stem.startswith(("test_", "profiles")) and path.stem not in _ASIDE:
            told.update(prints_of(path.read_bytes(), str(path.relative_to(ROOT)), apart=False))
    return told


def prints_of(source: bytes, place: str, *, apart: bool) -> dict[str, str]:
    """The digests of a file: one, or `apart` one for each of its functions, imports, classes and other statements."""
    tree = _bare(ast.parse(source))
    if not apart:
        return {f"{OTHER} {place}": _digest(ast.dump(tree))}
    told: dict[str, str] = {}
    for name, function in functions(tree):
        key = f"{FUNCTION} {place}:{name}"
        told[key] = _digest(told.get(key, "") + ast.dump(function))
    for kind, name, text in _statements(tree.body):
        key = f"{kind} {place}:{name}"
        told[key] = _digest(told.get(key, "") + text)
    return told


def touched(old: Prints, new: Prints) -> frozenset[str] | None:
    """The names of functions that changed, as ``path:name``; None where everything is touched."""
    changed = set[str]()
    for key, digest in old.items():
        kind, _, name = key.partition(" ")
        if new.get(key) == digest or (kind == IMPORT and key not in new):
            continue
        if kind != FUNCTION:
            return None
        changed.add(name)
    loose = any(key.startswith(LOOSE) for key in new.keys() - old.keys())
    return None if loose else frozenset(changed)


def _statements(body: list[ast.stmt]) -> Iterator[tuple[str, str, str]]:
    """What stands outside functions: of what kind, what it names, and its text."""
    for statement in body:
        match statement:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                origin = getattr(statement, "module", None)
                for each in names:
                    yield IMPORT, each.asname or each.name, f"{origin} {each.name}"
            case ast.ClassDef(name=name):
                yield OTHER, name, _class(statement)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield OTHER, name, ast.dump(statement)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                pass
            case _:
                yield LOOSE, _digest(ast.dump(statement)), ast.dump(statement)


def _class(statement: ast.ClassDef) -> str:
    """A class without its functions; named are those that are called by no name, or might stand in for a base's."""
    told = [ast.dump(each) for each in (*statement.bases, *statement.keywords, *statement.decorator_list)]
    for each in statement.body:
        if isinstance(each, ast.ClassDef):
            told.append(_class(each))
        elif not isinstance(each, Function):
            told.append(ast.dump(each))
        elif statement.bases or each.name.startswith("__"):
            told.append(each.name)
    return "\n".join([statement.name, *told])


def _bare(tree: ast.Module) -> ast.Module:
    """Without docstrings and other lone texts."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [each for each in body if not _is_text(each)]
            node.body = kept or [ast.Pass()]  # type: ignore[attr-defined] # whatever has a list of statements
    return tree


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]
