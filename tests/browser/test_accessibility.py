"""What an accessibility checker finds on every page, in light and in dark: nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Console
from tests.browser.story import TEAM, tell
from tests.support.browser import looking
from tests.support.live import until

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
AXE = Path(__file__).resolve().parents[2] / "console/node_modules/axe-core/axe.min.js"


@pytest.fixture(scope="module")
def told(served: Console) -> str:
    """A team with jobs, records and a dead letter; the id of a record."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed: make console")
    tell(served.service, served.target)
    letters = f"/v1/teams/{TEAM}/dead-letters"
    dead = until(lambda: served.service.call("GET", letters)["items"] or None, 90, "a dead letter")
    return str(dead[0]["id"])


def menu(page: Page) -> None:
    page.get_by_role("button", name="More").click()


def pause(page: Page) -> None:
    page.get_by_role("button", name="Pause…").click()


def review(page: Page) -> None:
    page.get_by_label("Description").fill("another")
    page.get_by_role("button", name="Review the change").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def redrive(page: Page) -> None:
    page.get_by_role("button", name="Redrive").first.click()


def nothing(page: Page) -> None:
    """The page as it is."""


PAGES: list[tuple[str, str, Callable[[Page], None]]] = [
    ("", "The next 24 hours", nothing),
    ("jobs", "card-settlement", nothing),
    ("jobs/card-settlement", "History of the definition", nothing),
    ("jobs/card-settlement", "History of the definition", menu),
    ("jobs/card-settlement", "History of the definition", pause),
    ("jobs/balance-snapshot", "Ledger migration", nothing),
    ("jobs/card-settlement/edit", "What it will do", review),
    ("new", "What it will do", nothing),
    ("executions/DEAD", "Where the time went", nothing),
    ("dead-letters", "answered 500", nothing),
    ("dead-letters", "answered 500", redrive),
    ("team", "Signing keys", nothing),
    ("nowhere", "There is no such page", nothing),
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("path", "shows", "act"), PAGES, ids=[f"{path or 'home'} {act.__name__}" for path, _, act in PAGES]
)
def test_nothing_is_found(
    served: Console, told: str, scheme: str, path: str, shows: str, act: Callable[[Page], None]
):
    place = f"{served.address}#/{TEAM}/{path.replace('DEAD', told)}"
    with looking(served.browser, place, scheme=scheme) as page:
        expect(page.get_by_text(shows).first).to_be_visible()
        act(page)
        assert violations(page) == []


def test_the_first_page_of_all(served: Console, told: str):
    with looking(served.browser, served.address) as page:
        expect(page.get_by_role("heading", name="Which team?")).to_be_visible()
        assert violations(page) == []


def violations(page: Page) -> list[str]:
    """What breaks a rule of WCAG 2.2 A and AA or a best practice, and where."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found: dict[str, Any] = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{each['impact']}: {each['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for each in found["violations"]
        for node in each["nodes"]
    ]
