"""Code made ready to ship: layers from the lock and from the package, a folder per handler. No Docker, no network
beyond the package registry, and nothing is built twice."""

from __future__ import annotations

from infra.assets import Assets
from infra.packaging.bytecode import compiler
from infra.packaging.dependencies import dependencies
from infra.packaging.own import core, functions
from infra.packaging.target import LAMBDA, Target

__all__ = ["package"]


def package(target: Target = LAMBDA) -> Assets:
    """Everything that a stage ships, built where it is not yet."""
    program = compiler(target)
    return Assets(
        dependencies=dependencies(target, program),
        core=core(target, program),
        functions=functions(),
        python=target.python,
        machine=target.machine,
        bytecode=program is not None,
    )
