"""The dialect: what an expression means, and what is refused with which remedy."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.domain.schedule import CronSchedule, search
from fencepost.domain.schedule.canonical import canonical_text, fixed_text
from fencepost.domain.schedule.fields import MACROS, MAX_LENGTH, parse_cron
from fencepost.domain.schedule.refusals import CronRefusedError, Reason
from fencepost.domain.schedule.search import plain_text
from fencepost.domain.schedule.suggestions import alternative
from tests.support.expressions import near
from tests.support.schedules import expressions, walls

SAME = [
    ("0 9 * * 1-5", "00 9 * * MON-FRI"),
    ("0 9 * * 1-5", " 0\t9 * *  mon,tue,wed,thu,fri "),
    ("0 0 * * 0", "0 0 * * 7"),
    ("0 0 * * *", "@daily"),
    ("0 0 1 1 *", "@ANNUALLY"),
    ("*/15 * * * *", "0,15,30,45 * * * *"),
    ("0 0 1 * 0-6", "0 0 * * *"),
    ("0 0 31 4,6 WED", "0 0 * 4,6 WED"),
    ("0 0 1-30 4 *", "0 0 * 4 *"),
    ("*/6,59,*/10 2 * * *", "*/10,*/6,59 2 * * *"),
]
DIFFERENT = [
    ("*/15 2 * * *", "0,15,30,45 2 * * *"),  # wild and fixed
    ("* 2 * * *", "0-59 2 * * *"),
    ("0 0 1-7 * */7", "0 0 1-7 * 0"),  # both days, and either
    ("0 */24 * * *", "0 0 * * *"),
    ("0 0 1-30 * *", "0 0 * * *"),
]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_equal_meaning_is_equal(one, two):
    assert CronSchedule(cron=one) == CronSchedule(cron=two)
    assert CronSchedule(cron=one).text == one


@pytest.mark.parametrize(("one", "two"), DIFFERENT)
def test_different_meaning_is_not(one, two):
    assert CronSchedule(cron=one) != CronSchedule(cron=two)


@given(expressions())
def test_the_canonical_text_means_the_same_and_stays_as_it_is(text):
    fields = parse_cron(text)
    canonical = canonical_text(fields)
    assert parse_cron(canonical) == fields
    assert canonical_text(parse_cron(canonical)) == canonical


@given(expressions())
def test_the_fixed_text_differs_in_nothing_but_the_star(text):
    fields, fixed = parse_cron(text), parse_cron(fixed_text(parse_cron(text)))
    assert not fixed.wild
    assert (fixed.minutes, fixed.hours, fixed.days, fixed.months, fixed.weekdays, fixed.day_and) == (
        fields.minutes,
        fields.hours,
        fields.days,
        fields.months,
        fields.weekdays,
        fields.day_and,
    )


@given(expressions())
def test_croniter_sees_stars_and_plain_lists_only(text):
    assert set(plain_text(parse_cron(text))) <= set("0123456789,* ")
    assert "*," not in plain_text(parse_cron(text))


def test_each_thread_searches_with_a_cursor_of_its_own():
    """A search moves the cursor of croniter's object, so two threads must not share one."""
    fields, new_year = parse_cron("0 9 * * *"), datetime(2027, 1, 1)  # noqa: DTZ001 - a wall clock
    search._search.cache_clear()
    with ThreadPoolExecutor(1) as pool:
        elsewhere = pool.submit(search.next_match, fields, new_year).result()
    assert search.next_match(fields, new_year) == elsewhere
    assert search._search.cache_info().currsize == 2


def test_a_long_list_is_read_up_to_512_characters():
    words = ",".join(["0"] * 252)
    assert len(f"{words} * * * *") <= MAX_LENGTH
    assert parse_cron(f"{words} * * * *").minutes == (0,)
    with pytest.raises(CronRefusedError) as refused:
        parse_cron(f"{words},0,0,0 * * * *")
    assert refused.value.problems[0].reason is Reason.TOO_LONG


@pytest.mark.parametrize("text", ["0 0\n* * *", "0 0 * * *\n", "0 0 * * *\x00", "０ 0 * * *", "0 0 * * * é"])
def test_only_printable_ascii_blanks_and_tabs(text):
    with pytest.raises(CronRefusedError):
        parse_cron(text)


@pytest.mark.parametrize(
    "text", ["005 * * * *", "* * * * 07-008", "*/060 * * * *", "0 0 * * 1/2", "**  * * * *"]
)
def test_what_other_programs_read_this_one_refuses(text):
    with pytest.raises(CronRefusedError):
        parse_cron(text)


def test_every_faulty_field_is_told():
    with pytest.raises(CronRefusedError) as refused:
        parse_cron("60 24 0 13 8")
    assert [problem.rule.split(" is ")[0] for problem in refused.value.problems] == [
        "minute",
        "hour",
        "day of month",
        "month",
        "day of week",
    ]


MEANT = [
    ("0 12 * * ? *", "0 12 * * *"),  # EventBridge: year last
    ("cron(0 18 ? * 2-6 *)", "0 18 * * MON-FRI"),  # where 1 is Sunday
    ("0 0 12 ? * 2-6", "0 12 * * MON-FRI"),  # Quartz: seconds first
    ("0 0 12 1/5 * ?", "0 12 1/5 * *"),
    ("0 0 12 ? * MON-FRI *", "0 12 * * MON-FRI"),
    ("0 30 9 * * 1-5", "30 9 * * 1-5"),
    ("* * * * * *", "* * * * *"),
    ("*/10 * * * * *", '{"every": "PT10S"}'),
    ("0 0 ? * 1", "0 0 * * 1"),
    ("0 22-2 * * *", "0 22-23,0-2 * * *"),
    ("0 22-2/2 * * *", "0 22,0,2 * * *"),
    ("50-10 * * * *", "50-59,0-10 * * * *"),
    ("59-0 * * * *", "59,0 * * * *"),
    ("0 0 * * FRI-MON", "0 0 * * FRI-SAT,SUN-MON"),
    ("0 0 * NOV-FEB *", "0 0 * NOV-DEC,JAN-FEB *"),
    ("0 0 * * SAT-SUN", "0 0 * * SAT,SUN"),
    ("0 0 28-3 * *", "0 0 28-31,1-3 * *"),
    ("0 0 * * 1/2", "0 0 * * 1-6/2"),
    ("30 9 ? * MONDAY-FRIDAY", "30 9 * * MON-FRI"),
    ("0 9 * SEPTEMBER *", "0 9 * SEP *"),
    ("0 24 * * *", "0 0 * * *"),
    ("*/90 * * * *", '{"every": "PT90M"}'),
    ("0 */36 * * *", '{"every": "PT36H"}'),
    ("cron(0/15 * * * ? *)", "0/15 * * * *"),
    ("rate(5 minutes)", '{"every": "PT5M"}'),
    ("rate(1 day)", '{"every": "P1D"}'),
    ("@every 1h30m", '{"every": "PT1H30M"}'),
]
NOT_TOLD = [
    "",
    "@reboot",
    "@every 1s",
    "0 0 L * *",
    "0 0 30 2 *",
    "0 0 12 1 1 ? 2027",
    "60 * * * *",
    "x" * 10_000,
]


@pytest.mark.parametrize(("text", "meant"), MEANT)
def test_what_was_meant(text, meant):
    assert alternative(text) == meant


@pytest.mark.parametrize("text", NOT_TOLD, ids=lambda text: text[:20])
def test_no_guess_where_none_is_safe(text):
    assert alternative(text) is None


@given(st.text(alphabet="0123456789*/-,?LW#@ MONFRIADEC()", max_size=40))
def test_a_suggestion_is_always_accepted(text):
    meant = alternative(text)
    if meant is not None and not meant.startswith("{"):
        parse_cron(meant)


def reasons(text: str) -> set[Reason]:
    """Why `text` is refused; empty if it is read."""
    try:
        parse_cron(text)
    except CronRefusedError as refused:
        return {problem.reason for problem in refused.problems}
    return set()


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    assert reasons(text) <= set(Reason)
    assert reasons(text) or parse_cron(text).minutes


@given(walls(), st.randoms(use_true_random=False))
def test_the_drawn_expressions_are_of_this_dialect(wall, draw):
    assert reasons(near(wall, draw)) <= {Reason.NEVER_MATCHES}


def test_the_macros_are_short_for_expressions():
    for name, text in MACROS.items():
        assert parse_cron(name) == parse_cron(text)
