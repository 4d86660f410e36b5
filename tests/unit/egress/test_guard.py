"""R07: one guard for create, deliver, retry and notify; names that change their mind get nowhere."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from fencepost.adapters.http.connector import (
    BrokenError,
    HttpAnswer,
    HttpRequest,
    NotConnectedError,
    SilentError,
)
from fencepost.adapters.http.resolver import UnresolvedError
from fencepost.domain.egress import EgressPolicy
from fencepost.domain.outcome import Blocked, Delivered, Failed, TimedOut
from tests.support.egress import (
    PUBLIC_ADDRESS,
    ManualMonotonic,
    RememberingConnector,
    ScriptedResolver,
    guarded,
)
from tests.support.hostile import hostile_urls, inside_addresses

STRICT = EgressPolicy()
SENT_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOSTILE = sorted({url for _, url in hostile_urls()})
INSIDE = sorted({address for _, address in inside_addresses()})


def request(url: str = "https://hooks.example.com/x") -> HttpRequest:
    return HttpRequest(url=url, body=b"{}", sent_at=SENT_AT)


@pytest.mark.parametrize("url", HOSTILE, ids=[ascii(url)[:60] for url in HOSTILE])
def test_R07_a_hostile_url_is_refused_at_create_and_never_connected_to(url):
    connector = RememberingConnector()
    guard = guarded(ScriptedResolver(), connector)
    assert guard.check(url, STRICT)
    assert isinstance(guard.call(request(url), policy=STRICT, timeout=5), Blocked)
    assert connector.exchanges == []


@pytest.mark.parametrize("address", INSIDE)
def test_R07_a_name_that_is_public_at_create_and_private_at_delivery_is_blocked(address):
    script = {"hooks.example.com": [[PUBLIC_ADDRESS], [address]]}
    connector = RememberingConnector()
    guard = guarded(ScriptedResolver(script), connector)
    assert guard.check("https://hooks.example.com/x", STRICT) == ()
    outcome = guard.call(request(), policy=STRICT, timeout=5)
    assert isinstance(outcome, Blocked)
    assert "hooks.example.com must not point inside a network" in outcome.reason
    assert connector.exchanges == []


@pytest.mark.parametrize("address", INSIDE)
def test_R07_one_private_address_among_public_ones_blocks_the_call_and_the_create(address):
    for answer in ([PUBLIC_ADDRESS, address], [address, PUBLIC_ADDRESS], ["8.8.8.8", "1.1.1.1", address]):
        connector = RememberingConnector()
        guard = guarded(ScriptedResolver({"hooks.example.com": [answer]}), connector)
        assert isinstance(guard.call(request(), policy=STRICT, timeout=5), Blocked)
        assert guard.check("https://hooks.example.com/x", STRICT)
        assert connector.exchanges == []


def test_R07_the_first_attempt_and_every_retry_pass_the_same_guard():
    script = {"hooks.example.com": [["10.0.0.1"], [PUBLIC_ADDRESS], ["127.0.0.1"], [PUBLIC_ADDRESS]]}
    connector = RememberingConnector()
    guard = guarded(ScriptedResolver(script), connector)
    kinds = [guard.call(request(), policy=STRICT, timeout=5).kind for _ in range(4)]
    assert kinds == ["blocked", "delivered", "blocked", "delivered"]
    assert connector.addresses == [PUBLIC_ADDRESS, PUBLIC_ADDRESS]


def test_R07_the_name_is_looked_up_once_and_the_judged_address_is_the_one_connected_to():
    """The second answer is never asked for, so it cannot be the one that is used."""
    resolver = ScriptedResolver({"hooks.example.com": [["1.1.1.1"], ["169.254.169.254"]]})
    connector = RememberingConnector()
    assert isinstance(guarded(resolver, connector).call(request(), policy=STRICT, timeout=5), Delivered)
    assert resolver.asked == ["hooks.example.com"]
    ((url, address, _),) = connector.exchanges
    assert (url.host, address) == ("hooks.example.com", "1.1.1.1")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_R07_a_redirect_is_an_answer_and_never_a_way(status):
    answer = HttpAnswer(status=status, headers={"location": "http://169.254.169.254/latest/"}, body=b"")
    resolver, connector = ScriptedResolver(), RememberingConnector([answer])
    outcome = guarded(resolver, connector).call(request(), policy=STRICT, timeout=5)
    assert isinstance(outcome, Failed)
    assert outcome.status == status
    assert "redirects are not followed" in outcome.error
    assert len(connector.exchanges) == 1
    assert resolver.asked == ["hooks.example.com"]


def test_R07_an_address_in_the_url_is_not_looked_up():
    resolver, connector = ScriptedResolver(), RememberingConnector()
    guarded(resolver, connector).call(request("https://93.184.216.34/"), policy=STRICT, timeout=5)
    assert resolver.asked == []
    assert connector.addresses == ["93.184.216.34"]


def test_R07_a_host_off_the_teams_list_is_not_even_looked_up():
    resolver = ScriptedResolver()
    policy = EgressPolicy(allowed_hosts=("other.example.com",))
    outcome = guarded(resolver).call(request(), policy=policy, timeout=5)
    assert isinstance(outcome, Blocked)
    assert resolver.asked == []


def test_a_name_without_an_address_may_be_registered_and_fails_when_called():
    guard = guarded(ScriptedResolver({"hooks.example.com": [[]]}))
    assert guard.check("https://hooks.example.com/x", STRICT) == ()
    outcome = guard.call(request(), policy=STRICT, timeout=5)
    assert outcome == Failed(error="hooks.example.com: no such name")


def test_an_address_that_lets_nobody_in_is_followed_by_the_next_one():
    connector = RememberingConnector(
        [NotConnectedError("refused"), HttpAnswer(status=200, headers={}, body=b"")]
    )
    guard = guarded(ScriptedResolver(default=("1.1.1.1", "8.8.8.8")), connector)
    assert isinstance(guard.call(request(), policy=STRICT, timeout=10), Delivered)
    assert connector.addresses == ["1.1.1.1", "8.8.8.8"]
    assert connector.connect_by == [5.0, 10.0]  # a dead address may use up only its share of the time


def test_at_most_four_addresses_are_tried_though_all_are_judged():
    many = tuple(f"93.184.216.{last}" for last in range(1, 9))
    connector = RememberingConnector([NotConnectedError("refused")])
    outcome = guarded(ScriptedResolver(default=many), connector).call(request(), policy=STRICT, timeout=8)
    assert outcome == Failed(error="refused")
    assert connector.addresses == list(many[:4])
    with_a_hidden_one = guarded(ScriptedResolver(default=(*many, "10.0.0.1")), connector)
    assert isinstance(with_a_hidden_one.call(request(), policy=STRICT, timeout=8), Blocked)


@pytest.mark.parametrize(
    ("error", "kind"), [(SilentError("timed out waiting"), TimedOut), (BrokenError("reset"), Failed)]
)
def test_R01_once_a_request_was_under_way_no_other_address_gets_it(error, kind):
    """The target may have done the work: sending it elsewhere would be a second delivery in one attempt."""
    connector = RememberingConnector([error])
    guard = guarded(ScriptedResolver(default=("1.1.1.1", "8.8.8.8")), connector)
    outcome = guard.call(request(), policy=STRICT, timeout=10)
    assert isinstance(outcome, kind)
    assert connector.addresses == ["1.1.1.1"]


def test_R01_a_silent_target_is_unknown_and_not_failed():
    connector = RememberingConnector([SilentError("timed out waiting for the answer")])
    outcome = guarded(connector=connector).call(request(), policy=STRICT, timeout=10)
    assert outcome == TimedOut(error="timed out waiting for the answer")
    assert outcome.kind == "timed_out"


def test_the_name_lookup_is_part_of_the_calls_time():
    clock = ManualMonotonic(100.0)

    class SlowResolver(ScriptedResolver):
        def resolve(self, host, port, deadline):
            assert deadline == 105.0
            clock.seconds = deadline
            raise UnresolvedError("late")

    connector = RememberingConnector()
    outcome = guarded(SlowResolver(), connector, clock).call(request(), policy=STRICT, timeout=5)
    assert outcome == Failed(error="late")
    assert connector.exchanges == []


def test_a_retry_after_date_is_read_against_the_instant_of_the_answer():
    answer = HttpAnswer(status=503, headers={"retry-after": "Sun, 01 Mar 2026 12:00:30 GMT"}, body=b"")
    outcome = guarded(connector=RememberingConnector([answer])).call(request(), policy=STRICT, timeout=5)
    assert isinstance(outcome, Failed)
    assert outcome.retry_after is not None
    assert outcome.retry_after.total_seconds() == 30
