"""Reading answers: what is not known is kept, what is missing is said."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.client import Execution, Health, Job, Team, UnexpectedAnswerError
from fencepost.client.decoding import decode

HEALTH = {"status": "ok", "tzdata": "2026.2", "now": "2026-03-01T12:00:00.000Z", "shards": 4}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(list(HEALTH)), inner),
    max_leaves=20,
)


def test_fields_of_a_newer_service_are_kept_in_raw():
    health = decode(Health, {**HEALTH, "mood": "sunny"})

    assert health.now == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert health.raw["mood"] == "sunny"


def test_fields_that_an_older_service_leaves_out_have_their_defaults():
    health = decode(Health, HEALTH)

    assert health.watermark_age_seconds is None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"status": ...}, "Health.status is missing"),
        ({"status": 7}, "Health.status: 7 is no str"),
        ({"now": "noon"}, "Health.now"),
        ({"now": "2026-03-01T12:00:00"}, "naive"),
        ({"shards": "four"}, "'four' is no int"),
    ],
)
def test_what_cannot_be_read_is_named(change, says):
    raw = {name: value for name, value in {**HEALTH, **change}.items() if value is not ...}

    with pytest.raises(UnexpectedAnswerError, match=says):
        decode(Health, raw)


@pytest.mark.parametrize("kind", [Health, Job, Execution, Team])
@given(raw=JSON)
def test_no_answer_breaks_the_reader(kind, raw):
    try:
        found = decode(kind, raw)
    except UnexpectedAnswerError:
        return
    assert found.raw == raw
