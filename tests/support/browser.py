"""A browser that looks at the console: the machine's own Chromium, driven without waiting longer than it must."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import which
from typing import TYPE_CHECKING

import pytest

from tests.support.live import LiveService

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

CHROMIUM_VARIABLE = "FENCEPOST_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTH, HEIGHT = 1360, 900
PATIENCE_MS = 20_000
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_ENTRY = re.compile(r"console\s+(http://127\.0\.0\.1:\d+/console/\?token=\w+)")


def chromium() -> str:
    """Where the machine's browser lies. Skips the test where there is none, or nothing to drive it with."""
    if importlib.util.find_spec("playwright") is None:
        pytest.skip("nothing to drive a browser with: python scripts/setup.py browser")
    found = os.environ.get(CHROMIUM_VARIABLE) or next(filter(None, map(which, NAMES)), None)
    if found is None:
        pytest.skip(f"no Chromium on this machine ({CHROMIUM_VARIABLE} names one)")
    return found


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser with a profile of its own, closed at the end."""
    path = chromium()
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=_ARGUMENTS)
        yield browser
        browser.close()


def entry(service: LiveService) -> str:
    """The address that the service's banner tells."""
    found = [match[1] for match in map(_ENTRY.search, service.output) if match]
    assert found, "the banner names no console"
    return found[-1]


@contextmanager
def looking(browser: Browser, address: str, *, scheme: str = "light", tall: int = HEIGHT) -> Iterator[Page]:
    """The console in a window; whatever the page complains about, or asks of another host, fails the test."""
    context = browser.new_context(
        viewport={"width": WIDTH, "height": tall},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
        permissions=["clipboard-read", "clipboard-write"],
    )
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    trouble: list[str] = []
    home = address.partition("/console/")[0]
    page.on("pageerror", lambda error: trouble.append(f"error: {error}"))
    page.on("console", lambda said: _complaint(said, trouble))
    page.on("response", lambda answer: trouble.append(answer.url) if answer.status >= 500 else None)
    page.on("request", lambda asked: None if asked.url.startswith(home) else trouble.append(asked.url))
    page.goto(address)
    yield page
    context.close()
    assert trouble == []


def _complaint(said: ConsoleMessage, trouble: list[str]) -> None:
    """What the page reports as an error, but for refused calls: those it shows, and tests look at what it shows."""
    if said.type == "error" and not said.text.startswith("Failed to load resource"):
        trouble.append(said.text)
