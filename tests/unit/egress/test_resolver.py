"""Names to addresses: all of them, and never later than asked."""

from __future__ import annotations

import socket
import threading
from unittest.mock import Mock

import pytest

from fencepost.adapters.http.resolver import LOOKUPS_AT_ONCE, SystemResolver, UnresolvedError, system_lookup
from fencepost.runtime.clock import monotonic_ms
from tests.support.egress import ManualMonotonic


def monotonic() -> float:
    return monotonic_ms() / 1000


def resolver(lookup) -> SystemResolver:
    return SystemResolver(monotonic=monotonic, lookup=lookup)


def soon() -> float:
    return monotonic() + 10


def test_R07_every_address_of_a_name_is_answered_once(monkeypatch):
    stream = (socket.AF_INET6, socket.SOCK_STREAM, 6, "")
    answers = [(*stream, (ip, 443, 0, 0)) for ip in ("2606:4700::1", "1.1.1.1", "10.0.0.1", "1.1.1.1")]
    getaddrinfo = Mock(return_value=answers)
    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    found = resolver(system_lookup).resolve("a.example", 443, soon())
    assert found == ("2606:4700::1", "1.1.1.1", "10.0.0.1")
    assert getaddrinfo.call_args.args == ("a.example", 443)
    assert getaddrinfo.call_args.kwargs["type"] == socket.SOCK_STREAM


@pytest.mark.parametrize(
    "error",
    [socket.gaierror(-2, "Name or service not known"), OSError("no network"), UnicodeError("label too long")],
)
def test_a_name_that_cannot_be_looked_up_is_unresolved(error):
    def lookup(host, port):
        raise error

    with pytest.raises(UnresolvedError, match=r"a\.example: "):
        resolver(lookup).resolve("a.example", 443, soon())


def test_a_name_without_addresses_is_unresolved():
    with pytest.raises(UnresolvedError, match="has no address"):
        resolver(lambda host, port: ()).resolve("a.example", 443, soon())


def test_a_name_server_that_is_silent_is_left_at_the_deadline():
    over = threading.Event()

    def lookup(host, port):
        over.wait()
        return ("1.1.1.1",)

    began = monotonic()
    with pytest.raises(UnresolvedError, match="did not answer in time"):
        resolver(lookup).resolve("a.example", 443, began + 0.1)
    over.set()
    assert monotonic() - began < 3


def test_a_deadline_that_has_passed_asks_nobody():
    lookup = Mock(return_value=("1.1.1.1",))
    with pytest.raises(UnresolvedError, match="no time left"):
        resolver(lookup).resolve("a.example", 443, monotonic() - 1)
    lookup.assert_not_called()


def test_a_dead_name_server_costs_a_bounded_number_of_threads_and_they_return():
    over, running = threading.Event(), threading.Semaphore(0)

    def lookup(host, port):
        running.release()
        over.wait()
        return ("1.1.1.1",)

    stopped = ManualMonotonic()
    names = SystemResolver(monotonic=stopped, lookup=lookup)
    for _ in range(LOOKUPS_AT_ONCE):
        with pytest.raises(UnresolvedError):
            names.resolve("a.example", 443, 0.005)
    with pytest.raises(UnresolvedError, match="no time left"):
        names.resolve("a.example", 443, 0.005)
    for _ in range(LOOKUPS_AT_ONCE):
        assert running.acquire(timeout=5)
    assert not running.acquire(blocking=False)
    over.set()
    assert names.resolve("a.example", 443, 10.0) == ("1.1.1.1",)
