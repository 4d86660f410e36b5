"""What other schedulers hold, as files of jobs that the service takes."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fencepost.cli import yamls
from fencepost.client.declaration import read_jobs
from fencepost.domain.schedule import occurrences, parse_schedule
from tests.support.api import Front
from tests.support.clients import Terminal

RUNNER = "https://runner.example.com/run"
SOURCES = {
    "crontab": ("crontab.txt", "--url", RUNNER, "--tz", "Europe/Berlin"),
    "eventbridge": ("schedules.json",),
    "qstash": ("qstash.json",),
    "kubernetes": ("cronjobs.yaml", "--url", RUNNER),
}


@pytest.fixture
def front() -> Front:
    return Front.at("2026-03-01T12:00:00Z")


@pytest.fixture
def fencepost(front: Front, directory: Path) -> Terminal:
    return Terminal(front, directory=directory)


def imported(fencepost: Terminal, kind: str, *more: str) -> Any:
    ran = fencepost("import", kind, *SOURCES[kind], *more, "--json")
    assert ran.status == 0
    return ran.json


def jobs(found: dict[str, Any]) -> dict[str, Any]:
    return dict(read_jobs(found["file"]).jobs)


@pytest.mark.parametrize("kind", SOURCES)
def test_what_is_imported_can_be_applied(fencepost, kind):
    written = fencepost("import", kind, *SOURCES[kind], "-o", "imported.yaml")
    applied = fencepost("apply", "-f", "imported.yaml")
    again = fencepost("plan", "-f", "imported.yaml", "--check")

    assert (written.status, applied.status, again.status) == (0, 0, 0), applied
    assert "to create" in applied.out


@pytest.mark.parametrize("kind", SOURCES)
def test_the_file_goes_to_standard_output_and_the_report_beside_it(fencepost, kind):
    ran = fencepost("import", kind, *SOURCES[kind])

    assert read_jobs(yamls.read(ran.out)).jobs
    assert "left behind" in ran.err
    assert "00:00" in ran.err


def test_a_crontab_line_becomes_a_schedule_and_a_payload(fencepost):
    found = imported(fencepost, "crontab")

    assert jobs(found)["close-books"] == {
        "schedule": {"cron": "30 2 * * *", "timezone": "Europe/Berlin"},
        "target": {"webhook": {"url": RUNNER}},
        "payload": {"command": "/opt/ledger/bin/close-books.sh --day yesterday > /dev/null 2>&1"},
    }
    assert jobs(found)["invoices"]["payload"] == {
        "command": "/opt/ledger/bin/invoices.sh",
        "stdin": "month: last",
    }
    assert set(jobs(found)) == {"close-books", "fetch", "invoices", "sync", "archive"}


def test_what_a_crontab_cannot_bring_is_told_line_by_line(fencepost):
    found = imported(fencepost, "crontab")

    assert [(each["where"], each["why"].split(":")[0]) for each in found["left"]] == [
        ("line 2", "MAILTO is the runner's own affair"),
        ("line 9", "@reboot asks for the start of one machine, and nothing here belongs to one"),
        ("line 10", "never matches"),
    ]


def test_a_system_crontab_names_a_user(fencepost):
    Path("system").write_text("17 * * * * root cd / && run-parts --report /etc/cron.hourly\n")

    found = fencepost("import", "crontab", "system", "--users", "--url", RUNNER, "--json").json

    assert jobs(found)["run-parts"]["payload"] == {
        "user": "root",
        "command": "cd / && run-parts --report /etc/cron.hourly",
    }


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/usr/bin/python3.11 -u /opt/x/daily_report.py --all", "daily-report"),
        ("PATH=/bin FOO=1 /bin/bash -c backup", "backup"),
        ("[ -x /usr/sbin/x ] && /usr/sbin/logrotate.sh", "logrotate"),
        ("nice -n 10 flock -n /var/lock/a sudo -u x timeout 30m /opt/b.sh", "b"),
        (">", "line-1"),
        ("echo", "echo"),
    ],
)
def test_jobs_are_named_after_what_they_run(fencepost, command, name):
    Path("one").write_text(f"* * * * * {command}\n")

    assert list(jobs(fencepost("import", "crontab", "one", "--url", RUNNER, "--json").json)) == [name]


def test_equal_names_are_told_apart(fencepost):
    Path("same").write_text("0 1 * * * backup\n0 2 * * * backup\n0 3 * * * /opt/backup.sh\n")

    assert list(jobs(fencepost("import", "crontab", "same", "--url", RUNNER, "--json").json)) == [
        "backup",
        "backup-2",
        "backup-3",
    ]


def test_schedules_of_eventbridge_bring_their_targets(fencepost):
    found = imported(fencepost, "eventbridge")

    assert jobs(found) == {
        "closebooks": {
            "schedule": {"cron": "30 2 * * MON-FRI", "timezone": "Europe/Berlin", "jitter_seconds": 300},
            "target": {
                "lambda": {"function_arn": "arn:aws:lambda:eu-central-1:111122223333:function:close-books"}
            },
            "payload": {"task": "close-books"},
            "retry": {"max_attempts": 5},
            "labels": {"group": "ledger"},
        },
        "rates": {
            "schedule": {"every": "PT15M"},
            "target": {"sqs": {"queue_url": "https://sqs.eu-central-1.amazonaws.com/111122223333/rates"}},
        },
        "migration": {
            "schedule": {"at": "2027-01-01T00:00:00Z"},
            "target": {
                "step_functions": {
                    "state_machine_arn": "arn:aws:states:eu-central-1:111122223333:stateMachine:migrate"
                }
            },
            "delete_after_completion": True,
        },
    }
    assert {each["where"]: each["why"].split(" ")[0] for each in found["left"]} == {
        "LastDay": "L,",
        "Container": "its",
    }
    lost = {each["job"]: each["lost"] for each in found["lost"]}
    assert "it was disabled: pause it after it is applied" in lost["rates"]


@pytest.mark.parametrize(
    ("expression", "schedule"),
    [
        ("cron(0/15 * * * ? *)", {"cron": "0/15 * * * *", "timezone": "UTC"}),
        ("cron(0 9 ? * 2-6 *)", {"cron": "0 9 * * MON-FRI", "timezone": "UTC"}),
        ("cron(0 9 ? * 1,7 *)", {"cron": "0 9 * * SUN,SAT", "timezone": "UTC"}),
        ("cron(0 9 ? * WED *)", {"cron": "0 9 * * WED", "timezone": "UTC"}),
        (
            "cron(0 9 1 * ? 2026-2027)",
            {
                "cron": "0 9 1 * *",
                "timezone": "UTC",
                "start_at": "2026-01-01T00:00:00Z",
                "end_at": "2027-12-31T23:59:59Z",
            },
        ),
        ("rate(1 day)", {"every": "P1D"}),
        ("rate(2 hours)", {"every": "PT2H"}),
    ],
)
def test_expressions_of_eventbridge(fencepost, expression, schedule):
    assert jobs(rule(fencepost, expression))["x"]["schedule"] == schedule


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("cron(0 9 ? * 2#1 *)", "L, W and #"),
        ("cron(0 9 LW * ? *)", "L, W and #"),
        ("cron(0 9 * * *)", "six fields"),
        ("cron(0 9 1 * ? 2026,2028)", "the years"),
        ("at(tomorrow)", "neither"),
        ("rate(0 minutes)", "every"),
    ],
)
def test_expressions_of_eventbridge_without_a_counterpart_stay(fencepost, expression, why):
    (left,) = rule(fencepost, expression)["left"]

    assert why in left["why"]


def rule(fencepost: Terminal, expression: str) -> Any:
    target = [{"Id": "1", "Arn": "arn:aws:sns:eu-central-1:111122223333:topic"}]
    Path("rule.json").write_text(
        yamls.write({"Rules": [{"Name": "x", "ScheduleExpression": expression, "Targets": target}]})
    )
    return fencepost("import", "eventbridge", "rule.json", "--json").json


def test_schedules_of_qstash_bring_body_and_headers(fencepost):
    found = imported(fencepost, "qstash")

    assert jobs(found)["hooks-example-com-close-books"] == {
        "schedule": {"cron": "30 2 * * *", "timezone": "Europe/Berlin"},
        "target": {
            "webhook": {
                "url": "https://hooks.example.com/close-books",
                "headers": {"Content-Type": "application/json", "X-Book": "ledger"},
            }
        },
        "payload": {"task": "close-books"},
        "retry": {"max_attempts": 4},
    }
    assert jobs(found)["hooks-example-com-rates"]["payload"] == {"task": "fetch-rates"}
    assert [each["where"] for each in found["left"]] == ["scd_3"]


def test_cronjobs_bring_their_policies_and_tell_the_runner_what_they_are(fencepost):
    found = imported(fencepost, "kubernetes")

    assert jobs(found)["close-books"] == {
        "schedule": {"cron": "30 2 * * *", "timezone": "Europe/Berlin"},
        "target": {"webhook": {"url": RUNNER}},
        "payload": {
            "namespace": "ledger",
            "cronjob": "close-books",
            "image": "registry.example.com/ledger:7",
            "command": ["close-books"],
            "args": ["--day", "yesterday"],
        },
        "overlap": "skip",
        "retry": {"max_attempts": 3},
        "max_run_seconds": 7200,
        "misfire": {"policy": "run_once_late", "window_seconds": 600},
        "labels": {"namespace": "ledger"},
    }
    lost = {each["job"]: " ".join(each["lost"]) for each in found["lost"]}
    assert "suspended" in lost["rates"]
    assert "Replace" in lost["rates"]
    assert [each["what"] for each in found["left"]] == ["Service"]


@pytest.mark.parametrize("kind", ["eventbridge", "qstash"])
@pytest.mark.parametrize("text", ["7", "[1]", "just text"])
def test_another_document_is_refused(fencepost, kind, text):
    Path("other").write_text(text)

    assert fencepost("import", kind, "other").status == 2


def test_commands_need_somebody_who_carries_them_out(fencepost):
    assert "Give --url or --target" in fencepost("import", "crontab", "crontab.txt").err
    both = fencepost("import", "crontab", "crontab.txt", "--url", RUNNER, "--target", "{}")
    assert both.status == 2


def test_jobs_can_be_spread(fencepost):
    found = jobs(imported(fencepost, "eventbridge", "--jitter", "60"))

    assert {name: job["schedule"].get("jitter_seconds") for name, job in found.items()} == {
        "closebooks": 300,
        "rates": 60,
        "migration": None,
    }


def test_a_crontab_of_two_thousand_lines_has_a_true_heat_map(fencepost):
    """Held against walking every occurrence of every line, on a day on which Berlin's clock changes and on one without."""
    dice = random.Random(7)
    lines = ["MAILTO=ops@example.com", "CRON_TZ=Europe/Berlin"]
    while len(lines) < 2000:
        minute, hour, weekday = dice.randrange(60), dice.randrange(24), dice.randrange(7)
        expression = dice.choice(
            ["0 3 * * *", f"{minute} {hour} * * *", f"{minute} {hour} * * {weekday}", "@daily", "@reboot"]
        )
        lines.append(f"{expression} /opt/bin/task-{len(lines)}.sh")
    lines[100] = "*/5 * * * * /opt/bin/poll.sh"
    Path("big").write_text("\n".join(lines))

    for day in ("2026-03-03", "2026-03-29"):
        ran = fencepost("import", "crontab", "big", "--url", RUNNER, "--day", day, "-o", "big.yaml")
        told = fencepost("import", "crontab", "big", "--url", RUNNER, "--day", day, "--json").json

        walked = walk(jobs(told), day)
        at, count = walked.most_common(1)[0]
        assert told["crowded"][0] == {"minute": f"{at:%H:%M}", "firings": count}
        rows = [int(line.split()[1].replace(",", "")) for line in ran.err.splitlines()[1:25]]
        assert rows == [sum(walked[each] for each in walked if each.hour == hour) for hour in range(24)]
    assert len(told["left"]) + len(jobs(told)) == 1999


def walk(found: dict[str, Any], day: str) -> Counter[datetime]:
    start = datetime.fromisoformat(day).replace(tzinfo=UTC)
    counts: Counter[datetime] = Counter()
    for job in found.values():
        schedule = parse_schedule(job["schedule"], now=start)
        for at in occurrences(schedule, start - timedelta(microseconds=1)):
            if at >= start + timedelta(days=1):
                break
            counts[at] += 1
    return counts
