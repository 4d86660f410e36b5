"""The verdict of `make verify`: what it reads from the ledger, and when it says that a promise was broken."""

from __future__ import annotations

import importlib.util

import pytest

from tests.support.stacks import ROOT


@pytest.fixture(scope="module")
def verify():
    """The script, imported by its path."""
    spec = importlib.util.spec_from_file_location("verify", ROOT / "scripts" / "verify.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["verify"] = module
    spec.loader.exec_module(module)
    return module


def test_a_tier_on_time_has_no_fault(verify):
    found = verify.measured("critical", 3, [12, 40, 4_999])
    assert found.faults == ()
    assert found.line().split() == ["critical", "3", "40", "4999", "4999", "100.0", "%"]


def test_one_late_firing_of_a_hundred_is_within_the_promise_and_two_are_not(verify):
    assert verify.measured("standard", 100, [10] * 99 + [9_000]).faults == ()
    assert verify.measured("standard", 100, [10] * 98 + [9_000] * 2).faults == ("p99 is above 5000 ms",)


def test_what_never_succeeded_is_a_fault_whatever_the_others_did(verify):
    found = verify.measured("bulk", 4, [10, 10, None])
    assert found.faults == ("2 did not succeed",)
    assert "50.0 %" in found.line()


def test_early_beyond_the_published_skew_is_a_fault(verify):
    assert verify.measured("bulk", 1, [-1_900]).faults == ()
    assert verify.measured("bulk", 1, [-2_500]).faults == ("one began 2500 ms early",)


def test_a_tier_of_which_nothing_arrived_can_be_shown(verify):
    assert verify.measured("bulk", 2, []).line().split()[:5] == ["bulk", "0", "-", "-", "-"]
