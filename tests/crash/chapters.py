"""The chapters of one rich story. Each begins from a stage that was made in peace; what it then does may die anywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fencepost.domain import delivery as wire
from fencepost.domain.outcome import Accepted, Delivered, Failed, Outcome, Refused
from fencepost.domain.states import ExecutionState
from tests.crash.checks import check_all, check_ends, check_minutes
from tests.crash.life import Life
from tests.support.api import ADMIN, OWNER_ROLE

S = ExecutionState
PAYMENTS = "/v1/teams/payments"
MINUTELY = {"cron": "* * * * *", "timezone": "Europe/Berlin"}
FAR = {"at": "2035-12-24T18:00:00Z"}
AT_ONCE = {"initial_delay_seconds": 1, "multiplier": 1, "max_attempts": 9}


def job(life: Life, name: str, schedule: dict[str, Any], **more: Any) -> None:
    """Declares a job; its webhook's path is its name. A delay counts from the first call under its key; whoever hears
    that it has passed meanwhile asks under another.
    """
    target = {"webhook": {"url": f"https://example.com/{name}", "timeout_seconds": 5}}
    body = {"schedule": schedule, "target": target, "retry": AT_ONCE, **more}
    path = f"{PAYMENTS}/jobs/{name}"
    reply = life.call("PUT", path, body, headers={"Idempotency-Key": f"put-{name}"})
    if reply.status == HTTPStatus.UNPROCESSABLE_ENTITY and "in" in schedule:
        assert reply.faults["schedule.at"]["rule"] == "lies in the past"
        reply = life.call("PUT", path, body, headers={"Idempotency-Key": f"put-{name}-again"})
    assert reply.status < HTTPStatus.MULTIPLE_CHOICES, reply.body


def act(life: Life, name: str, what: str, body: Any = None, *, key: str | None = None) -> Any:
    """An owner's act on a job."""
    headers = {} if key is None else {"Idempotency-Key": key}
    return life.ask("POST", f"{PAYMENTS}/jobs/{name}/{what}", body, headers=headers)


def says(life: Life, name: str, what: str) -> None:
    """The worker of a job's running firing says something; a fence that is no longer its own is no news to it."""
    for record in life.of(name):
        if record.state is S.RUNNING and record.fence:
            path = f"{PAYMENTS}/executions/{record.id}/{what}"
            reply = life.call("POST", path, {"fence": record.fence})
            assert reply.status in {200, 409}, reply.body


def finished(life: Life, name: str) -> bool:
    """Nothing of the job is under way."""
    return all(record.final for record in life.of(name))


def stands(life: Life, name: str, state: ExecutionState) -> bool:
    """The job has a record in that state."""
    return any(record.state is state for record in life.of(name))


def team(life: Life, **more: Any) -> None:
    """The team of all chapters."""
    body = {"principals": [OWNER_ROLE], "notify_on": ["dead"], **more}
    life.ask("PUT", PAYMENTS, body, by=ADMIN)


def once(fails: Outcome) -> Callable[[wire.Delivery], Outcome]:
    """First this, then success."""
    return lambda call: fails if call.facts.attempt == 1 else Delivered(status=200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """`prepare` in peace, `act` in danger; once all is at rest, `check`. `answer`: what its target says."""

    prepare: Callable[[Life], None]
    act: Callable[[Life], None]
    check: Callable[[Life], None]
    answer: Callable[[wire.Delivery], Outcome] = lambda _: Delivered(status=200)


def _registers(life: Life) -> None:
    job(life, "report", MINUTELY)
    life.run(100)


def _checks_minutes(life: Life) -> None:
    check_minutes(life, "report")


def _bare(life: Life) -> None:
    team(life)


def _kinds(life: Life) -> None:
    """An interval, a single instant, a delay after which the job goes."""
    job(life, "interval", {"every": "PT1M", "anchor": "2035-03-01T00:00:20Z"})
    job(life, "once", {"in": "PT20S"}, delete_after_completion=True)
    life.run(90)
    life.until(lambda: finished(life, "once"))


def _kinds_check(life: Life) -> None:
    check_ends(life, "once", S.SUCCEEDED, count=1)
    check_minutes(life, "interval", second=20)
    assert life.call("GET", f"{PAYMENTS}/jobs/once").status == 404


def _retries(life: Life) -> None:
    job(life, "flaky", {"in": "PT10S"}, overlap="skip")
    later = {"initial_delay_seconds": 600, "max_delay_seconds": 600, "max_attempts": 9}
    job(life, "patient", {"in": "PT10S"}, retry=later)
    life.run(30)


def _retries_check(life: Life) -> None:
    for name in ("flaky", "patient"):
        [record] = check_ends(life, name, S.SUCCEEDED, count=1)
        assert len(record.attempts) >= 2


def _doomed(life: Life) -> None:
    team(life)
    job(life, "doomed", {"in": "PT10S"})


def _dies(life: Life) -> None:
    life.run(15)
    life.until(lambda: stands(life, "doomed", S.DEAD) and bool(life.notifier.told))
    life.targets.then = lambda _: Delivered(status=200)
    [dead] = life.of("doomed")
    path = f"{PAYMENTS}/executions/{dead.id}/redrive"
    life.ask("POST", path, headers={"Idempotency-Key": "again"})
    life.run(15)


def _dies_check(life: Life) -> None:
    check_ends(life, "doomed", S.SUCCEEDED, count=1)
    assert len({notice.id for notice in life.notifier.told}) == 1


def _dies_for_good(life: Life) -> None:
    life.run(15)
    life.until(lambda: stands(life, "doomed", S.DEAD))


def _dead_check(life: Life) -> None:
    check_ends(life, "doomed", S.DEAD, count=1)
    assert len({notice.id for notice in life.notifier.told}) == 1


def _works(life: Life) -> None:
    """Long work, and a firing of the same job that waits for its end."""
    life.run(8)
    act(life, "long", "run", key="first")
    life.run(3)
    act(life, "long", "run", key="second")
    life.run(5)
    says(life, "long", "heartbeat")
    life.run(20)
    says(life, "long", "complete")
    life.run(5)
    says(life, "long", "fail")
    life.run(15)


def _long(life: Life) -> None:
    team(life)
    job(life, "long", FAR, overlap="queue", lease_seconds=60)


def _works_check(life: Life) -> None:
    check_ends(life, "long", S.SUCCEEDED, count=2)


def _minutely(life: Life) -> None:
    team(life)
    job(life, "report", MINUTELY)
    life.run(20)


def _changes(life: Life) -> None:
    path = f"{PAYMENTS}/jobs/report"
    life.ask("PATCH", path, {"schedule": {"cron": "*/2 * * * *"}, "payload": {"now": "other"}})
    life.run(5)
    act(life, "report", "pause", {"note": "the ledger is down"})
    life.run(40)
    act(life, "report", "resume")
    life.run(5)


def _changes_check(life: Life) -> None:
    check_minutes(life, "report", every=2, since_edit=True)


def _goes(life: Life) -> None:
    """Deleted while one firing is under way and the next is on its way; another of its name takes the place."""
    life.run(42)
    path = f"{PAYMENTS}/jobs/report"
    reply = life.call("DELETE", path)
    assert reply.status in {200, 204, 404}
    job(life, "report", MINUTELY)
    life.run(30)


def _goes_check(life: Life) -> None:
    found = {record.id.uid for record in life.of("report")}
    assert 1 <= len(found) <= 2


def _hourly(life: Life) -> None:
    team(life)
    job(life, "report", {"cron": "0 * * * *"})


def _backfills(life: Life) -> None:
    past = {"from": "2035-03-01T09:30:00Z", "to": "2035-03-01T11:30:00Z", "rate": 600}
    act(life, "report", "backfills", past, key="past")
    life.run(35)


def _backfills_check(life: Life) -> None:
    made = [record for record in life.of("report") if record.origin == "backfill"]
    assert [record.state for record in made] == [S.SUCCEEDED] * 2


def _capped(life: Life) -> None:
    team(life, max_concurrency=1)
    for name in ("first", "second"):
        job(life, name, FAR, lease_seconds=60)


def _waits(life: Life) -> None:
    """One slot, two firings, and a worker who takes its time."""
    for name in ("first", "second"):
        act(life, name, "run", key=name)
    life.run(10)
    for name in ("first", "second"):
        says(life, name, "complete")
    life.run(10)
    for name in ("first", "second"):
        says(life, name, "complete")


def _waits_check(life: Life) -> None:
    for name in ("first", "second"):
        check_ends(life, name, S.SUCCEEDED, count=1)


CHAPTERS = {
    "registers": Chapter(prepare=_bare, act=_registers, check=_checks_minutes),
    "kinds": Chapter(prepare=_bare, act=_kinds, check=_kinds_check),
    "retries": Chapter(
        prepare=_bare,
        act=_retries,
        check=_retries_check,
        answer=once(Failed(status=500, error="answered 500")),
    ),
    "dies and is sent again": Chapter(
        prepare=_doomed,
        act=_dies,
        check=_dies_check,
        answer=lambda _: Refused(status=410, error="answered 410"),
    ),
    "dies for good": Chapter(
        prepare=_doomed,
        act=_dies_for_good,
        check=_dead_check,
        answer=lambda _: Refused(status=410, error="answered 410"),
    ),
    "works long": Chapter(prepare=_long, act=_works, check=_works_check, answer=once(Accepted())),
    "changes": Chapter(prepare=_minutely, act=_changes, check=_changes_check),
    "goes": Chapter(prepare=_minutely, act=_goes, check=_goes_check),
    "backfills": Chapter(prepare=_hourly, act=_backfills, check=_backfills_check),
    "waits": Chapter(prepare=_capped, act=_waits, check=_waits_check, answer=once(Accepted())),
}
__all__ = ["CHAPTERS", "Chapter", "check_all"]
