"""The clock and the dice: the only two places where the world gets in unasked."""

from __future__ import annotations

import re
from datetime import UTC, timedelta

from fencepost.runtime.clock import SystemClock, monotonic_ms, monotonic_seconds, sleep_ms, utc_now
from fencepost.runtime.entropy import SystemEntropy, token_bytes, token_hex, uniform


def test_the_present_is_aware_and_in_utc():
    assert utc_now().tzinfo is UTC
    assert utc_now().utcoffset() == timedelta(0)


def test_sleeping_takes_at_least_as_long_as_asked():
    started = monotonic_ms()
    sleep_ms(5)
    assert monotonic_ms() - started >= 5


def test_sleeping_for_nothing_or_less_returns_at_once():
    sleep_ms(0)
    sleep_ms(-1_000)


def test_tokens_are_of_the_asked_length_and_never_alike():
    assert len(token_hex(8)) == 16
    assert len(token_bytes(32)) == 32
    assert len({token_hex() for _ in range(1_000)}) == 1_000


def test_uniform_stays_below_one():
    assert all(0 <= uniform() < 1 for _ in range(1_000))


def test_the_clock_port_waits_on_this_machines_clock():
    clock = SystemClock()
    started, began = clock.now(), monotonic_seconds()
    clock.sleep(timedelta(microseconds=4_100))
    clock.sleep(timedelta(seconds=-3_600))
    assert monotonic_seconds() - began >= 0.005, "what is finer than a millisecond is rounded up: never early"
    assert started < clock.now()


def test_the_entropy_port_gives_tokens_that_fit_a_uid():
    entropy = SystemEntropy()
    tokens = {entropy.token() for _ in range(1_000)}
    assert len(tokens) == 1_000
    assert all(re.fullmatch(r"[a-z2-7]{20}", token) for token in tokens)
    assert 0 <= entropy.fraction() < 1
