"""The receiving side: proof, fences, and long work that reports back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest

from fencepost.client import (
    ConfigurationError,
    Fencepost,
    LeaseLostError,
    MemoryFences,
    ReceivedCall,
    Receiver,
    StaleFenceError,
    UnsignedCallError,
    at,
    webhook,
    working,
)
from fencepost.domain.outcome import Accepted
from fencepost.domain.signing import FENCE_SIGNATURE_HEADER, encode_secret
from tests.support.api import Front
from tests.support.clients import InProcess, Machine, client, lost
from tests.support.clock import SettableClock
from tests.support.signed import BODY, NOW, SECRET, call_headers

OLD = encode_secret(bytes([1]) * 32)
NEW = SECRET


def receiver(*secrets: str, fences: MemoryFences | None = None) -> Receiver:
    return Receiver(secrets=secrets, fences=fences, clock=SettableClock(NOW))


def test_a_call_is_proven_and_read():
    call = receiver(NEW).accept({name.upper(): value for name, value in call_headers(NEW).items()}, BODY)

    assert call == ReceivedCall(
        execution_id="x-s-1",
        team="payments",
        job="nightly",
        due=NOW,
        attempt=1,
        fence=1000,
        sent_at=NOW,
        body=BODY,
    )


def test_either_of_two_secrets_will_do_while_they_are_changed():
    changing, changed = receiver(OLD, NEW), receiver(NEW)

    assert changing.accept(call_headers(NEW), BODY).fence == 1000
    assert changed.accept(call_headers(OLD, NEW), BODY).fence == 1000


@pytest.mark.parametrize(
    ("change", "body"),
    [
        ({}, b'{"a":2}'),
        ({"Fencepost-Fence": "1001"}, BODY),
        ({"Fencepost-Attempt": "2"}, BODY),
        ({"webhook-id": "y-s-1"}, BODY),
        ({"webhook-timestamp": "1772366100"}, BODY),
        ({FENCE_SIGNATURE_HEADER: ""}, BODY),
        ({"Fencepost-Due": "soon"}, BODY),
    ],
)
def test_whatever_was_changed_on_the_way_is_refused(change, body):
    with pytest.raises(UnsignedCallError):
        receiver(NEW).accept({**call_headers(NEW), **change}, body)


def test_another_teams_signature_is_none():
    with pytest.raises(UnsignedCallError):
        receiver(OLD).accept(call_headers(NEW), BODY)


def test_a_stale_fence_is_refused_per_execution():
    gate = receiver(NEW, fences=MemoryFences())

    gate.accept(call_headers(NEW, fence=2000, attempt=2), BODY)
    gate.accept(
        call_headers(NEW, fence=2000, attempt=2), BODY
    )  # the same attempt, delivered twice by the network
    gate.accept(call_headers(NEW, fence=1500, execution="y-s-1"), BODY)
    with pytest.raises(StaleFenceError):
        gate.accept(call_headers(NEW, fence=1999), BODY)


def test_of_many_threads_only_the_largest_fence_goes_on():
    fences = MemoryFences()
    admitted: list[int] = []
    threads = [
        threading.Thread(
            target=lambda fence=fence: admitted.append(fence) if fences.admit("x", fence) else None
        )
        for fence in range(50)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not fences.admit("x", 48)
    assert 49 in admitted


@pytest.mark.parametrize("secrets", [(), ("whsec_short",), ("secret",)])
def test_a_receiver_needs_a_key(secrets):
    with pytest.raises(ConfigurationError) as refused:
        receiver(*secrets)

    assert "short" not in str(refused.value)


class Beats:
    """In place of waiting: one beat for each `once`, until the work is over."""

    def __init__(self) -> None:
        self._asked = threading.Semaphore(0)
        self._beaten = threading.Semaphore(0)
        self._over = False

    def __call__(self, seconds: float) -> bool:
        """What the heartbeat thread waits with."""
        self._beaten.release()
        self._asked.acquire()
        return self._over

    def ask(self) -> None:
        """Lets one beat begin."""
        assert self._beaten.acquire(timeout=10)
        self._asked.release()

    def once(self) -> None:
        """Returns when a beat was made that was not the last."""
        self.ask()
        assert self._beaten.acquire(timeout=10)
        self._beaten.release()

    def end(self) -> None:
        """Lets the thread go."""
        self._over = True
        self._asked.release()


@pytest.fixture
def beats() -> Iterator[Beats]:
    made = Beats()
    yield made
    made.end()


@pytest.fixture
def wire() -> InProcess:
    front = Front.at()
    front.stage.targets.then = Accepted(status=202)
    return InProcess(front)


@pytest.fixture
def payments(wire: InProcess) -> Fencepost:
    return client(wire.front, transport=wire)


def started(payments: Fencepost, wire: InProcess) -> ReceivedCall:
    payments.job("import").put(
        schedule=at("2026-03-01T12:02:00Z"), target=webhook("https://example.com/hook"), lease_seconds=60
    )
    Machine(wire.front).run("2026-03-01T12:02:30Z")
    (record,) = payments.job("import").executions()
    return ReceivedCall(
        execution_id=record.id,
        team=record.team,
        job=record.job,
        due=record.due,
        attempt=1,
        fence=record.fence,
        sent_at=record.due,
        body=b"",
    )


def paths(wire: InProcess) -> list[str]:
    return [request.url.rpartition("/")[2] for request in wire.requests]


def test_work_beats_while_it_runs_and_completes_at_its_end(payments, wire, beats):
    call = started(payments, wire)

    with working(payments, call, wait=beats) as work:
        wire.front.clock.advance(seconds=20)
        beats.once()
        wire.front.clock.advance(seconds=40)  # beyond the first lease
        beats.once()
        work.check()
        work.result = "1,200 rows"
        beats.end()

    record = payments.execution(call.execution_id).get()
    assert (record.state, record.attempts[-1].excerpt) == ("SUCCEEDED", "1,200 rows")
    assert paths(wire).count("heartbeat") == 2


def test_work_that_raises_is_reported_as_failed(payments, wire, beats):
    call = started(payments, wire)

    beats.end()
    with pytest.raises(ZeroDivisionError), working(payments, call, wait=beats):
        raise ZeroDivisionError("no rows")

    record = payments.execution(call.execution_id).get()
    assert record.state == "RETRY_WAIT"
    assert record.attempts[-1].error == "ZeroDivisionError: no rows"


def test_a_lost_lease_stops_the_work_and_nothing_more_is_said(payments, wire, beats):
    call = started(payments, wire)
    Machine(wire.front).run("2026-03-01T12:05:00Z")  # the lease lapses, another attempt holds it

    def work_on() -> None:
        with working(payments, call, wait=beats) as work:
            beats.ask()
            assert work._lost.wait(10)
            work.check()

    with pytest.raises(LeaseLostError):
        work_on()

    assert not {"complete", "fail"} & set(paths(wire))


def test_a_lease_lost_unnoticed_is_told_at_the_end(payments, wire, beats):
    call = started(payments, wire)
    Machine(wire.front).run("2026-03-01T12:05:00Z")

    beats.end()
    with pytest.raises(LeaseLostError), working(payments, call, wait=beats):
        pass


def test_trouble_on_the_way_of_a_heartbeat_is_passed_over(payments, wire, beats):
    call = started(payments, wire)

    with working(payments, call, wait=beats) as work:
        wire.troubles += [lost] * 5  # every try of one heartbeat
        beats.once()
        assert not work.lost
        beats.end()

    assert payments.execution(call.execution_id).get().state == "SUCCEEDED"


def test_a_failure_that_cannot_be_told_does_not_hide_itself(payments, wire, beats):
    call = started(payments, wire)

    beats.end()
    wire.troubles += [lost] * 5
    with pytest.raises(ZeroDivisionError), working(payments, call, wait=beats):
        raise ZeroDivisionError


def test_beats_come_in_real_time_too(payments, wire):
    call = started(payments, wire)
    enough = threading.Event()
    send = wire.send

    def watching(request):
        if request.url.endswith("/heartbeat"):
            enough.set()
        return send(request)

    wire.send = watching
    with working(payments, call, every=timedelta(milliseconds=5)):
        assert enough.wait(10)
