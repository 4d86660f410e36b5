"""Global options may stand anywhere on the line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.cli.arguments import hoisted


@pytest.mark.parametrize(
    ("line", "moved"),
    [
        ("job list", "job list"),
        ("job list --json", "--json job list"),
        ("job get x --team ops --json", "--team ops --json job get x"),
        ("--team a job get x --team=b", "--team a --team=b job get x"),
        ("job put x --payload -- --json --team t", "job put x --payload -- --json --team t"),
        ("job get --team", "--team job get"),
        ("job list --teams x", "job list --teams x"),
        ("", ""),
    ],
)
def test_global_options_come_first(line, moved):
    assert hoisted(line.split()) == moved.split()


@given(
    st.lists(
        st.sampled_from(["job", "--json", "--team", "--team=x", "--endpoint", "y", "--", "--limit", "5"])
    )
)
def test_no_word_is_lost_and_doing_it_twice_changes_nothing(words):
    once = hoisted(words)

    assert sorted(once) == sorted(words)
    assert hoisted(once) == once
