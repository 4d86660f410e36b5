"""The rules of the house that no linter knows: sizes, reasons, locks, and no trace of one machine."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PRODUCTION = ("layers/core/", "functions/", "infra/", "scripts/")
FUNCTION_LINES, TEST_FUNCTION_LINES = 40, 60
FILE_LINES, TEST_FILE_LINES = 300, 400
HANDLER_LINES = 40

# What may be longer, and why. A line that no longer holds fails `test_no_exception_outlives_its_cause`.
LONGER_FUNCTIONS: dict[str, str] = {}
LONGER_FILES: dict[str, str] = {}

# Spelt in parts, so that this file passes its own test.
MACHINE_TRACES = re.compile(
    "|".join(
        [
            r"(?<![\w.])/" + r"work/",
            r"(?<![\w.])/" + r"root/",
            r"(?<![\w.])/" + r"home/\w",
            r"/opt/" + r"(pypi|wheels)",
            "file:" + "///",
            "py" + r"pi\.org",
            "python" + r"hosted\.org",
            "npm" + r"js\.(org|com)",
            "--(extra-)?" + "index-url",
            "--find" + "-links",
        ]
    )
)
WITHOUT_REASON = re.compile(r"#\s*(noqa|type:\s*ignore)(?!:? ?(\[|: )?[\w\-, \]]+?\s+(-|#)\s+\w)")


@cache
def tracked() -> tuple[str, ...]:
    """Every file of the project, as git knows it, new ones included."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return tuple(sorted(name for name in set(names) if (ROOT / name).is_file()))


def python_files() -> list[str]:
    return [name for name in tracked() if name.endswith(".py")]


def is_production(name: str) -> bool:
    return name.startswith(PRODUCTION)


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@cache
def parsed(name: str) -> ast.Module:
    return ast.parse(read(name), filename=name)


def functions(tree: ast.AST, outer: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Each function with its dotted name, those inside classes and functions too."""
    for node in ast.iter_child_nodes(tree):
        inner = outer
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{outer}.{node.name}".lstrip(".")
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield inner, node
        yield from functions(node, inner)


def own_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of signature and body: a docstring costs nothing."""
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if ast.get_docstring(node, clean=False) is not None:
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def long_functions() -> dict[str, int]:
    found = {}
    for name in python_files():
        limit = FUNCTION_LINES if is_production(name) else TEST_FUNCTION_LINES
        for function, node in functions(parsed(name)):
            if own_lines(node) > limit:
                found[f"{name}::{function}"] = own_lines(node)
    return found


def long_files() -> dict[str, int]:
    found = {}
    for name in python_files():
        lines = read(name).count("\n")
        if lines > (FILE_LINES if is_production(name) else TEST_FILE_LINES):
            found[name] = lines
    return found


def without(found: dict[str, int], excused: dict[str, str]) -> dict[str, int]:
    return {name: lines for name, lines in found.items() if name not in excused}


def test_no_function_is_longer_than_a_screen():
    assert without(long_functions(), LONGER_FUNCTIONS) == {}


def test_no_file_is_longer_than_a_sitting():
    assert without(long_files(), LONGER_FILES) == {}


def test_no_exception_outlives_its_cause():
    assert LONGER_FUNCTIONS.keys() <= long_functions().keys()
    assert LONGER_FILES.keys() <= long_files().keys()
    assert all(reason.strip() for reason in (LONGER_FUNCTIONS | LONGER_FILES).values())


def test_a_handler_only_parses_calls_and_translates():
    """Counted are the lines of code: no blank ones, no comments, no docstrings."""
    handlers = [name for name in python_files() if re.fullmatch(r"functions/\w+/handler\.py", name)]
    bare = {name: ast.unparse(_without_docstrings(parsed(name))) for name in handlers}
    assert {
        name: text.count("\n") + 1 for name, text in bare.items() if text.count("\n") >= HANDLER_LINES
    } == {}


def _without_docstrings(tree: ast.Module) -> ast.Module:
    copy = ast.parse(ast.unparse(tree))
    for node in ast.walk(copy):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            node.body[:1] = [] if len(node.body) > 1 else [ast.Pass()]
    return copy


def test_every_package_says_what_it_is():
    folders = {Path(name).parent for name in python_files() if not name.startswith("scripts/")}
    silent = []
    for folder in sorted(folders):
        init = ROOT / folder / "__init__.py"
        if not init.exists() or not ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))):
            silent.append(str(folder))
    assert silent == []


def test_nothing_in_the_project_names_one_machine_or_registry():
    traces = []
    for name in tracked():
        try:
            lines = read(name).splitlines()
        except UnicodeDecodeError:
            continue  # an image names nobody
        traces += [
            f"{name}:{n}: {line.strip()}" for n, line in enumerate(lines, 1) if MACHINE_TRACES.search(line)
        ]
    assert traces == []


def test_every_suppression_in_the_code_has_its_reason():
    """As in `# noqa: S603 - why` and `# type: ignore[arg-type]  # why`."""
    bare = []
    for name in python_files():
        if name == "tests/unit/test_house.py":
            continue
        lines = enumerate(read(name).splitlines(), 1)
        bare += [f"{name}:{n}: {line.strip()}" for n, line in lines if WITHOUT_REASON.search(line)]
    assert bare == []


@pytest.mark.parametrize(
    ("line", "accepted"),
    [
        ("x = f()  # noqa: S603 - the command is ours", True),
        ("x = f()  # noqa: S603, S607 - the command is ours", True),
        ("x = f()  # type: ignore[arg-type]  # the stub is wrong", True),
        ("x = f()  # type: ignore[arg-type] - the stub is wrong", True),
        ("x = f()  # noqa: S603", False),
        ("x = f()  # noqa", False),
        ("x = f()  # type: ignore", False),
        ("x = f()  # type: ignore[arg-type]", False),
    ],
)
def test_a_suppression_is_read_rightly(line, accepted):
    assert (WITHOUT_REASON.search(line) is None) == accepted


def test_every_rule_switched_off_has_its_reason():
    settings = read("pyproject.toml")
    ignored = re.search(r"^ignore = \[\n(.*?)^\]", settings, re.MULTILINE | re.DOTALL)
    by_file = re.search(r"per-file-ignores\]\n(.*?)^\[tool", settings, re.MULTILINE | re.DOTALL)
    warnings = re.search(r"^filterwarnings = \[\n(.*?)^\]", settings, re.MULTILINE | re.DOTALL)
    assert ignored is not None
    assert by_file is not None
    assert warnings is not None
    lines = [*ignored[1].splitlines(), *by_file[1].splitlines()]
    codes = [line for line in lines if re.match(r'\s*"[A-Z]+\d*"', line)]
    assert len(codes) > 10
    assert [line for line in codes if not re.search(r",\s+# \S+", line)] == []
    excused = [line for line in warnings[1].splitlines() if "ignore:" in line]
    assert [line for line in excused if not re.search(r",\s+# \S+", line)] == []


def locked(name: str) -> dict[str, str]:
    """Name and version of everything in a lock."""
    pins = re.findall(
        r"^([a-z0-9][a-z0-9._-]*)(?:\[.*\])?==(\S+)", read(f"requirements/{name}.lock"), re.MULTILINE
    )
    return dict(pins)


def test_every_requirement_is_locked_by_hash():
    ins = {Path(name).stem for name in tracked() if re.fullmatch(r"requirements/\w+\.in", name)}
    locks = {Path(name).stem for name in tracked() if re.fullmatch(r"requirements/\w+\.lock", name)}
    assert ins == locks
    for name in locks:
        text = read(f"requirements/{name}.lock")
        entries = [entry for entry in re.split(r"\n(?=[a-z0-9])", text) if not entry.startswith("#")]
        assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []


def test_the_locks_that_share_a_venv_agree():
    """The project's own environment is the union of these; one version of each thing."""
    versions: dict[str, set[str]] = {}
    for name in ("bootstrap", "runtime", "tools", "dev", "infra", "browser"):
        for package, version in locked(name).items():
            versions.setdefault(package, set()).add(version)
    assert {package: found for package, found in versions.items() if len(found) > 1} == {}


def test_the_engine_lives_alone():
    assert "ministack" in locked("engine")
    assert [name for name in ("runtime", "tools", "dev", "infra") if "ministack" in locked(name)] == []


def test_what_the_project_declares_is_what_it_locks():
    declared = tomllib.loads(read("pyproject.toml"))["project"]["dependencies"]
    names = {re.split(r"[=<>\[]", requirement)[0] for requirement in declared}
    assert names <= locked("runtime").keys() | locked("tools").keys()


def test_the_layer_ships_no_command_line():
    assert locked("runtime").keys().isdisjoint({"typer", "rich", "pyyaml"})


def test_one_module_knows_croniter():
    knows = []
    for name in python_files():
        imported = [node for node in ast.walk(parsed(name)) if isinstance(node, ast.Import | ast.ImportFrom)]
        modules = [getattr(node, "module", None) or node.names[0].name for node in imported]
        if is_production(name) and any(module.split(".")[0] == "croniter" for module in modules):
            knows.append(name)
    assert len(knows) <= 1
