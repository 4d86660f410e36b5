"""`fencepost size` asks no stage: it reckons."""

from __future__ import annotations

import json

LINE = ("size", "--jobs", "10000000", "--rate", "116", "--spike", "48720")


def test_settings_bill_and_others_are_shown(fencepost) -> None:
    printed = fencepost(*LINE)
    assert printed.status == 0
    for text in (
        "shards",
        "64",
        "pollers",
        "lease and outcome",
        "for a million firings",
        "EventBridge Scheduler",
    ):
        assert text in printed.out
    assert "not verified" in printed.out


def test_json_adds_up(fencepost) -> None:
    found = json.loads(fencepost("--json", *LINE).out)
    for bill in found["bills"].values():
        assert abs(sum(line["dollars"] for line in bill["lines"]) - bill["dollars_a_month"]) < 0.01
    assert found["settings"]["shards"] == 64
    assert found["others"][0]["name"].startswith("EventBridge")


def test_a_small_stage_needs_no_more_than_the_least(fencepost) -> None:
    settings = json.loads(fencepost("--json", "size", "--jobs", "100", "--rate", "0.1").out)["settings"]
    assert (settings["shards"], settings["pollers"]) == (4, 2)


def test_nonsense_is_refused_in_one_line(fencepost) -> None:
    printed = fencepost("size", "--jobs", "0", "--rate", "1")
    assert printed.status == 2
    assert "--jobs" in printed.err
