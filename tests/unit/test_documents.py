"""What the documents say is there, is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEST_NAME = re.compile(r"`(test_\w+)`")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def every_test() -> set[str]:
    """The names of all tests of the project."""
    found = set[str]()
    for path in (ROOT / "tests").rglob("test_*.py"):
        found.update(re.findall(r"^\s*(?:async )?def (test_\w+)", path.read_text(), re.MULTILINE))
    return found


def test_the_readme_opens_with_the_two_commands() -> None:
    first = (ROOT / "README.md").read_text().split("```")[1]
    assert [line.split("#")[0].strip() for line in first.strip().splitlines()] == ["make run", "make test"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_test_that_a_page_names_exists(page: Path) -> None:
    missing = set(TEST_NAME.findall(page.read_text())) - every_test()
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert not broken
