"""The program's manners: one clear line on error, prompts only on a terminal, colour only where it is wanted."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
import typer
from typer.main import get_command

from fencepost.cli.app import app
from fencepost.cli.completing import job_names
from fencepost.cli.screen import Screen
from fencepost.cli.session import Choice, Session, Surroundings
from fencepost.client.credentials import SigV4Signer
from fencepost.client.transport import HttpAnswer, NoAnswerError
from tests.support.clients import ENDPOINT, Terminal, keys_of

PROGRAM = str(Path(sys.executable).with_name("fencepost"))


@pytest.mark.parametrize(
    ("line", "status", "says"),
    [
        ("job get nothing", 1, "fencepost: there is no job nothing"),
        (
            "job put x --cron 99 --url https://example.com",
            1,
            "fencepost: schedule.cron: an expression has five fields",
        ),
        ("job get", 2, "fencepost: Missing argument 'name'. (see fencepost job get --help)"),
        ("job gte x", 2, "fencepost: No such command 'gte'. Did you mean 'get'? (see fencepost job --help)"),
        ("job list --stat X", 2, "fencepost: No such option"),
        ("job list --state LAZY", 1, "fencepost: state: must be one of"),
        ("job put x --cron '0 9 * * *' --every PT5M", 2, "one schedule, please: --cron, --every were given"),
        ("job put x --tz UTC --every PT5M", 2, "--timezone belongs to --cron"),
        ("job put x -f nowhere.yaml", 2, "nowhere.yaml: No such file or directory"),
        ("job put x --payload {", 2, "--payload is JSON, or @file with it"),
        ("executions nightly --since yesterday", 2, "an instant is RFC 3339"),
        ("execution nothing", 1, "fencepost: there is no execution nothing"),
        ("redrive nothing", 1, "fencepost: there is no execution nothing"),
        ("preview", 2, "a schedule, please"),
        ("preview --cron '0 9 * * *' --count 0", 2, "should be greater than or equal to 1"),
        (
            "dead-letters redrive --filter colour=red",
            2,
            "--filter knows job, reason, tier, error, not colour",
        ),
        ("import crontab crontab.txt --url https://x.example --day soon", 2, "soon is no day"),
        ("iam-policy --role king", 2, "'king' is not one of"),
    ],
)
def test_an_error_is_one_clear_line(fencepost: Terminal, line: str, status: int, says: str):
    ran = fencepost(*shlex.split(line))

    assert (ran.status, ran.out) == (status, "")
    assert says in ran.err
    assert len(ran.err.strip().splitlines()) == 1


def test_many_faults_are_one_line_each(fencepost):
    ran = fencepost("job", "put", "x", "--cron", "99 9 * * *", "--tz", "PST", "--url", "ftp://example.com")

    assert ran.status == 1
    first, *faults = ran.err.strip().splitlines()
    assert first == f"fencepost: {len(faults)} faults"
    assert any("America/Los_Angeles" in fault for fault in faults)


def test_without_a_team_it_is_asked_for_in_words(fencepost):
    del fencepost.environment["FENCEPOST_TEAM"]

    ran = fencepost("job", "list")

    assert ran.status == 2
    assert "which team? Give --team, or set FENCEPOST_TEAM" in ran.err


@pytest.mark.parametrize("words", [("local",), ("local", "kill-worker")])
@pytest.mark.parametrize("named", ["", " "])
def test_a_data_directory_without_a_name_is_not_the_working_directory(fencepost, directory, words, named):
    before = sorted(directory.iterdir())

    ran = fencepost(*words, "--data-dir", named)

    assert (ran.status, ran.out) == (2, "")
    assert "'--data-dir': it names no directory" in ran.err
    assert len(ran.err.strip().splitlines()) == 1
    assert sorted(directory.iterdir()) == before


@pytest.mark.parametrize("blank", ["", " "])
def test_a_blank_variable_for_the_data_directory_is_as_if_it_were_not_set(directory, blank):
    (directory / ".fencepost").mkdir()
    for folder, key in ((directory, "FPELSEWHERE"), (directory / ".fencepost", "FPOURS")):
        entry = {"arn": "x/fencepost-admin/x", "access_key_id": key, "secret_access_key": "invented"}
        (folder / "credentials.json").write_text(json.dumps([entry]))

    signer = session_at(directory, FENCEPOST_DATA_DIR=blank).client.caller.signer

    assert isinstance(signer, SigV4Signer)
    assert signer.access_key_id == "FPOURS"


@pytest.mark.parametrize("blank", ["", " "])
def test_a_blank_variable_for_endpoint_or_team_is_as_if_it_were_not_set(directory, blank):
    run = session_at(directory, FENCEPOST_ENDPOINT=blank, FENCEPOST_TEAM=blank)

    assert (run.endpoint, run.client.team) == ("http://127.0.0.1:8080", None)
    with pytest.raises(typer.BadParameter, match="set FENCEPOST_TEAM"):
        assert run.team


def session_at(directory: Path, **environment: str) -> Session:
    """A run in `directory`, with nothing sent."""
    around = Surroundings(
        out=Screen(file=io.StringIO()),
        err=Screen(file=io.StringIO()),
        interactive=False,
        environment=environment,
        directory=directory,
    )
    return Session(around=around, choice=Choice())


@pytest.mark.parametrize("blank", ["", " "])
def test_a_service_that_is_not_running_is_said_to_be_none(fencepost, blank):
    fencepost.environment["FENCEPOST_ENDPOINT"] = blank
    fencepost.transport.troubles.extend([NoAnswerError("Connection refused")] * 5)

    ran = fencepost("job", "list")

    says = (
        "fencepost: no answer from http://127.0.0.1:8080: Connection refused (is it running? fencepost local)"
    )
    assert (ran.status, ran.err.strip()) == (1, says)


def test_a_service_that_is_busy_is_not_said_to_be_gone(fencepost):
    fencepost.transport.troubles.extend([NoAnswerError("Read timed out. (read timeout=30.0)")] * 5)

    ran = fencepost("job", "list")

    assert ran.status == 1
    assert ran.err.strip().endswith("(something listens there, and is busy; a write may have happened)")


def test_an_unsigned_call_is_told_where_credentials_are_looked_for(fencepost):
    says = b'{"status": 403, "detail": "every call is signed (SigV4, service execute-api)"}'
    fencepost.transport.troubles.append(HttpAnswer(status=403, body=says))

    assert "no credentials were found; fencepost doctor says where" in fencepost("job", "list").err


def test_a_stranger_is_pointed_to_the_doctor(fencepost):
    ran = fencepost("job", "list", by="AKIDSTRANGER")

    assert ran.status == 1
    assert "fencepost doctor" in ran.err


def test_help_is_printed_once_where_a_command_is_missing(fencepost, capsys):
    ran = fencepost("job")

    assert ran.status == 2
    assert capsys.readouterr().out.count("Usage") + ran.out.count("Usage") == 1
    assert ran.err == ""


@pytest.mark.parametrize(
    "line", [("job", "delete", "nightly"), ("dead-letters", "redrive"), ("apply", "-f", "jobs.yaml")]
)
class TestPrompts:
    def test_nobody_is_asked_where_nobody_could_answer(self, fencepost, line):
        assert fencepost(*line).status == 0

    def test_on_a_terminal_one_is_asked(self, fencepost, monkeypatch, line):
        questions: list[str] = []
        monkeypatch.setattr("typer.confirm", questions.append)
        fencepost.interactive = True

        assert fencepost(*line).status == 1
        assert len(questions) == 1

    def test_yes_answers_beforehand(self, fencepost, line):
        fencepost.interactive = True

        assert fencepost(*line, "--yes").status == 0


def test_progress_is_drawn_on_a_terminal_only(fencepost):
    plain = fencepost("apply", "-f", "jobs.yaml")
    fencepost.interactive = True
    drawn = fencepost("plan", "-f", "jobs.yaml")

    assert "planning" not in plain.err
    assert "planning" in drawn.err


def test_dead_letters_are_sent_again_by_filter(fencepost):
    none = fencepost("dead-letters", "redrive", "--filter", "reason=refused")
    error = fencepost("dead-letters", "redrive", "--filter", "error=answered 404")
    old = fencepost("dead-letters", "redrive", "--since", "1m")
    sent = fencepost("dead-letters", "redrive", "--filter", "job=doomed", "--filter", "error=500", "--json")

    assert all(ran.out.startswith("0 sent again") for ran in (none, error, old))
    assert len(sent.json["redriven"]) == 1
    assert fencepost("dead-letters", "--json").json == []


def test_a_dead_letter_that_stays_is_told(fencepost, payments):
    payments.job("doomed").delete()

    ran = fencepost("dead-letters", "redrive")

    assert ran.status == 1
    assert "its job was deleted" in ran.err


def test_a_list_says_when_it_goes_on(fencepost):
    ran = fencepost("job", "list", "--limit", "1")

    assert ran.status == 0
    assert "there are more than 1" in ran.err


@pytest.fixture
def completing(fencepost: Terminal) -> Iterator[typer.Context]:
    """The outermost context of a line that is being typed."""
    here = Surroundings.here()
    around = Surroundings(
        out=here.out,
        err=here.err,
        interactive=False,
        environment={"FENCEPOST_ENDPOINT": ENDPOINT},
        transport=fencepost.transport,
        keys=keys_of(),
    )
    words = ["--team", "payments", "job"]
    with get_command(app).make_context("fencepost", words, obj=around, resilient_parsing=True) as context:
        yield cast("typer.Context", context)


def test_names_are_completed_from_the_service(completing):
    assert job_names(completing, "ni") == ["nightly"]
    assert job_names(completing, "") == ["doomed", "nightly", "report"]


def test_completion_is_silent_where_nothing_can_be_known(completing, fencepost):
    fencepost.transport.troubles.append(HttpAnswer(status=404))

    assert job_names(completing, "ni") == []


class TestProcess:
    """The installed program itself."""

    @staticmethod
    def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        return subprocess.run(
            [PROGRAM, *words],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**kept, "HOME": "/nonexistent", **environment},
        )

    def test_it_starts_and_tells_its_commands(self):
        ran = self.run("--help")

        assert ran.returncode == 0
        assert "dead-letters" in ran.stdout

    def test_an_error_is_no_traceback(self):
        ran = self.run("job", "get", "x", FENCEPOST_TEAM="payments", FENCEPOST_ENDPOINT="http://127.0.0.1:9")

        assert ran.returncode == 1
        assert ran.stderr.startswith("fencepost: no answer from http://127.0.0.1:9")
        assert "Traceback" not in ran.stderr

    def test_who_has_no_key_is_told_where_one_was_looked_for(self):
        nothing = {"FENCEPOST_DATA_DIR": "/nonexistent", "AWS_EC2_METADATA_DISABLED": "true"}

        ran = self.run("doctor", FENCEPOST_ENDPOINT="http://127.0.0.1:9", **nothing)

        assert "calls are not signed: no key in .fencepost/credentials.json" in ran.stdout

    def test_no_colour_where_none_is_wanted(self, directory):
        words = ("preview", "--file", "crontab.txt")

        colourful = self.run(*words, FORCE_COLOR="1")
        plain = self.run(*words, FORCE_COLOR="1", NO_COLOR="1")

        assert "\x1b[31m" in colourful.stdout
        assert "\x1b[31m" not in plain.stdout

    def test_a_closed_pipe_is_no_error(self, directory):
        command = f"{PROGRAM} preview --file crontab.txt --count 1000 --json | head -c 1"
        ran = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],  # noqa: S607 - any bash
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

        assert "Traceback" not in ran.stderr

    def test_completion_scripts_are_printed(self):
        ran = self.run("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")

        assert ran.returncode == 0
        assert "complete" in ran.stdout

    def test_what_json_prints_is_json(self, directory):
        ran = self.run("preview", "--file", "crontab.txt", "--json", FORCE_COLOR="1")

        assert len(json.loads(ran.stdout)) == 7
