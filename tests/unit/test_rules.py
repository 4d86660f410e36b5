"""Every rule of tests/rules.toml has a test that names it, and no test names a rule that is not there."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ID = r"[A-Z]\d{1,2}"
IN_A_NAME = re.compile(rf"^test_((?:{ID}_)+)")
IN_A_DOCSTRING = re.compile(rf"\b{ID}\b")
AT_LEAST = 100


@cache
def rules() -> dict[str, str]:
    """Id to wording, the promises included."""
    found: dict[str, str] = {}
    for chapter in tomllib.loads((TESTS / "rules.toml").read_text(encoding="utf-8")).values():
        for rule, says in chapter.items():
            assert rule not in found, f"{rule} is listed twice"
            found[rule] = says["says"] if isinstance(says, dict) else says
    return found


def promises() -> dict[str, list[str]]:
    """Each promise with the rules that keep it."""
    listed = tomllib.loads((TESTS / "rules.toml").read_text(encoding="utf-8"))["promises"]
    return {promise: facts["by"] for promise, facts in listed.items()}


@cache
def named() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Rules to the tests that carry them in their names, and to those that do in their docstrings."""
    by_name, by_docstring = defaultdict(list), defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
                continue
            place = f"{path.relative_to(TESTS)}::{node.name}"
            carried = IN_A_NAME.match(node.name)
            for rule in re.findall(ID, carried[1]) if carried else ():
                by_name[rule].append(place)
            for rule in IN_A_DOCSTRING.findall(ast.get_docstring(node) or ""):
                by_docstring[rule].append(place)
    return by_name, by_docstring


def test_every_rule_has_a_test_that_names_it():
    by_name, by_docstring = named()
    kept_by_others = {promise for promise, by in promises().items() if all(by_name[rule] for rule in by)}
    assert rules().keys() - by_name.keys() - by_docstring.keys() - kept_by_others == set()


def test_no_test_names_a_rule_that_is_not_listed():
    by_name, _ = named()
    assert {rule: tests for rule, tests in by_name.items() if rule not in rules()} == {}


def test_a_promise_is_kept_by_rules_that_are_listed():
    assert all(by and set(by) <= rules().keys() - promises().keys() for by in promises().values())


def test_a_rule_is_one_sentence():
    assert len(rules()) >= AT_LEAST
    assert {rule: says for rule, says in rules().items() if not re.fullmatch(r"[A-Z].{15,110}\.", says)} == {}
