"""What an HTTP answer means for a firing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.domain.outcome import (
    EXCERPT_BYTES,
    RETRY_AFTER_MAX,
    Accepted,
    Blocked,
    CircuitOpen,
    Delivered,
    Failed,
    Outcome,
    OutcomeKind,
    Refused,
    TimedOut,
    WorkerLost,
    classify_http,
    clip,
    error_of,
    excerpt,
    excerpt_of,
    retry_after,
    status_of,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALL: list[Outcome] = [
    Delivered(status=200, excerpt="a"),
    Accepted(excerpt="b"),
    Failed(status=500, error="answered 500", excerpt="c"),
    Refused(status=410, error="answered 410", excerpt="d"),
    TimedOut(error="late"),
    Blocked(reason="inside"),
    CircuitOpen(),
    WorkerLost(),
]


def test_every_word_of_the_record_has_its_outcome():
    assert {outcome.kind for outcome in ALL} == set(OutcomeKind)
    assert [status_of(outcome) for outcome in ALL] == [200, 202, 500, 410, None, None, None, None]
    assert [excerpt_of(outcome) for outcome in ALL] == ["a", "b", "c", "d", "", "", "", ""]
    assert [bool(error_of(outcome)) for outcome in ALL] == [False, False, True, True, True, True, True, True]


@pytest.mark.parametrize("status", [200, 201, 203, 204, 206, 250, 299])
def test_a_success_is_delivered(status):
    assert classify_http(status, {}, b"ok", NOW) == Delivered(status=status, excerpt="ok")


def test_202_begins_long_work():
    assert classify_http(202, {}, b"{}", NOW) == Accepted(status=202, excerpt="{}")


@pytest.mark.parametrize(
    "status", [100, 101, 300, 301, 304, 400, 401, 403, 404, 408, 409, 429, 500, 503, 599, 999]
)
def test_R02_everything_else_is_tried_again(status):
    outcome = classify_http(status, {}, b"", NOW)
    assert isinstance(outcome, Failed)
    assert outcome.status == status
    assert str(status) in outcome.error


def test_410_means_never_again():
    assert isinstance(classify_http(410, {}, b"gone", NOW), Refused)


@pytest.mark.parametrize("name", ["Fencepost-Never-Again", "fencepost-never-again", "FENCEPOST-NEVER-AGAIN"])
@pytest.mark.parametrize("status", [302, 400, 404, 500, 503])
def test_the_header_means_never_again_on_any_answer_that_is_no_success(name, status):
    assert isinstance(classify_http(status, {name: " True "}, b"", NOW), Refused)


def test_the_header_takes_no_success_back_and_needs_its_word():
    assert isinstance(classify_http(200, {"Fencepost-Never-Again": "true"}, b"", NOW), Delivered)
    assert isinstance(classify_http(202, {"Fencepost-Never-Again": "true"}, b"", NOW), Accepted)
    for value in ("false", "", "1", "truest"):
        assert isinstance(classify_http(500, {"Fencepost-Never-Again": value}, b"", NOW), Failed)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        (" 7 ", 7),
        ("3600", 3600),
        ("3601", 3600),
        ("9" * 400, 3600),
        ("Sun, 01 Mar 2026 12:00:30 GMT", 30),
        ("Sun, 01 Mar 2026 12:00:30 -0000", 30),
        ("Sun, 01 Mar 2026 13:00:30 +0100", 30),
        ("Sunday, 01-Mar-26 12:01:00 GMT", 60),
        ("Sun Mar  1 12:01:00 2026", 60),
        ("Sun, 01 Mar 2026 11:59:59 GMT", 0),
        ("Fri, 01 Jan 2100 00:00:00 GMT", 3600),
    ],
)
def test_retry_after_is_read_in_both_forms_and_clamped(value, seconds):
    outcome = classify_http(503, {"Retry-After": value}, b"", NOW)
    assert isinstance(outcome, Failed)
    assert outcome.retry_after == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "value", ["", "soon", "-1", "1.5", "1e3", "0x10", "٣", "Sun, 99 Mar 2026 99:99:99 GMT", "Mon", "\x00"]
)
def test_an_unreadable_retry_after_is_none(value):
    assert retry_after(value, NOW) is None


@given(st.text(max_size=60))
def test_whatever_retry_after_says_it_is_within_the_clamp(value):
    wait = retry_after(value, NOW)
    assert wait is None or timedelta(0) <= wait <= RETRY_AFTER_MAX


@given(st.binary(max_size=2000))
def test_whatever_the_bytes_an_excerpt_is_short_printable_text(body):
    text = excerpt(body)
    assert len(text.encode()) <= EXCERPT_BYTES
    assert all(char.isprintable() or char in "\n\t" for char in text)


def test_an_excerpt_is_cut_between_characters():
    assert excerpt("é".encode() * 300) == "é" * 256
    assert excerpt(b"a" + "é".encode() * 300).startswith("aéé")
    assert excerpt(b"ok\x00\x1b[31m\r\n") == "ok\ufffd\ufffd[31m\ufffd\n"
    assert clip("aéé", 4) == "aé"
    assert clip("\udcff", 4) == "?"
