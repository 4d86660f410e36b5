"""Rules of `infra/` itself: what it may know of the service, what it ships with, and that no lock names a machine."""

from __future__ import annotations

import ast
import json
import re

import pytest

from infra.deploy import HOME, PROGRAM, command
from infra.node import node, npm
from tests.support.stacks import ROOT

pytestmark = pytest.mark.xdist_group("infra")


def imported():
    """What each module of infra imports, by module."""
    for path in sorted((ROOT / "infra").rglob("*.py")):
        if "node_modules" in path.parts:
            continue
        for node_ in ast.walk(ast.parse(path.read_text())):
            if isinstance(node_, ast.ImportFrom) and node_.module:
                yield path.name, node_.module
            elif isinstance(node_, ast.Import):
                for name in node_.names:
                    yield path.name, name.name


def test_of_the_service_infra_knows_the_table_schema_and_the_price_list_alone():
    known = {module for _, module in imported() if module.partition(".")[0] in {"fencepost", "functions"}}
    assert known == {"fencepost.adapters.dynamodb.schema", "fencepost.domain.sizing.prices"}


def test_the_service_knows_nothing_of_infra():
    for folder in ("layers/core/python", "functions"):
        for path in (ROOT / folder).rglob("*.py"):
            words = "infra" if "client" in path.parts else "infra|aws_cdk"
            assert not re.search(rf"^\s*(from|import) ({words})\b", path.read_text(), re.MULTILINE), path


def test_tests_need_no_command_line_of_the_cdk():
    """Only a deployment installs it."""
    users = {name for name, module in imported() if module == "infra.deploy"}
    assert users == set()


def test_the_command_line_is_pinned_and_its_lock_names_no_registry():
    wanted = json.loads((HOME / "package.json").read_text())["dependencies"]
    lock = (HOME / "package-lock.json").read_text()
    packages = json.loads(lock)["packages"]
    assert set(packages) == {"", *(f"node_modules/{name}" for name in wanted)}
    for name, version in wanted.items():
        entry = packages[f"node_modules/{name}"]
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)
        assert entry["version"] == version
        assert entry["integrity"].startswith("sha512-")
        assert "resolved" not in entry
    assert "omit-lockfile-registry-resolved=true" in (HOME / ".npmrc").read_text()


def test_deployments_run_on_the_packaged_node_and_this_python():
    words = command(["deploy", "--all", "-c", "stage=dev"])
    assert words[:2] == [str(node()), str(PROGRAM)]
    assert words[-4:] == ["deploy", "--all", "-c", "stage=dev"]
    app = words[words.index("--app") + 1]
    assert app.endswith(" -m infra.app")
    assert node().is_file()
    assert npm()[0] == str(node())


def test_every_recommended_flag_is_set():
    """Left out, the command line complains, and templates change with its version."""
    flags = json.loads((ROOT / "cdk.json").read_text())["context"]
    assert len(flags) >= 89
    assert flags["@aws-cdk/core:validateAgainstDefaultRules"] is True
    assert flags["@aws-cdk/core:defaultCrossStackReferences"] == "strong"
    assert list(flags) == sorted(flags)
