"""The page and its plots are what the kept figures make of them."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from infra.names import Fn
from infra.settings import AtMost, Pollers
from infra.stages import prod
from tests.bench import counts, figures, page
from tests.bench.peers.contestants import all_of_them, version
from tests.bench.spike import report, stories
from tests.bench.svg import Axis, Series, chart, round_marks

AGAIN = "run `python -m tests.bench page`, or `make bench` to measure anew"


def test_the_page_is_what_figures_counts_and_prices_make_it():
    assert page.PAGE.read_text(encoding="utf-8") == page.written(figures.kept(), counts.expected()), AGAIN


def test_the_plots_are_what_the_figures_make_them_and_the_page_shows_each():
    drawn = report.drawn(figures.kept()["plots"])
    found = {path.stem: path.read_text(encoding="utf-8") for path in report.PLOTS.glob("*.svg")}
    assert found == drawn, AGAIN
    shown = re.findall(r"!\[\w+\]\(plots/(\w+)\.svg\)", page.PAGE.read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(drawn)


def test_every_plot_is_well_formed_and_draws_within_its_frame():
    for name, text in report.drawn(figures.kept()["plots"]).items():
        root = ET.fromstring(text)  # noqa: S314 - the project's own file
        lines = root.findall("{http://www.w3.org/2000/svg}polyline")
        assert lines, name
        for line in lines:
            places = [tuple(map(float, each.split(","))) for each in line.attrib["points"].split()]
            assert all(0 <= x <= 720 and 0 <= y <= 320 for x, y in places), name


def test_a_name_in_a_chart_cannot_break_it():
    text = chart("<&>", Axis("a<b", (0, 1)), Axis("c&d", (0, 1)), [Series("<i>", [(0, 0), (1, 2)])])
    assert ET.fromstring(text) is not None  # noqa: S314 - made here


@pytest.mark.parametrize(
    ("most", "number", "marks"),
    [
        (411_000, 5, [0, 100_000, 200_000, 300_000, 400_000, 500_000]),
        (347, 8, [0, 50, 100, 150, 200, 250, 300, 350]),
    ],
)
def test_marks_are_round_and_reach_the_end(most, number, marks):
    assert round_marks(most, number) == marks


def test_every_story_is_told_by_tier_or_team():
    rows = figures.kept()["spike"]
    groups = {row["group"] for row in rows}
    assert {"critical", "standard", "bulk", "a team in the middle", "the worst team"} <= groups
    assert len({row["story"] for row in rows}) == 8


def test_tiers_are_fed_in_the_stories_as_in_the_stage_of_the_design_point():
    feeds = {
        "critical": Fn.DELIVER_CRITICAL,
        "bulk": Fn.DELIVER_BULK,
        "recovery": Fn.DELIVER_RECOVERY,
        "standard": Fn.DELIVER_STANDARD,
    }
    stage = prod()
    for tier, settings in {**stories.OTHERS, "standard": {"pollers": stories.advised().pollers}}.items():
        feed = stage.polling[feeds[tier]]
        if settings["pollers"] is None:
            assert feed == AtMost(concurrency=settings["concurrency"]), tier
        else:
            assert isinstance(feed, Pollers), tier
            assert feed.minimum == settings["pollers"], tier


def test_who_was_measured_beside_fencepost_is_who_is_pinned():
    rows = figures.kept()["peers"]["rows"]
    assert [(row["name"], row["version"]) for row in rows] == [
        (each.name, version(each.package)) for each in all_of_them()
    ]
    assert all("cpu_ms" in row or row["missing"] for row in rows)


@pytest.mark.parametrize(("p99", "said"), [(0.5, "0.50 s"), (1.25, "1.25 s, 0.25 s too much")])
def test_a_target_that_is_missed_is_said_with_its_excess(p99, said):
    rows = [
        {"story": "812 a second, for three minutes", "group": "standard", "p99": p99},
        {"story": "48,720 in one second", "group": "standard", "p99": 4.0},
    ]
    assert page._targets(rows) == f"{said} and 4.00 s"
