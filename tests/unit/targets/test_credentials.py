"""Acting for a team on AWS: its own role, renewed in time, shared with nobody."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from fencepost.adapters.targets.clients import CLIENTS_KEPT, TeamClients, boto_clients
from fencepost.adapters.targets.credentials import (
    BotoSts,
    Credentials,
    RoleCredentials,
    RoleUnavailableError,
    session_name,
)
from fencepost.domain.delivery import Sender
from tests.support.deliveries import DUE, SENDER

HOUR = timedelta(hours=1)
TEN = timedelta(seconds=10)


@dataclass
class CountingSts:
    """Gives credentials for an hour, numbered."""

    now: datetime = DUE
    asked: list[tuple[str, str, str]] = field(default_factory=list)

    def assume(self, role_arn: str, external_id: str, session_name: str) -> Credentials:
        self.asked.append((role_arn, external_id, session_name))
        number = len(self.asked)
        return Credentials(
            access_key=f"ASIA{number}",
            secret_key="secret-part",
            token="token-part",
            expires_at=self.now + HOUR,
        )


@pytest.fixture
def sts():
    return CountingSts()


@pytest.fixture
def roles(sts):
    return RoleCredentials(sts=sts, now=lambda: sts.now)


def test_credentials_are_kept_until_five_minutes_before_they_expire(sts, roles):
    assert roles.of(SENDER).access_key == "ASIA1"
    sts.now = DUE + timedelta(minutes=54, seconds=59)
    assert roles.of(SENDER).access_key == "ASIA1"
    sts.now = DUE + timedelta(minutes=55)
    assert roles.of(SENDER).access_key == "ASIA2"
    assert sts.asked == [(SENDER.role_arn, "x-payments", "fencepost-payments")] * 2


def test_no_team_ever_gets_what_another_ones_external_id_opened(sts, roles):
    """Naming another team's role is of no use: it is assumed with one's own external id, anew."""
    thief = replace(SENDER, team="thieves", external_id="x-thieves")
    assert roles.of(SENDER).access_key != roles.of(thief).access_key
    assert roles.of(replace(SENDER, external_id="x-other")).access_key == "ASIA3"
    assert [external_id for _, external_id, _ in sts.asked] == ["x-payments", "x-thieves", "x-other"]


@pytest.mark.parametrize(
    "sender", [Sender(team="t"), Sender(team="t", role_arn="arn:role"), Sender(team="t", external_id="x")]
)
def test_without_role_or_external_id_nothing_is_assumed(sts, roles, sender):
    with pytest.raises(RoleUnavailableError, match="team t has no delivery role with an external id"):
        roles.of(sender)
    assert sts.asked == []


def test_a_role_that_could_not_be_assumed_is_asked_for_again():
    answers: list[Exception | Credentials] = [
        RoleUnavailableError("denied"),
        Credentials(access_key="A", secret_key="s", token="t", expires_at=DUE + HOUR),
    ]

    class Moody:
        def assume(self, role_arn, external_id, session_name):
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

    roles = RoleCredentials(sts=Moody(), now=lambda: DUE)
    with pytest.raises(RoleUnavailableError):
        roles.of(SENDER)
    assert roles.of(SENDER).access_key == "A"


def test_many_deliveries_at_once_assume_a_role_once_and_a_slow_role_holds_up_nobody_else(sts):
    entered, leave = threading.Event(), threading.Event()

    class Slow(CountingSts):
        def assume(self, role_arn, external_id, session_name):
            if external_id == "x-slow":
                entered.set()
                assert leave.wait(timeout=10)
            return super().assume(role_arn, external_id, session_name)

    slow = Slow()
    roles = RoleCredentials(sts=slow, now=lambda: DUE)
    waiting = [
        threading.Thread(target=roles.of, args=(replace(SENDER, team="slow", external_id="x-slow"),))
        for _ in range(5)
    ]
    for thread in waiting:
        thread.start()
    assert entered.wait(timeout=10)
    assert roles.of(SENDER).access_key == "ASIA1"
    leave.set()
    for thread in waiting:
        thread.join(timeout=10)
    assert [external_id for _, external_id, _ in slow.asked] == ["x-payments", "x-slow"]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "AssumeRole"), "AccessDenied"),
        (EndpointConnectionError(endpoint_url="https://sts"), "STS did not answer"),
    ],
)
def test_why_a_role_cannot_be_assumed_is_told(error, told):
    class Refusing:
        def assume_role(self, **_):
            raise error

    with pytest.raises(RoleUnavailableError, match=told):
        BotoSts(Refusing).assume("arn:role", "x", "s")


def test_credentials_do_not_show_their_secrets(roles):
    assert "part" not in repr(roles.of(SENDER))


@pytest.mark.parametrize("team", ["payments", "a" * 63, "ü b/c"])
def test_a_session_is_named_after_the_team_as_sts_allows_it(team):
    name = session_name(team)
    assert 2 <= len(name) <= 64
    assert name.startswith("fencepost-")
    assert all(char.isascii() and (char.isalnum() or char in "+=,.@_-") for char in name)


def test_clients_are_kept_per_service_region_credentials_and_timeout(sts, roles):
    built = []

    def build(service, region, credentials, seconds):
        built.append((service, region, credentials and credentials.access_key, seconds))
        return len(built)

    clients = TeamClients(build=build, roles=roles, now=lambda: sts.now)
    first = clients.client("sqs", "eu-central-1", SENDER, TEN)
    assert clients.client("sqs", "eu-central-1", SENDER, timedelta(seconds=9.5)) == first
    assert clients.client("sns", "eu-central-1", SENDER, TEN) != first
    assert clients.client("sqs", "us-east-1", SENDER, TEN) != first
    assert clients.client("sqs", "eu-central-1", SENDER, timedelta(seconds=3)) != first
    sts.now += HOUR
    assert clients.client("sqs", "eu-central-1", SENDER, TEN) != first  # the old credentials are over
    assert built[0] == ("sqs", "eu-central-1", "ASIA1", 10.0)
    assert built[-1] == ("sqs", "eu-central-1", "ASIA2", 10.0)


def test_a_client_that_rested_for_more_than_a_minute_is_made_anew():
    """Its connections may be gone, and without retries an attempt would be spent on finding out."""
    moment = [DUE]
    clients = TeamClients(build=lambda *_: object(), roles=None, now=lambda: moment[0])
    given = []
    for rest in (0, 59, 59, 61):
        moment[0] += timedelta(seconds=rest)
        given.append(clients.client("sqs", "eu-central-1", SENDER, TEN))
    assert given[0] is given[1] is given[2]
    assert given[3] is not given[2]


def test_not_more_clients_are_kept_than_were_lately_used():
    built = []

    def build(service, *_):
        built.append(service)
        return service

    clients = TeamClients(build=build, roles=None, now=lambda: DUE)
    for number in range(CLIENTS_KEPT + 1):
        clients.client(f"s{number}", "r", SENDER, TEN)
    clients.client(f"s{CLIENTS_KEPT}", "r", SENDER, TEN)
    assert len(built) == CLIENTS_KEPT + 1
    clients.client("s0", "r", SENDER, TEN)
    assert built[-1] == "s0"


def test_a_client_carries_the_roles_credentials_and_leaves_retries_to_us(roles):
    client = boto_clients()("sqs", "eu-central-1", roles.of(SENDER), 10.0)
    given = client._request_signer._credentials
    assert (given.access_key, given.secret_key, given.token) == ("ASIA1", "secret-part", "token-part")
    assert client.meta.config.retries["total_max_attempts"] == 1
    assert client.meta.config.connect_timeout + client.meta.config.read_timeout == 10.0


def test_a_stage_of_one_machine_uses_its_own_credentials():
    build = boto_clients(endpoint_url="http://127.0.0.1:4566")
    clients = TeamClients(build=build, roles=None, now=lambda: DUE)
    client = clients.client("sqs", "us-east-1", Sender(team="demo"), TEN)
    assert client._request_signer._credentials.access_key == "testing"
    assert client.meta.endpoint_url == "http://127.0.0.1:4566"
