"""Stages synthesised for tests: from placeholder folders, once per process, without Docker, network or account."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import aws_cdk as cdk

from infra.app import build
from infra.assets import Assets
from infra.names import Fn, Names
from infra.routes import DOCUMENT, Route, read_routes
from infra.settings import Stage
from infra.stacks.service import Contents
from infra.stages import STAGES

ROOT = Path(__file__).resolve().parents[2]
ACCOUNT = "123456789012"

Resource = Mapping[str, Any]
Template = dict[str, Any]

SOME_ROUTES = (
    Route("/v1/health", "GET"),
    Route("/v1/preview", "POST"),
    Route("/v1/teams/{team}", "GET"),
    Route("/v1/teams/{team}", "PUT"),
    Route("/v1/teams/{team}/jobs/{job}", "PUT"),
)


@dataclass(frozen=True, kw_only=True)
class Synthesised:
    """One stage's templates by short name (account, store, service), what the validators said, and what the CDK warned
    of."""

    stage: Stage
    names: Names
    templates: Mapping[str, Template]
    report: Mapping[str, Any]
    warned: Sequence[str]

    def resources(self, kind: str | None = None) -> dict[str, Resource]:
        """All resources of all stacks, or those of one type, by logical id."""
        every = {
            name: each for template in self.templates.values() for name, each in template["Resources"].items()
        }
        return {name: each for name, each in every.items() if kind is None or each["Type"] == kind}

    def properties(self, kind: str) -> list[dict[str, Any]]:
        """The properties of all resources of a type."""
        return [dict(each.get("Properties", {})) for each in self.resources(kind).values()]

    def one(self, kind: str, **wanted: object) -> dict[str, Any]:
        """The properties of the one resource of a type that has `wanted` among them."""
        (found,) = [
            each
            for each in self.properties(kind)
            if all(each.get(name) == value for name, value in wanted.items())
        ]
        return found


def routes() -> tuple[Route, ...]:
    """The document's, or some until there is one."""
    return read_routes() if DOCUMENT.exists() else SOME_ROUTES


@cache
def placeholders() -> Assets:
    """Folders with one file each, in place of the code."""
    home = Path(tempfile.mkdtemp(prefix="fencepost-assets-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)

    def folder(name: str) -> Path:
        made = home / name
        made.mkdir()
        (made / "placeholder.txt").write_text(name)
        return made

    handlers = sorted({function.folder for function in Fn})
    return Assets(
        dependencies=folder("dependencies"),
        core=folder("core"),
        functions={name: folder(f"function-{name}") for name in handlers},
    )


@cache
def synthesised(name: str) -> Synthesised:
    """A stage as it is committed, in an account that is none."""
    return synthesise(STAGES[name]())


def synthesise(stage: Stage, given: Sequence[Route] | None = None, **context: object) -> Synthesised:
    """A stage, with the feature flags that a deployment has, and with the findings reported instead of raised."""
    with tempfile.TemporaryDirectory(prefix="fencepost-cdk-") as output:
        return _synthesise(stage, Path(output), given or routes(), context)


def _synthesise(
    stage: Stage, output: Path, given: Sequence[Route], context: Mapping[str, object]
) -> Synthesised:
    flags = json.loads((ROOT / "cdk.json").read_text())["context"]
    app = cdk.App(
        context={**flags, "@aws-cdk/core:failSynthOnValidationErrors": False, **context},
        analytics_reporting=False,
        outdir=str(output),
    )
    contents = Contents(assets=placeholders(), routes=given)
    stacks = build(app, stage.check(), contents)
    app.synth()
    templates = {
        stack.stack_name.rpartition("-")[2]: json.loads((output / stack.template_file).read_text())
        for stack in stacks
    }
    report = json.loads((output / "validation-report.json").read_text())
    return Synthesised(
        stage=stage,
        names=Names(stage=stage.name, restored=stage.restored, replaced=stage.replaced),
        templates=templates,
        report=report,
        warned=list(warnings_in(output)),
    )


def warnings_in(output: Path) -> Iterator[str]:
    """The warnings and errors that constructs left in the cloud assembly, and anything of the like in its metadata files."""
    for path in [output / "manifest.json", *output.glob("*.metadata.json")]:
        if path.exists():
            yield from _noted(json.loads(path.read_text()))


def _noted(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if value.get("type") in {"aws:cdk:warning", "aws:cdk:error"}:
            yield str(value.get("data"))
        for each in value.values():
            yield from _noted(each)
    elif isinstance(value, list):
        for each in value:
            yield from _noted(each)


def resolved(value: object) -> str:
    """An ARN or URL of a template as text: parameters by name, references in braces."""
    match value:
        case str():
            return value
        case {"Ref": name}:
            return f"{{{name}}}"
        case {"Fn::GetAtt": [name, attribute]}:
            return f"{{{name}.{attribute}}}"
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(map(resolved, parts))
        case {"Fn::Sub": text}:
            return str(text)
        case {"Fn::ImportValue": name}:
            return f"{{import {name}}}"
        case _:
            raise ValueError(f"cannot read {value!r}")


def statements(role: Resource) -> Iterator[tuple[str, frozenset[str], frozenset[str]]]:
    """Per statement of a role's policies: its id, actions and resources."""
    for policy in role["Properties"].get("Policies", []):
        for each in policy["PolicyDocument"]["Statement"]:
            assert each["Effect"] == "Allow"
            yield (
                each["Sid"],
                frozenset(_many(each["Action"])),
                frozenset(map(resolved, _many(each["Resource"]))),
            )


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
