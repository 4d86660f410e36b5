"""Bounds, jitter and clock changes as options of the command line."""

from __future__ import annotations

import pytest

from fencepost.client import Fencepost
from tests.support.clients import Terminal

URL = ("--url", "https://example.com/hook")
DAILY = ("--cron", "30 2 * * *", "--tz", "Europe/Berlin")


def test_every_bound_of_a_schedule_has_its_option(fencepost: Terminal, payments: Fencepost) -> None:
    bounds = ("--dst-gap", "skip", "--dst-overlap", "both", "--jitter", "10m", "--max-firings", "90")
    span = ("--starts", "2026-06-01", "--ends", "2026-09-01T00:00:00Z", "--exclude", "maintenance")
    assert fencepost("job", "put", "summer", *DAILY, *bounds, *span, *URL).status == 0
    schedule = payments.job("summer").get().schedule
    assert schedule == {
        "cron": "30 2 * * *",
        "timezone": "Europe/Berlin",
        "dst": {"gap": "skip", "overlap": "both"},
        "jitter_seconds": 600,
        "max_firings": 90,
        "start_at": "2026-06-01T00:00:00.000Z",
        "end_at": "2026-09-01T00:00:00.000Z",
        "exclude": ["maintenance"],
    }


def test_a_length_counts_from_now_and_an_interval_has_an_anchor(
    fencepost: Terminal, payments: Fencepost
) -> None:
    every = ("--every", "PT15M", "--anchor", "2026-03-01T00:05:00Z", "--starts", "2h")
    assert fencepost("job", "put", "steps", *every, *URL).status == 0
    schedule = payments.job("steps").get().schedule
    assert schedule["anchor"] == "2026-03-01T00:05:00.000Z"
    assert schedule["start_at"].startswith("2026-03-01T14:02:00")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--jitter", "10m"), "bounds belong to a schedule"),
        (("--every", "PT15M", "--dst-gap", "skip"), "--dst-gap and --dst-overlap belong to --cron"),
        ((*DAILY, "--anchor", "2026-03-01"), "--anchor belongs to --every"),
        ((*DAILY, "--jitter", "soon"), "--jitter is a length"),
        ((*DAILY, "--starts", "June"), "an instant is RFC 3339"),
        ((*DAILY, "--dst-gap", "sideways"), "must be one of after, skip"),
        ((*DAILY, "--jitter", "25h"), "86"),
    ],
)
def test_what_is_wrong_says_so(fencepost: Terminal, words: tuple[str, ...], says: str) -> None:
    ran = fencepost("job", "put", "wrong", *words, *URL)
    assert ran.status != 0
    assert says in " ".join(ran.err.split())


def test_a_preview_with_calendars_is_the_teams(fencepost: Terminal) -> None:
    ran = fencepost(
        "preview",
        "--cron",
        "0 9 * * *",
        "--exclude",
        "maintenance",
        "--after",
        "2026-03-31T12:00:00Z",
        "--count",
        "2",
        "--json",
    )
    assert [(each["at"], each["excluded"]) for each in ran.json["occurrences"]] == [
        ("2026-04-01T09:00:00.000Z", "maintenance"),
        ("2026-04-02T09:00:00.000Z", None),
    ]
    assert fencepost.transport.requests[-1].url.endswith("/v1/teams/payments/preview")


def test_how_much_history_is_kept_has_its_options(fencepost: Terminal, payments: Fencepost) -> None:
    assert fencepost("job", "put", "brief", *DAILY, *URL, "--keep-newest", "50").status == 0
    assert payments.job("brief").get().raw["keep_newest"] == 50
    role = "arn:aws:iam::111122223333:role/payments-deploy"
    words = ("team", "put", "payments", "--principal", role, "--max-records", "100000")
    assert "max_records" in fencepost(*words).err + fencepost(*words).out, "it is the administrators' to set"
    assert fencepost(*words, by="AKIDADMIN").status == 0
    assert payments.get_team().max_records == 100_000
