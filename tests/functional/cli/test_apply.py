"""Files of jobs: planned, applied, applied again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fencepost.cli import yamls
from fencepost.client import Fencepost
from fencepost.client.transport import HttpAnswer
from tests.support.api import ADMIN, Front
from tests.support.clients import Machine, Terminal, client

HOOK = {"webhook": {"url": "https://example.com/hook"}}
TWICE = {"schedule": {"cron": "30 2 * * *", "timezone": "Europe/Berlin"}, "target": HOOK}


@pytest.fixture
def front() -> Front:
    return Front.at("2026-03-01T12:00:00Z")


@pytest.fixture
def payments(front: Front) -> Fencepost:
    return client(front)


@pytest.fixture
def fencepost(front: Front, directory: Path) -> Terminal:
    return Terminal(front, directory=directory)


def write(jobs: dict[str, Any], **more: Any) -> None:
    Path("jobs.yaml").write_text(yamls.write({"version": 1, **more, "jobs": jobs}))


def test_a_file_is_applied_and_a_second_time_changes_nothing(fencepost, payments):
    first = fencepost("apply", "-f", "jobs.yaml")
    revisions = {job.name: job.revision for job in payments.jobs()}
    requests = len(fencepost.transport.requests)
    second = fencepost("apply", "-f", "jobs.yaml")

    assert (first.status, second.status) == (0, 0)
    assert "3 to create" in first.out
    assert "3 to keep" in second.out
    assert "0 jobs changed" in second.out
    assert {job.name: job.revision for job in payments.jobs()} == revisions
    assert [entry.revision for entry in payments.job("nightly").history()] == [1]
    written = [
        request for request in fencepost.transport.requests[requests:] if "dry_run=true" not in request.url
    ]
    assert written == []


def test_defaults_are_filled_in_and_a_jobs_own_word_wins(fencepost, payments):
    fencepost("apply", "-f", "jobs.yaml")

    assert payments.job("nightly").get().target["webhook"]["url"] == "https://hooks.example.com/fencepost"
    assert "sqs" in payments.job("invoice-run").get().target
    assert payments.job("rates").get().labels == {"app": "ledger"}


def test_a_plan_shows_fields_queued_firings_and_next_instants_and_writes_nothing(fencepost, front, payments):
    payments.job("moved").put(**{**TWICE, "schedule": {"cron": "2 12 * * *", "timezone": "UTC"}})
    Machine(front).run("2026-03-01T12:01:00Z")  # the firing of 12:02 is claimed and queued
    write({"moved": {**TWICE, "tier": "critical"}, "new": TWICE})

    plan = fencepost("plan", "-f", "jobs.yaml")

    assert plan.status == 0
    assert "+ new" in plan.out
    assert "~ moved" in plan.out
    assert 'schedule.cron: "2 12 * * *" -> "30 2 * * *"' in plan.out
    assert 'tier: "standard" -> "critical"' in plan.out
    assert "cancels 1 queued firings" in plan.out
    assert "next: 2026-03-01 12:02:00Z -> 2026-03-02 01:30:00Z" in plan.out
    assert [job.name for job in payments.jobs()] == ["moved"]
    assert payments.job("moved").get().revision == 1


def test_a_plan_can_be_checked_by_a_pipeline(fencepost):
    write({"a": TWICE})

    assert fencepost("plan", "-f", "jobs.yaml", "--check").status == 3
    fencepost("apply", "-f", "jobs.yaml")
    assert fencepost("plan", "-f", "jobs.yaml", "--check").status == 0


def test_nothing_is_deleted_unless_it_is_asked_for(fencepost, payments):
    write({"a": TWICE, "b": TWICE})
    fencepost("apply", "-f", "jobs.yaml")
    write({"a": TWICE})

    fencepost("apply", "-f", "jobs.yaml")
    assert [job.name for job in payments.jobs()] == ["a", "b"]

    pruned = fencepost("apply", "-f", "jobs.yaml", "--prune")
    assert "- b" in pruned.out
    assert [job.name for job in payments.jobs()] == ["a"]
    assert "1 to keep" in fencepost("apply", "-f", "jobs.yaml", "--prune").out


def test_pruning_can_be_held_to_what_carries_a_label(fencepost, payments):
    payments.job("mine").put(**TWICE, labels={"app": "ledger"})
    payments.job("theirs").put(**TWICE, labels={"app": "web"})
    write({"a": TWICE})

    fencepost("apply", "-f", "jobs.yaml", "--prune", "--prune-label", "app:ledger")

    assert [job.name for job in payments.jobs()] == ["a", "theirs"]
    assert fencepost("apply", "-f", "jobs.yaml", "--prune-label", "app:ledger").status == 2


def test_every_fault_of_every_job_is_told_and_nothing_is_written(fencepost, payments):
    write(
        {
            "good": TWICE,
            "early": {**TWICE, "schedule": {"cron": "30 25 * * *", "timezone": "Europe/Berlim"}},
            "late": {**TWICE, "retry": {"max_attempts": 0}},
        }
    )

    ran = fencepost("apply", "-f", "jobs.yaml")

    assert ran.status == 1
    assert "hour is 25" in ran.out
    assert "Europe/Berlin" in ran.out
    assert "retry.max_attempts" in ran.out
    assert list(payments.jobs()) == []
    assert "nothing was changed" in ran.err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[]", "must be a mapping"),
        ("version: 2\njobs: {}", "version: must be 1"),
        ("version: 1\njob: {}", "job: unknown field; known: version, team, defaults, jobs (try: jobs)"),
        ("version: 1\njobs: {A_b: {}}", "jobs.A_b: a job's name"),
        ("version: 1\njobs: {a: 7}", "jobs.a: must be a mapping"),
        ("version: 1\njobs: {a: {shedule: {}}}", "jobs.a.shedule: unknown field"),
        ("version: 1\njobs: {a: {schedule: {in: PT5M}}}", "jobs.a.schedule.in: a delay would begin anew"),
        ("version: 1\nteam: [x]\njobs: {}", "team: must be a name"),
        ("version: 1\njobs: {a: {}, a: {}}", "there twice"),
    ],
)
def test_a_file_that_is_none_is_refused_before_anything_is_sent(fencepost, text, says):
    Path("jobs.yaml").write_text(text)

    ran = fencepost("apply", "-f", "jobs.yaml")

    assert ran.status in {1, 2}
    assert says in ran.err
    assert fencepost.transport.requests == []


def test_a_files_own_team_wins_over_the_environment_and_never_over_a_contradiction(fencepost, front):
    front.put("/v1/teams/ops", {"principals": ["arn:aws:iam::111122223333:role/payments-deploy"]}, by=ADMIN)
    write({"a": TWICE}, team="ops")

    assert fencepost("apply", "-f", "jobs.yaml").status == 0
    assert [job.name for job in client(front).for_team("ops").jobs()] == ["a"]
    contradicted = fencepost("apply", "-f", "jobs.yaml", "--team", "payments")
    assert contradicted.status == 2
    assert "the file is ops's, not payments's" in contradicted.err


def test_a_job_that_changed_since_the_plan_is_not_overwritten(fencepost, payments, monkeypatch):
    payments.job("a").put(**TWICE)
    payments.job("b").put(**TWICE)
    write({"a": {**TWICE, "tier": "bulk"}, "b": {**TWICE, "tier": "bulk"}})
    fencepost.interactive = True
    monkeypatch.setattr("typer.confirm", lambda _: payments.job("a").patch(tier="critical"))

    ran = fencepost("apply", "-f", "jobs.yaml")

    assert ran.status == 1
    assert "a: the precondition does not hold" in ran.err
    assert (payments.job("a").get().tier, payments.job("b").get().tier) == ("critical", "bulk")


def test_whoever_says_no_changes_nothing(fencepost, payments, monkeypatch):
    asked: list[str] = []
    fencepost.interactive = True
    monkeypatch.setattr("typer.confirm", asked.append)

    assert fencepost("apply", "-f", "jobs.yaml").status == 1
    assert asked == ["Change 3 jobs of payments?"]
    assert list(payments.jobs()) == []
    assert fencepost("apply", "-f", "jobs.yaml", "--yes").status == 0


def test_what_the_service_did_not_get_round_to_is_sent_again(fencepost, payments):
    write({"a": TWICE, "b": TWICE})

    def late(answer: HttpAnswer) -> HttpAnswer:
        text = answer.body.replace(
            b'"name": "b", "action": "put", "status": 201', b'"name": "b", "action": "put", "status": 503'
        )
        return HttpAnswer(status=200, headers=answer.headers, body=text)

    fencepost("plan", "-f", "jobs.yaml")
    fencepost.transport.troubles.extend([lambda answer: answer, lambda answer: answer, late])

    ran = fencepost("apply", "-f", "jobs.yaml")

    assert ran.status == 0
    assert [request.url.rpartition("/")[2] for request in fencepost.transport.requests].count("bulk") == 2


def test_the_plan_and_its_application_as_json(fencepost):
    write({"a": TWICE})

    plan = fencepost("plan", "-f", "jobs.yaml", "--json").json
    applied = fencepost("apply", "-f", "jobs.yaml", "--json").json

    assert [(step["name"], step["action"]) for step in plan] == [("a", "create")]
    assert plan[0]["next_after"][0] == "2026-03-02T01:30:00.000Z"
    assert [(each["name"], each["status"], each["revision"]) for each in applied] == [("a", 201, 1)]


def test_a_file_of_many_jobs_goes_in_few_calls(fencepost, payments):
    write({f"job-{number:03}": TWICE for number in range(120)})

    assert fencepost("apply", "-f", "jobs.yaml").status == 0
    assert len(list(payments.jobs())) == 120
    assert [request.url.rpartition("/")[2] for request in fencepost.transport.requests].count("bulk") == 3
