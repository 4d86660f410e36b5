"""Metrics are what the contract says, to the letter: whoever reads them was built from the same page."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

from fencepost.adapters.seam import PortCall, seamed
from fencepost.application.store import Cancelled, Cause, Reason, StoreBusyError
from fencepost.domain.model import Tier
from fencepost.runtime.observability import SPECS, Metric, Telemetry, observability

CONTRACT = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"
ROW = re.compile(r"\| `(\w+)` \| (\w+) \| ([\w, ]+) \|")


@pytest.fixture
def lines():
    return []


@pytest.fixture
def telemetry(lines):
    return Telemetry("test", lambda line: lines.append(json.loads(line)))


def test_the_code_and_the_page_name_the_same_metrics():
    page = {name: (unit, dimensions) for name, unit, dimensions in ROW.findall(CONTRACT.read_text())}
    code = {
        metric.value: (spec.unit.value, "Stage, Tier" if spec.by_tier else "Stage")
        for metric, spec in SPECS.items()
    }
    assert code == page
    assert set(SPECS) == set(Metric)


def test_a_metric_by_tier_is_published_under_both_sets_and_under_no_other(telemetry, lines):
    telemetry.add(Metric.FIRED, tier=Tier.CRITICAL)
    telemetry.add(Metric.FIRED, tier=Tier.CRITICAL)
    telemetry.add(Metric.LATENESS, 112, tier=Tier.CRITICAL)
    telemetry.flush()
    (line,) = lines
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == "Fencepost"
    assert directive["Dimensions"] == [["Stage"], ["Stage", "Tier"]]
    assert (line["Stage"], line["Tier"]) == ("test", "critical")
    assert (line["Fired"], line["LatenessMs"]) == ([1.0, 1.0], [112.0])
    assert {each["Name"]: each["Unit"] for each in directive["Metrics"]} == {
        "Fired": "Count",
        "LatenessMs": "Milliseconds",
    }


def test_the_service_never_becomes_a_dimension(telemetry, lines, monkeypatch):
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "fencepost")
    telemetry.add(Metric.TICK_RAN)
    telemetry.flush()
    assert lines[0]["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [["Stage"]]


def test_teams_travel_as_fields_and_each_team_has_a_line_of_its_own(telemetry, lines):
    telemetry.add(Metric.BACKLOG, 7, team="payments")
    telemetry.add(Metric.SLOTS_IN_USE, 5, team="payments")
    telemetry.add(Metric.BACKLOG, 1, team="logistics")
    telemetry.flush()
    assert {line["team"]: line["Backlog"] for line in lines} == {"payments": [7.0], "logistics": [1.0]}
    assert all(line["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [["Stage"]] for line in lines)


def test_more_samples_than_a_line_holds_are_split(telemetry, lines, capsys):
    for sample in range(250):
        telemetry.add(Metric.CLAIM_LAG, sample)
    telemetry.flush()
    assert [len(line["ClaimLagMs"]) for line in lines] == [99, 99, 52]
    assert sorted(value for line in lines for value in line["ClaimLagMs"]) == list(map(float, range(250)))
    assert capsys.readouterr().out == "", "nothing but what was asked for is written"


def test_what_was_flushed_is_not_written_again(telemetry, lines):
    telemetry.add(Metric.TICK_RAN)
    telemetry.flush()
    telemetry.flush()
    assert len(lines) == 1


class Store:
    """Answers as it is told."""

    def __init__(self, answer):
        self._answer = answer

    def transact(self):
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def test_the_seam_counts_what_was_throttled(telemetry, lines):
    causes = (Cause.THROTTLED, Cause.CONDITION, Cause.THROTTLED)
    cancelled = Cancelled(tuple(map(Reason, causes)))
    assert seamed(Store(cancelled), "store", telemetry.around).transact() is cancelled
    with pytest.raises(StoreBusyError):
        seamed(Store(StoreBusyError("slow down")), "store", telemetry.around).transact()
    telemetry.flush()
    assert lines[0]["Throttled"] == [2.0, 1.0]
    assert telemetry.around(PortCall(port="store", method="get"), lambda: 5) == 5


def test_log_lines_and_metrics_share_a_stream():
    stream = io.StringIO()
    observed = observability("test", stream)
    observed.logger.info("batch", extra={"messages": 3})
    observed.telemetry.add(Metric.TICK_RAN)
    observed.telemetry.flush()
    log, metric = map(json.loads, stream.getvalue().splitlines())
    assert (log["message"], log["messages"], log["stage"], log["service"]) == (
        "batch",
        3,
        "test",
        "fencepost",
    )
    assert metric["TickRan"] == [1.0]
