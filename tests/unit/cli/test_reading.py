"""Options as they are read."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer

from fencepost.cli import yamls
from fencepost.cli.reading import document, instant, json_value, pairs

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("now", "2026-03-01T12:00:00+00:00"),
        ("90s", "2026-03-01T11:58:30+00:00"),
        ("2h", "2026-03-01T10:00:00+00:00"),
        ("7d", "2026-02-22T12:00:00+00:00"),
        ("2026-03-28", "2026-03-28T00:00:00+00:00"),
        ("2026-03-01T02:30:00Z", "2026-03-01T02:30:00+00:00"),
        ("2026-03-01T02:30:00+01:00", "2026-03-01T01:30:00+00:00"),
    ],
)
def test_instants(text, found):
    assert instant(text, NOW) == datetime.fromisoformat(found)


def test_a_length_may_lead_ahead():
    assert instant("2h", NOW, ahead=True) == datetime(2026, 3, 1, 14, tzinfo=UTC)
    assert instant(None, NOW) is None


@pytest.mark.parametrize("text", ["soon", "2026-03-01T02:30:00", "2026-13-01", "5y", "-2h"])
def test_what_names_no_instant_is_refused_with_the_rule(text):
    with pytest.raises(typer.BadParameter, match="RFC 3339"):
        instant(text, NOW)


def test_pairs():
    assert pairs(["app:web", "tier=a=b", "empty:"], "--label") == {"app": "web", "tier": "a=b", "empty": ""}
    with pytest.raises(typer.BadParameter):
        pairs(["app"], "--label")
    with pytest.raises(typer.BadParameter):
        pairs([":web"], "--label")


def test_json_comes_from_the_line_or_from_a_file(tmp_path: Path):
    (tmp_path / "payload.json").write_text('{"a": [1]}')

    assert json_value('{"a": 1}', "--payload") == {"a": 1}
    assert json_value(f"@{tmp_path}/payload.json", "--payload") == {"a": [1]}
    with pytest.raises(typer.BadParameter, match="--payload"):
        json_value("{a: 1}", "--payload")
    with pytest.raises(typer.BadParameter, match="No such file"):
        json_value("@nowhere.json", "--payload")


def test_instants_in_yaml_stay_what_was_written():
    assert yamls.read("at: 2026-12-24T18:00:00Z") == {"at": "2026-12-24T18:00:00Z"}


def test_a_job_that_is_there_twice_is_refused(tmp_path: Path):
    file = tmp_path / "jobs.yaml"
    file.write_text("jobs:\n  a: {tier: bulk}\n  a: {tier: critical}\n")

    with pytest.raises(typer.BadParameter, match="'a' is there twice"):
        document(str(file))


def test_yaml_merges_and_anchors_work():
    text = "base: &base {tier: bulk, overlap: skip}\njob:\n  <<: *base\n  tier: critical\n"

    assert yamls.read(text)["job"] == {"tier": "critical", "overlap": "skip"}


@pytest.mark.parametrize("text", ["a: [", "a: !!python/object:os.system {}", "\x00"])
def test_what_is_no_yaml_is_said_in_one_line(tmp_path: Path, text):
    file = tmp_path / "jobs.yaml"
    file.write_text(text)

    with pytest.raises(typer.BadParameter) as refused:
        document(str(file))

    assert "\n" not in str(refused.value)


def test_what_is_written_reads_as_the_same_and_holds_no_references():
    shared = {"url": "https://example.com"}
    value = {
        "version": 1,
        "jobs": {"a": {"target": shared}, "b": {"target": shared, "x": "2026-01-01", "y": "ü: #"}},
    }

    text = yamls.write(value)

    assert yamls.read(text) == value
    assert "&" not in text
