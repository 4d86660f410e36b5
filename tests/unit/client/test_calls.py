"""Calls: what is repeated, under which key, and how long is waited."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fencepost.client import (
    ConflictError,
    FaultsError,
    Fencepost,
    NotFoundError,
    Retrying,
    ServiceError,
    ThrottledError,
    UnexpectedAnswerError,
    UnreachableError,
    cron,
    webhook,
)
from fencepost.client.transport import HttpAnswer, HttpRequest, NoAnswerError
from tests.support.api import Front
from tests.support.clients import InProcess, client, lost
from tests.support.clock import SettableClock

REPORT = {"schedule": cron("0 9 * * *", "Europe/Berlin"), "target": webhook("https://example.com/hook")}
BUSY = HttpAnswer(status=503, headers={"retry-after": "1"})


@pytest.fixture
def wire() -> InProcess:
    return InProcess(Front.at())


@pytest.fixture
def payments(wire: InProcess) -> Fencepost:
    return client(wire.front, transport=wire)


def keys(wire: InProcess) -> list[str | None]:
    return [request.headers.get("Idempotency-Key") for request in wire.requests]


def slept(payments: Fencepost) -> list[timedelta]:
    assert isinstance(payments.clock, SettableClock)
    return payments.clock.slept


def test_a_write_whose_answer_was_lost_happens_once(payments, wire):
    payments.job("report").put(**REPORT)
    wire.troubles.append(lost)

    ran = payments.job("report").run()

    assert [each.id for each in payments.job("report").executions()] == [ran.id]
    assert keys(wire)[1] == keys(wire)[2] is not None


def test_each_write_has_a_key_of_its_own(payments, wire):
    payments.job("report").put(**REPORT)
    first, second = payments.job("report").run(), payments.job("report").run()

    assert first.id != second.id
    assert len(set(keys(wire))) == 3


def test_a_key_of_ones_own_names_the_same_run_from_another_process(payments, wire):
    payments.job("report").put(**REPORT)

    first = payments.job("report").run(key="after-the-fix")
    again = client(wire.front).job("report").run(key="after-the-fix")

    assert again.id == first.id


def test_reads_and_dry_runs_carry_no_key(payments, wire):
    payments.job("report").put(**REPORT)
    payments.job("report").get()
    payments.job("report").would_delete()
    payments.preview(cron("0 9 * * *"))

    assert keys(wire)[1:] == [None, None, None]


def test_every_try_is_signed_anew_and_says_the_same(payments, wire):
    wire.troubles += [BUSY, BUSY]

    payments.job("report").put(**REPORT)

    first, second, third = wire.requests
    assert first.body == second.body == third.body
    assert all(request.headers["Authorization"].startswith("AWS4-HMAC-SHA256 ") for request in wire.requests)


def test_waits_grow_with_full_jitter_and_are_never_shorter_than_asked(payments, wire):
    wire.troubles += [NoAnswerError("refused"), NoAnswerError("refused"), HttpAnswer(status=500), BUSY]

    payments.job("report").put(**REPORT)

    # Half of 0.2, 0.4, 0.8; then half of 1.6 would be less than the second that was asked for.
    assert slept(payments) == [timedelta(seconds=each) for each in (0.1, 0.2, 0.4, 1.0)]


def test_a_wait_is_never_longer_than_the_longest():
    rule = Retrying(longest=timedelta(seconds=10))

    assert rule.delay(30, 1.0, None) == timedelta(seconds=10)
    assert rule.delay(1, 0.0, timedelta(hours=2)) == timedelta(seconds=10)


@pytest.mark.parametrize(
    ("trouble", "error"),
    [
        (NoAnswerError("refused"), UnreachableError),
        (HttpAnswer(status=429), ThrottledError),
        (HttpAnswer(status=500), ServiceError),
        (HttpAnswer(status=504, body=b"<html>"), ServiceError),
    ],
)
def test_patience_ends(payments, wire, trouble, error):
    wire.troubles += [trouble] * 5

    with pytest.raises(error):
        payments.job("report").get()

    assert len(wire.requests) == 5


def test_the_first_request_with_the_same_key_may_still_be_under_way(payments, wire):
    busy = HttpAnswer(status=409, body=b'{"type": "urn:fencepost:problem:in-progress"}')
    wire.troubles.append(busy)

    assert payments.job("report").put(**REPORT).revision == 1


def test_what_will_not_pass_is_not_repeated(payments, wire):
    with pytest.raises(NotFoundError, match="there is no job report"):
        payments.job("report").get()
    with pytest.raises(FaultsError) as refused:
        payments.job("report").put(schedule=cron("61 9 * * *", "Europe/Berlim"), target=webhook("ftp://x.y"))
    payments.job("report").put(**REPORT)
    wire.troubles.append(HttpAnswer(status=409, body=b'{"type": "urn:fencepost:problem:not-dead"}'))
    with pytest.raises(ConflictError):
        payments.execution("x").redrive()

    assert {fault.field.split(".")[0] for fault in refused.value.faults} == {"schedule", "target"}
    assert "Europe/Berlin" in str(refused.value)
    assert len(wire.requests) == 4


@pytest.mark.parametrize(
    "answer",
    [
        HttpAnswer(status=200, body=b"<html>hello</html>"),
        HttpAnswer(status=302, headers={"location": "https://elsewhere.example"}),
        HttpAnswer(status=200, body=b"[1, 2]"),
    ],
)
def test_an_answer_that_is_not_the_services_is_said_to_be_none(payments, wire, answer):
    wire.troubles.append(answer)

    with pytest.raises(UnexpectedAnswerError):
        payments.job("report").get()


def test_names_cannot_leave_their_place_in_the_path(payments, wire):
    wire.troubles.append(HttpAnswer(status=404))

    with pytest.raises(NotFoundError):
        payments.job("../../teams/ops/jobs/x?y#z").get()

    assert wire.requests[0].url.endswith("/v1/teams/payments/jobs/..%2F..%2Fteams%2Fops%2Fjobs%2Fx%3Fy%23z")


def test_nothing_is_tried_where_no_try_is_allowed(wire):
    payments = client(wire.front, transport=wire)
    with pytest.raises(UnreachableError):
        Fencepost(
            endpoint=payments.endpoint,
            team="payments",
            keys=payments.keys,
            transport=wire,
            retrying=Retrying(attempts=0),
        ).health()

    assert wire.requests == list[HttpRequest]()
