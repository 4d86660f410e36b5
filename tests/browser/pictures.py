"""Takes the pictures of docs/console: ``python -m tests.browser.pictures``. It lets a team's jobs run for a while."""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect

from fencepost.runtime.clock import sleep_ms
from tests.browser.story import TEAM, tell
from tests.browser.target import Target
from tests.support.browser import browsing, entry, looking
from tests.support.live import LiveService

FOLDER = Path(__file__).resolve().parents[2] / "docs/console"
RUNS_FOR_MS = 130_000
SETTLES_MS = 1_500
PAGES = [
    ("home", "", "The next 24 hours", 1240),
    ("jobs", "jobs", "card-settlement", 1000),
    ("job", "jobs/card-settlement", "History of the definition", 1180),
    ("job-dst", "jobs/month-end", "clock skips", 1000),
    ("job-edit", "jobs/exchange-rates/edit", "What it will do", 1240),
    ("dead-letters", "dead-letters", "answered 500", 760),
    ("team", "team", "Signing keys", 1000),
]


def main() -> None:
    """Light ones of every page, and a dark one of the first."""
    FOLDER.mkdir(exist_ok=True)
    options = ("--allow-private-targets", "--store", "memory")
    with tempfile.TemporaryDirectory() as folder, Target().serving() as target:
        service = LiveService(Path(folder) / "data", options=options)
        with service.running(), browsing() as browser:
            tell(service, target)
            sleep_ms(RUNS_FOR_MS)
            for name, path, shows, tall in PAGES:
                with looking(browser, f"{entry(service)}#/{TEAM}/{path}", tall=tall) as page:
                    take(page, name, shows)
            with looking(browser, f"{entry(service)}#/{TEAM}", scheme="dark", tall=1240) as page:
                take(page, "home-dark", "The next 24 hours")
            with looking(
                browser, f"{entry(service)}#/{TEAM}/executions/{waited(service)}", tall=1000
            ) as page:
                take(page, "execution", "Where the time went")


def waited(service: LiveService) -> str:
    """A record that had to wait for a slot, or else one that was retried."""
    for job in [f"scan-{number:02}" for number in range(1, 16)]:
        for record in service.executions(TEAM, job):
            if record["waited_from"] and record["state"] == "SUCCEEDED":
                return str(record["id"])
    done = [each for each in service.executions(TEAM, "exchange-rates") if each["state"] == "SUCCEEDED"]
    return str(done[0]["id"])


def take(page: Page, name: str, shows: str) -> None:
    """One picture, once the page shows what it is about."""
    expect(page.get_by_text(shows).first).to_be_visible()
    page.wait_for_timeout(SETTLES_MS)
    page.screenshot(path=FOLDER / f"{name}.png")


if __name__ == "__main__":
    main()
