"""Acting for a team on AWS: its own delivery role, assumed with its external id, and nothing else."""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from fencepost.adapters.aws import code_of
from fencepost.domain.delivery import Sender
from fencepost.domain.instants import aware

RENEW_BEFORE = timedelta(minutes=5)
SESSION_SECONDS = 3600  # the most that a role may ask for when it assumes another
AwsClient = Any  # boto3 makes the classes of its clients at run time
_SESSION_NAME = re.compile(r"[^A-Za-z0-9+=,.@_-]")


class RoleUnavailableError(Exception):
    """The team's delivery role cannot be had now; the message says what is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Credentials of one assumed role."""

    access_key: str
    secret_key: str = field(repr=False)
    token: str = field(repr=False)
    expires_at: datetime


class Sts(Protocol):
    """Obligation: credentials of exactly that role. Raises RoleUnavailableError."""

    def assume(self, role_arn: str, external_id: str, session_name: str) -> Credentials:
        """Assumes the role."""


class BotoSts:
    """STS by an AWS client, which is made when the first role is assumed."""

    def __init__(self, client: Callable[[], AwsClient]) -> None:
        self._client = client

    def assume(self, role_arn: str, external_id: str, session_name: str) -> Credentials:
        try:
            answer = self._client().assume_role(
                RoleArn=role_arn,
                ExternalId=external_id,
                RoleSessionName=session_name,
                DurationSeconds=SESSION_SECONDS,
            )
        except ClientError as error:
            raise RoleUnavailableError(f"{role_arn} cannot be assumed: {code_of(error)}") from error
        except BotoCoreError as error:
            raise RoleUnavailableError(f"{role_arn} cannot be assumed: STS did not answer") from error
        given = answer["Credentials"]
        return Credentials(
            access_key=given["AccessKeyId"],
            secret_key=given["SecretAccessKey"],
            token=given["SessionToken"],
            expires_at=aware(given["Expiration"]),
        )


class RoleCredentials:
    """Assumed roles, kept until five minutes before they expire. `now` is the wall clock.

    Two teams never share credentials, even of one role: the external id is part of what is remembered.
    """

    def __init__(self, *, sts: Sts, now: Callable[[], datetime]) -> None:
        self._sts = sts
        self._now = now
        self._held: dict[tuple[str, str, str], Credentials] = {}
        self._locks: defaultdict[tuple[str, str, str], threading.Lock] = defaultdict(threading.Lock)
        self._door = threading.Lock()

    def of(self, sender: Sender) -> Credentials:
        """Credentials good for at least five minutes. Raises RoleUnavailableError."""
        if sender.role_arn is None or sender.external_id is None:
            raise RoleUnavailableError(
                f"team {sender.team} has no delivery role with an external id; AWS targets need one"
            )
        key = (sender.team, sender.role_arn, sender.external_id)
        with self._door:
            lock = self._locks[key]
        with lock:  # one team's slow role keeps no other team waiting
            held = self._held.get(key)
            if held is None or self._now() >= held.expires_at - RENEW_BEFORE:
                held = self._sts.assume(sender.role_arn, sender.external_id, session_name(sender.team))
                self._held[key] = held
            return held


def session_name(team: str) -> str:
    """How the team's own audit trail names our sessions; at most 64 characters."""
    return _SESSION_NAME.sub("-", f"fencepost-{team}")[:64]
