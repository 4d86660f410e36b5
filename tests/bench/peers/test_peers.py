"""The bench of other schedulers: its arithmetic, and that it can only run what is pinned."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.bench.peers import contestants
from tests.bench.peers.__main__ import merged
from tests.bench.peers.contestants import all_of_them, version
from tests.bench.peers.lateness import late
from tests.bench.peers.processes import Process, parsed, spent_ms, tree

NOON = 1_772_452_800.0


def test_who_never_came_and_who_came_twice_is_told_beside_lateness():
    arrivals = [
        ("/0", NOON + 0.01),
        ("/1", NOON + 0.5),
        ("/1", NOON + 0.7),
        ("/0", NOON + 61),
        ("/2", NOON - 1),
    ]
    found = late(arrivals, 3, [NOON, NOON + 60])
    assert found is not None
    assert (round(found.p50), round(found.p99), round(found.max)) == (500, 1000, 1000)
    assert (found.missing, found.doubled) == (3, 1)
    assert late([("/2", NOON - 1)], 3, [NOON]) is None


def test_cpu_is_that_of_a_process_its_living_and_its_dead_children():
    line = "7 (a (b) c) S 3 7 7 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 5 6 7"
    tick = 1000 / os.sysconf("SC_CLK_TCK")
    assert parsed(line) == Process(parent=3, spent_ms=100 * tick)
    family = {1: Process(0, 1), 2: Process(1, 2), 3: Process(2, 3), 9: Process(0, 4)}
    assert tree([2, 8], family) == {2, 3}


def test_cpu_of_this_very_process_grows_and_a_child_can_be_told_apart():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        before, apart = spent_ms([os.getpid()], [child.pid])
        sum(range(3_000_000))
        after, _ = spent_ms([os.getpid()], [child.pid])
        assert child.stdin is not None
        child.stdin.close()
    assert after > before > 0
    assert apart >= 0


def test_every_contestant_is_pinned():
    assert {each.package for each in all_of_them()} == {
        "fencepost",
        "apscheduler",
        "celery",
        "rq",
        "procrastinate",
        "bullmq",
    }
    for each in all_of_them():
        assert re.fullmatch(r"\d+(\.\d+)+", version(each.package)), each.name


def test_the_node_lock_names_no_registry_and_the_exact_versions():
    folder = contestants.NODE
    declared = json.loads((folder / "package.json").read_text())["dependencies"]
    packages = json.loads((folder / "package-lock.json").read_text())["packages"]
    assert {name: packages[f"node_modules/{name}"]["version"] for name in declared} == declared
    assert not any("resolved" in package for package in packages.values())
    assert all("integrity" in package for name, package in packages.items() if name)


def test_what_runs_in_another_venv_imports_nothing_of_the_project():
    subjects = Path(contestants.__file__).with_name("subjects")
    for module in subjects.glob("*.py"):
        imported = re.findall(r"^(?:from|import) ([\w.]+)", module.read_text(), re.MULTILINE)
        own = [each for each in imported if each.startswith(("fencepost", "functions", "tests"))]
        assert all(each.startswith("tests.bench.peers.subjects") for each in own), module.name


def test_who_is_measured_again_replaces_its_own_row_and_no_other():
    kept = {"rows": [{"name": each.name, "p50": 1.0} for each in all_of_them()]}
    rows = merged(kept, [{"name": "RQ", "p50": 2.0}])
    assert [row["name"] for row in rows] == [each.name for each in all_of_them()]
    assert [row["name"] for row in rows if row["p50"] == 2.0] == ["RQ"]
    assert merged(None, rows[1:2]) == rows[1:2]
