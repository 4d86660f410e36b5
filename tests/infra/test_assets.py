"""What is shipped: exactly these files, and every handler starts on nothing else."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from infra.names import Fn
from infra.packaging import own
from infra.packaging.bytecode import compile_all, compiler
from infra.packaging.dependencies import SERVICES, dependencies
from infra.packaging.folders import built, digest, files
from infra.packaging.target import LAMBDA, Target, interpreter, native
from tests.support.layers import empty_aws, link_locked, locked, start
from tests.support.stacks import ROOT, resolved, synthesised

pytestmark = pytest.mark.xdist_group("infra")

FOLDERS = sorted({function.folder for function in Fn})
UNWANTED = {"aws_xray_sdk", "httpx", "requests", "typer", "rich", "yaml", "pytest", "moto", "asyncio"}
PYDANTIC = {"pydantic", "pydantic_core"}
NOT_LOADED = {
    "tick": UNWANTED | PYDANTIC | {"croniter", "cryptography", "urllib3.contrib.socks"},
    "scan": UNWANTED | PYDANTIC | {"cryptography"},
    "pump": UNWANTED | PYDANTIC | {"croniter", "cryptography"},
    "deliver": UNWANTED | PYDANTIC | {"croniter"},
    "dead_letter": UNWANTED | PYDANTIC | {"croniter"},
    "sweep": UNWANTED | PYDANTIC,
    "audit": UNWANTED | PYDANTIC | {"cryptography"},
    "api": UNWANTED - {"asyncio"},  # the router brings it along
}


@pytest.fixture(scope="module")
def core():
    """The core layer without bytecode: what it holds does not depend on the interpreters of this machine."""
    return own.core(LAMBDA, None)


@pytest.fixture(scope="module")
def compiled():
    """The core layer with bytecode for the Python of these tests, so that functions start here as fast as there."""
    return own.core(native(), sys.executable)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The locked packages for this machine."""
    folder = tmp_path_factory.mktemp("dependencies") / "python"
    link_locked(folder)
    return folder


@pytest.fixture(scope="module")
def layer():
    """The dependency layer, built for Lambda from the lock."""
    return dependencies(LAMBDA, compiler(LAMBDA))


@pytest.mark.parametrize("folder", FOLDERS)
def test_an_asset_is_one_handler_and_nothing_else(folder):
    assert files(own.functions()[folder]) == [
        "functions/__init__.py",
        f"functions/{folder}/__init__.py",
        f"functions/{folder}/handler.py",
    ]


def test_every_handler_belongs_to_a_function_and_every_function_has_one():
    assert set(own.functions()) == set(FOLDERS)


def test_the_core_layer_is_the_package_less_what_runs_on_a_desk(core):
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "layers/core/python"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    existing = {name.removeprefix("layers/core/") for name in names if (ROOT / name).is_file()}
    left_out = tuple(f"python/fencepost/{part}/" for part in ("cli", "client", "console", "local"))
    shipped = {name for name in existing if not name.startswith(left_out)}
    assert set(files(core)) == {name for name in shipped if name.endswith((".py", "py.typed"))}


@pytest.fixture(scope="module")
def nowhere():
    with empty_aws() as url:
        yield {"AWS_ENDPOINT_URL": url}


@pytest.mark.parametrize("function", Fn)
def test_every_function_starts_with_its_layers_alone(function, compiled, site, nowhere):
    """In the environment that its template gives it, down to the clients of AWS."""
    stage = synthesised("prod")
    made = stage.one("AWS::Lambda::Function", FunctionName=stage.names.function(function))
    told = {name: resolved(value) for name, value in made["Environment"]["Variables"].items()}
    path = [own.functions()[function.folder], compiled / "python", site]
    loaded = start(made["Handler"].removesuffix(".handler"), path, told | nowhere)
    assert f"functions.{function.folder}.handler" in loaded
    assert loaded & NOT_LOADED[function.folder] == set()
    assert not any(
        name.startswith(("fencepost.cli", "fencepost.local", "fencepost.adapters.memory")) for name in loaded
    )


def test_a_forbidden_import_would_be_seen(compiled, site, tmp_path):
    handler = tmp_path / "functions" / "greedy" / "handler.py"
    handler.parent.mkdir(parents=True)
    handler.write_text("import pydantic\nfrom fencepost.domain.model import Tier\nhandler = Tier\n")
    loaded = start("functions.greedy.handler", [tmp_path, compiled / "python", site], {})
    assert loaded & NOT_LOADED["deliver"] == PYDANTIC


def test_a_package_that_is_not_locked_is_not_there(compiled, site, tmp_path):
    """Typer is installed beside the tests; the layer has no command line."""
    (tmp_path / "wishful.py").write_text("import typer\nhandler = print\n")
    with pytest.raises(AssertionError, match="No module named 'typer'"):
        start("wishful", [tmp_path, compiled / "python", site], {})


def test_every_service_that_the_code_calls_is_described_in_the_layer():
    """Its name stands as the first argument where a client is made."""
    import re

    text = "\n".join(path.read_text() for path in sorted((own.CORE / "fencepost" / "adapters").rglob("*.py")))
    named = set(re.findall(r"""\b(?:client|_boto)\(\s*["']([a-z0-9-]+)["']""", text))
    assert named <= SERVICES
    assert named >= {"dynamodb", "sqs", "kms", "sts", "sns", "events"}


def test_the_dependency_layer_holds_the_lock_for_lambdas_machine(layer):
    names = {
        path.name.partition("-")[0].replace("_", "-").lower()
        for path in (layer / "python").glob("*.dist-info")
    }
    assert names == {name.replace("_", "-") for name in locked()}
    libraries = [path.name for path in layer.rglob("*.so*")]
    assert libraries
    assert all(name.endswith((".cpython-313-aarch64-linux-gnu.so", ".abi3.so")) for name in libraries)


def test_the_dependency_layer_is_for_arm(layer):
    """Byte 18 of an ELF file names its machine: 183 is AArch64."""
    for library in layer.rglob("*.so*"):
        assert int.from_bytes(library.read_bytes()[18:20], "little") == 183


def test_the_dependency_layer_is_trimmed(layer):
    described = {path.name for path in (layer / "python" / "botocore" / "data").iterdir() if path.is_dir()}
    assert described == SERVICES
    assert not (layer / "python" / "bin").exists()
    size = sum(path.stat().st_size for path in layer.rglob("*") if path.is_file())
    assert size < 60 * 1024 * 1024


def test_the_dependency_layer_brings_the_time_zones_along(layer):
    assert (layer / "python" / "tzdata" / "zoneinfo" / "Europe" / "Berlin").is_file()


@pytest.mark.skipif(interpreter(LAMBDA.python) is None, reason="no interpreter of the Lambda's Python here")
def test_every_module_of_the_layers_is_compiled_for_lambdas_python(layer):
    shipped = own.core(LAMBDA, interpreter(LAMBDA.python))
    for folder in (layer, shipped):
        sources = set(folder.rglob("*.py"))
        wanted = {path.parent / "__pycache__" / f"{path.stem}.cpython-313.pyc" for path in sources}
        assert wanted == set(folder.rglob("*.pyc"))


def test_bytecode_knows_its_place_under_opt_and_checks_no_times(tmp_path):
    source = tmp_path / "python" / "thing.py"
    source.parent.mkdir()
    source.write_text("def where():\n    pass\n")
    program = interpreter(native().python)
    assert program is not None
    compile_all(program, tmp_path)
    (compiled,) = tmp_path.rglob("*.pyc")
    code = compiled.read_bytes()
    assert int.from_bytes(code[4:8], "little") == 0b01  # by hash, unchecked
    assert b"/opt/python/thing.py" in code


def test_the_same_sources_give_the_same_bytes(core, tmp_path):
    program = interpreter(native().python)
    assert program is not None
    target = native()
    first = own.core(target, program)
    again = built("again", "0", lambda folder: _rebuild(folder, program), under=tmp_path)
    assert files(first) == files(again)
    assert digest((first / name).read_bytes() for name in files(first)) == digest(
        (again / name).read_bytes() for name in files(again)
    )


def _rebuild(folder: Path, program: str) -> None:
    import shutil

    shutil.copytree(own.core(LAMBDA, None) / "python", folder / "python")
    compile_all(program, folder)


def test_a_folder_is_built_once_and_whole_or_not_at_all(tmp_path):
    calls = []

    def build(folder):
        calls.append(folder)
        (folder / "one").write_text("1")

    def fail(folder):
        (folder / "half").write_text("")
        raise RuntimeError("interrupted")

    first = built("thing", "a", build, under=tmp_path)
    assert built("thing", "a", build, under=tmp_path) == first
    assert len(calls) == 1
    with pytest.raises(RuntimeError, match="interrupted"):
        built("thing", "b", fail, under=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thing-a"]


def test_a_folder_can_be_read_by_whoever_runs_it_whatever_the_umask_of_whoever_packs(tmp_path):
    """A function runs as another user than the one whose modes are in the zip: it would fail to import itself."""

    def build(folder):
        (folder / "python").mkdir()
        (folder / "python" / "module.py").write_text("")
        (folder / "python" / "program").touch(0o700)

    before = os.umask(0o077)
    try:
        made = built("thing", "key", build, under=tmp_path)
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (made, *made.rglob("*"))}
    assert modes == {"thing-key": 0o755, "python": 0o755, "module.py": 0o644, "program": 0o744}


def test_without_the_lambdas_python_the_build_says_so_and_goes_on(capsys, monkeypatch):
    monkeypatch.setattr("infra.packaging.bytecode.interpreter", lambda _: None)
    assert compiler(Target(python="3.99")) is None
    assert "no Python 3.99 on this machine" in capsys.readouterr().err


def test_an_interpreter_is_taken_at_its_word_only_when_it_runs(tmp_path, monkeypatch):
    """A shim that knows no such version fails when it is called."""
    shim = tmp_path / "python3.99"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert interpreter("3.99") is None
