"""The installed program against the real local service: over the socket, signed, on the real clock."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from fencepost.cli.app import app
from tests.support.live import LiveService

pytestmark = [pytest.mark.live, pytest.mark.xdist_group("live")]

PROGRAM = str(Path(sys.executable).with_name("fencepost"))


@pytest.fixture(scope="module")
def service(tmp_path_factory) -> Iterator[LiveService]:
    """What `fencepost local --demo` starts, with a worker of its own."""
    service = LiveService(tmp_path_factory.mktemp("cli") / ".fencepost", options=("--demo", "--workers", "1"))
    with service.running():
        yield service
    assert service.process is not None
    assert service.process.returncode == 0


def run(service: LiveService, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    known = {**kept, "HOME": str(service.data), "FENCEPOST_ENDPOINT": service.endpoint}
    return subprocess.run(
        [PROGRAM, *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=service.data.parent,
        env={**known, "FENCEPOST_TEAM": "demo", **environment},
    )


def read(service: LiveService, *words: str, **environment: str) -> Any:
    ran = run(service, *words, "--json", **environment)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_beside_the_data_directory_no_credentials_need_be_named(service):
    assert "heartbeat" in {job["name"] for job in read(service, "job", "list")}


def test_the_banners_own_credentials_work_from_anywhere(service):
    found = re.search(r"AWS_ACCESS_KEY_ID=(\S+) AWS_SECRET_ACCESS_KEY=(\S+)", "\n".join(service.output))
    assert found is not None
    keys = {"AWS_ACCESS_KEY_ID": found[1], "AWS_SECRET_ACCESS_KEY": found[2]}

    assert read(service, "team", "get", FENCEPOST_DATA_DIR="/nonexistent", **keys)["name"] == "demo"
    forbidden = run(service, "team", "get", "--team", "ops", FENCEPOST_DATA_DIR="/nonexistent", **keys)
    assert forbidden.returncode == 1
    assert "fencepost doctor" in forbidden.stderr


def test_credentials_for_aws_do_not_stand_in_the_way(service):
    found = run(service, "job", "list", AWS_ACCESS_KEY_ID="AKIDREAL", AWS_SECRET_ACCESS_KEY="x")

    assert found.returncode == 0


def test_firings_are_watched_live(service):
    ran = run(service, "watch", "heartbeat", "--for", "7s", "--json")
    states = [json.loads(line)["state"] for line in ran.stdout.splitlines()]

    assert ran.returncode == 0
    assert "SUCCEEDED" in states


def test_the_doctor_finds_a_healthy_service(service):
    ran = run(service, "doctor", "--json")

    verdicts = {each["what"]: each["verdict"] for each in json.loads(ran.stdout)}
    assert verdicts | {"ticks": "good"} == dict.fromkeys(verdicts, "good")


def test_a_job_is_put_run_and_explained(service):
    url = next(job for job in read(service, "job", "list") if job["name"] == "heartbeat")
    target = json.dumps(read(service, "job", "get", url["name"])["target"])
    read(service, "job", "put", "mine", "--cron", "0 0 1 1 *", "--target", target)

    ran = read(service, "job", "run", "mine")
    watched = run(service, "watch", "mine", "--for", "3s")
    found = read(service, "execution", ran["id"])

    assert watched.returncode == 0
    assert found["state"] == "SUCCEEDED"
    assert read(service, "job", "delete", "mine", "--yes")["state"] == "DELETED"


def test_a_worker_is_killed_by_command_as_the_example_says(service):
    command: Any = typer.main.get_command(app)
    example = re.search(
        r"Example: fencepost (local kill-worker)", command.commands["local"].commands["kill-worker"].help
    )
    assert example is not None

    ran = run(service, *example[1].split(), "--wait", "1")

    assert ran.returncode == 0
    assert ran.stdout.startswith("killed ")


def test_where_no_worker_runs_that_is_one_line(service, tmp_path):
    ran = run(service, "local", "kill-worker", "--data-dir", str(tmp_path / "empty"), "--wait", "0")

    assert (ran.returncode, len(ran.stderr.splitlines())) == (1, 1)


def test_the_service_starts_by_the_example_of_its_help(service):
    command: Any = typer.main.get_command(app)

    assert "Example: fencepost local --demo" in command.commands["local"].help
    assert any("team demo; Ctrl-C stops" in line for line in service.output)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--port", "99999"), "port is 99999"),
        (("--store", "memory", "--workers", "2"), "a store in memory belongs to one process"),
        (("--engine-only", "--api-only"), "the two halves"),
    ],
)
def test_options_that_do_not_go_together_are_one_line(service, options, says):
    ran = run(service, "local", *options)

    assert ran.returncode == 2
    assert says in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
