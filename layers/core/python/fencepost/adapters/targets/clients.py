"""AWS clients that act for a team."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Protocol

from fencepost.adapters.aws import LONGEST_REST, Patience, client_config
from fencepost.adapters.targets.credentials import AwsClient, Credentials, RoleCredentials
from fencepost.domain.delivery import Sender

if TYPE_CHECKING:
    import boto3

CLIENTS_KEPT = 256
_CONNECT_SHARE = 3

Build = Callable[[str, str, Credentials | None, float], AwsClient]
"""(service, region, credentials or the process's own, seconds) -> client that asks once and waits so long."""


class ClientFactory(Protocol):
    """Obligation: clients with the team's own credentials, one try per call, the timeout at most."""

    def client(self, service: str, region: str, sender: Sender, timeout: timedelta) -> AwsClient:
        """A client. Raises RoleUnavailableError."""


class TeamClients:
    """Clients by service, region, credentials and timeout; the 256 last used are kept, and one that nobody asked for in a
    minute is made anew: while a function is frozen its connections are dropped, and a client that does not retry would
    spend an attempt on finding out. `now` is the wall clock.

    `roles` None: the process's own credentials, for a stage of one machine, where there is nobody else's account.
    """

    def __init__(self, *, build: Build, roles: RoleCredentials | None, now: Callable[[], datetime]) -> None:
        self._build = build
        self._roles = roles
        self._now = now
        self._kept: OrderedDict[tuple[str, str, str, int], tuple[AwsClient, datetime]] = OrderedDict()
        self._door = threading.Lock()

    def client(self, service: str, region: str, sender: Sender, timeout: timedelta) -> AwsClient:
        credentials = None if self._roles is None else self._roles.of(sender)
        seconds = max(1, math.ceil(timeout.total_seconds()))
        key = (service, region, "" if credentials is None else credentials.access_key, seconds)
        now = self._now()
        with self._door:
            client, asked = self._kept.get(key, (None, now))
            if client is None or now - asked > LONGEST_REST:
                client = self._build(service, region, credentials, float(seconds))
            self._kept[key] = (client, now)
            self._kept.move_to_end(key)
            while len(self._kept) > CLIENTS_KEPT:
                self._kept.popitem(last=False)
            return client


def boto_clients(*, endpoint_url: str | None = None) -> Build:
    """Builds clients of boto3 that never retry on their own: the retries are ours. It is loaded when it is needed."""

    @cache
    def session() -> boto3.Session:
        import boto3  # noqa: PLC0415 - most deliveries are webhooks

        return boto3.session.Session()

    def build(service: str, region: str, credentials: Credentials | None, seconds: float) -> AwsClient:
        connect = min(1.0, seconds / _CONNECT_SHARE)
        patience = Patience(connect_seconds=connect, read_seconds=seconds - connect, attempts=1)
        named: dict[str, str] = {}
        if credentials is not None:
            named = {
                "aws_access_key_id": credentials.access_key,
                "aws_secret_access_key": credentials.secret_key,
                "aws_session_token": credentials.token,
            }
        config = client_config(patience)
        return session().client(
            service, region_name=region, endpoint_url=endpoint_url, config=config, **named
        )  # type: ignore[call-overload] # the stubs want each service's name as a literal

    return build
