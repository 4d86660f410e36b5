"""(h) What a calendar excludes is skipped, alone and with that reason, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from tests.simulation.checkers.facts import Change, Facts, Item
from tests.simulation.kernel import SECOND
from tests.simulation.oracle import ms

REMEMBERED = 40 * SECOND
"""How long before it was written a claim may have read the calendar: it is remembered for five seconds, and calls take
their time."""


def claimed(facts: Facts, change: Change, new: Item, instant: int, rules: Item) -> Iterator[str]:
    """What is wrong with a claim, by the versions of the calendars that its writer may have read."""
    verdicts = {
        any(excludes(item, instant) for item in chosen)
        for chosen in _known(facts, new["team"], rules["schedule"].get("exclude", ()), change)
    }
    if new["state"] == "SKIPPED" and new.get("reason") == "excluded":
        if True not in verdicts:
            yield "skipped as excluded, and no calendar of its job excludes it"
        if "until" in new:
            yield "skipped as excluded, together with others"
    elif verdicts == {True}:
        yield f"{new['state']}, though a calendar of its job excludes it"


def excludes(calendar: Item, instant: int) -> bool:
    """An instant lies in one of the spans, whose ends are free."""
    if calendar.get("gone"):
        return False
    for span in calendar["entries"].get("instants", ()):
        first, _, last = span.partition("/")
        if ms(datetime.fromisoformat(first)) <= instant < ms(datetime.fromisoformat(last)):
            return True
    return False


def _known(facts: Facts, team: str, names: tuple[str, ...], change: Change) -> list[list[Item]]:
    """The calendars as they may have been known: each version that was valid lately. Teams have one calendar here."""
    if not names:
        return [[]]
    read = change.at if change.read is None else min(change.read, change.at)
    versions = facts.calendars.get(team, [])
    found: list[list[Item]] = []
    for place, version in enumerate(versions):
        ends = versions[place + 1].at if place + 1 < len(versions) else change.at + 1
        if version.at <= change.at and ends >= read - REMEMBERED:
            found.append([version.item])
    if not versions or versions[0].at > read - REMEMBERED:
        found.append([])
    return found
