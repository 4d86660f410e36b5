"""Marks: nobody waits in a lane that the tick does not know of (protocol E1)."""

from __future__ import annotations

from fencepost.application import keys
from fencepost.application.admission import waiting
from fencepost.application.admission.marks import Marks
from fencepost.domain.model import Execution
from tests.support.admissions import Office


def _joined(office: Office, number: int = 0) -> Execution:
    record = office.firing(number)
    joined = waiting.enter(office.context, record, LANE)
    assert joined is not None
    return joined


LANE = "B#payments#standard#0"


def test_E1_a_mark_is_put_up_once_and_taken_down_when_the_lane_is_empty() -> None:
    office = Office.opened()
    marks = Marks(office.context)
    assert marks.put_up("payments", LANE, office.now)
    assert not marks.put_up("payments", LANE, office.now)
    assert marks.read_backlog_lanes("payments", office.now) == (LANE,)
    assert marks.take_down("payments", LANE)
    assert marks.read_backlog_lanes("payments", office.now) == ()


def test_E1_the_mark_of_a_lane_in_which_somebody_waits_stays() -> None:
    office = Office.opened()
    marks = Marks(office.context)
    _joined(office)
    marks.put_up("payments", LANE, office.now)
    assert not marks.take_down("payments", LANE)
    assert office.marks() == [f"payments|{LANE}"]
    assert not marks.put_up("payments", LANE, office.now)


def test_E1_taking_down_a_mark_that_is_gone_makes_none() -> None:
    office = Office.opened()
    marks = Marks(office.context)
    assert marks.take_down("payments", LANE)
    assert not office.marks()


def test_E1_marks_of_teams_and_kinds_of_lanes_are_kept_apart() -> None:
    office = Office.opened()
    marks = Marks(office.context)
    marks.put_up("payments", LANE, office.now)
    marks.put_up("payments", keys.overlap_lane("a" * 20), office.now)
    marks.put_up("pay", "B#pay#bulk#3", office.now)
    assert marks.read_backlog_lanes("payments", office.now) == (LANE,)
    assert marks.read_overlap_lanes("payments") == (keys.overlap_lane("a" * 20),)
    assert marks.read_backlog_lanes("pay", office.now) == ("B#pay#bulk#3",)


def test_E4_that_a_team_is_marked_is_known_elsewhere_within_a_second() -> None:
    office = Office.opened()
    office.team()
    other = office.another()
    assert not other.doors.backlog.crowded(office.teams["payments"], office.now)
    Marks(office.context).put_up("payments", LANE, office.now)
    assert not other.doors.backlog.crowded(office.teams["payments"], office.now)
    office.clock.advance(seconds=1)
    assert other.doors.backlog.crowded(office.teams["payments"], office.now)
