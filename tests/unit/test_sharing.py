"""Tests that share a costly process are dealt to one worker."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.sharing import TOGETHER, group_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("nodeid", "group"),
    [
        ("tests/live/test_crash.py::test_x[a@b]", "live"),
        ("tests/functional/cli/test_live.py::test_x", "live"),
        ("tests/browser/test_console.py::test_x", "browser"),
        ("tests/infra/test_service.py::test_x", "infra"),
        ("tests/unit/test_states.py::test_x", None),
    ],
)
def test_a_test_goes_with_its_file(nodeid: str, group: str | None) -> None:
    assert group_of(nodeid) == group


def test_every_group_that_a_file_marks_is_dealt_by_that_name() -> None:
    marked = {
        str(path.relative_to(ROOT)): text.split('xdist_group("')[1].split('"')[0]
        for path in (ROOT / "tests").rglob("test_*.py")
        if 'xdist_group("' in (text := path.read_text()) and path.name != "test_sharing.py"
    }
    assert marked
    assert {path: group_of(path) for path in marked} == marked


def test_every_path_of_a_group_exists() -> None:
    assert all((ROOT / path).exists() for path in TOGETHER)
