"""`make recover`: every share once, the counts of all together, and a failure that says which share it was."""

from __future__ import annotations

import importlib.util
import io
import json
import sys

import pytest

from fencepost.domain.instants import from_wire
from fencepost.runtime.scanning import recovers, share
from tests.support.stacks import ROOT


@pytest.fixture(scope="module")
def recover():
    """The script, imported by its path."""
    spec = importlib.util.spec_from_file_location("recover", ROOT / "scripts" / "recover.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["recover"] = module
    spec.loader.exec_module(module)
    return module


class Lambda:
    """Answers as the sweep does; the share `fails` does not get through."""

    def __init__(self, fails=None):
        self.fails = fails
        self.asked = []

    def invoke(self, FunctionName, Payload):  # noqa: N803 - boto3's names
        self.asked.append((FunctionName, json.loads(Payload)))
        if len(self.asked) - 1 == self.fails:
            return {"FunctionError": "Unhandled", "Payload": io.BytesIO(b'{"errorMessage": "timed out"}')}
        found = {"forgotten_executions": 2, "timerless_jobs": 1, "unreadable": ["J#x/J"]}
        return {"Payload": io.BytesIO(json.dumps(found).encode())}


def test_every_share_is_asked_for_once_in_the_words_that_the_sweep_reads(recover):
    client = Lambda()
    list(recover.reports(client, "fencepost-dev-sweep", 3))
    assert {name for name, _ in client.asked} == {"fencepost-dev-sweep"}
    now = from_wire("2026-03-01T12:00:00Z")
    assert [share(event, now) for _, event in client.asked] == [(0, 3), (1, 3), (2, 3)]
    assert all(recovers(event) for _, event in client.asked)


def test_the_counts_of_all_shares_are_added_up(recover):
    counts = recover.total(list(recover.reports(Lambda(), "f", 3)))
    assert counts == {"forgotten_executions": 6, "timerless_jobs": 3, "unreadable": 3}


def test_a_share_that_fails_is_named(recover):
    with pytest.raises(RuntimeError, match="share 1 of 3 failed: timed out"):
        list(recover.reports(Lambda(fails=1), "f", 3))
