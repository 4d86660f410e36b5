"""The dependency layer: the locked wheels of what runs in AWS, for the Lambda's machine, by pip or uv, never Docker."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from infra.packaging.bytecode import compile_all
from infra.packaging.folders import ROOT, built, digest
from infra.packaging.target import Target

LOCK = ROOT / "requirements" / "runtime.lock"
RECIPE = b"1"
"""Raise it when the way of building changes, so that what was built before is not taken for the new."""

SERVICES = frozenset({"dynamodb", "events", "kms", "lambda", "sns", "sqs", "stepfunctions", "sts"})
"""What the service calls. botocore describes four hundred more, which would be nine tenths of the layer."""


def dependencies(target: Target, compiler: str | None) -> Path:
    """The layer's folder, built when there is none of this lock, target and compiler yet."""
    key = digest(
        [RECIPE, LOCK.read_bytes(), str(target).encode(), *sorted(word.encode() for word in SERVICES)]
    )
    name = f"dependencies-{target}" + ("" if compiler is None else "-compiled")
    return built(name, key, lambda folder: _build(folder, target, compiler))


def _build(folder: Path, target: Target, compiler: str | None) -> None:
    site = folder / "python"
    subprocess.run(
        _installer(target, site),
        check=True,
        env=os.environ | {"UV_PYTHON_DOWNLOADS": "never", "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        stdout=subprocess.DEVNULL,
    )
    shutil.rmtree(site / "bin", ignore_errors=True)
    for leftover in site.glob(".lock"):
        leftover.unlink()
    trim(site)
    if compiler is not None:
        compile_all(compiler, folder)


def trim(site: Path) -> None:
    """Leaves of botocore's descriptions those of SERVICES, and of boto3's resources none."""
    for service in (site / "botocore" / "data").iterdir():
        if service.is_dir() and service.name not in SERVICES:
            shutil.rmtree(service)
    for unused in (site / "boto3" / "examples", site / "boto3" / "data"):
        shutil.rmtree(unused, ignore_errors=True)


def _installer(target: Target, site: Path) -> list[str]:
    uv = Path(sys.executable).parent / "uv"
    if _runs(uv):
        command = [str(uv), "pip", "install", "-q", "--python", sys.executable]
        platform = [] if target.native else ["--python-platform", f"{target.machine}-manylinux_2_28"]
        command += [*platform, "--python-version", target.python, "--only-binary", ":all:"]
    else:
        command = [sys.executable, "-m", "pip", "install", "-qq", "--no-compile", "--only-binary=:all:"]
        tags = [f"manylinux2014_{target.machine}", f"manylinux_2_28_{target.machine}"]
        command += [] if target.native else [word for tag in tags for word in ("--platform", tag)]
        command += ["--implementation", "cp", "--python-version", target.python]
    return [*command, "--require-hashes", "--target", str(site), "-r", str(LOCK)]


def _runs(program: Path) -> bool:
    """Whether this machine can execute it at all (an old libc may refuse a newer binary)."""
    try:
        return subprocess.run([str(program), "--version"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False
