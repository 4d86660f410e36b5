"""Who calls: AWS credentials and the signature that proves them (SigV4, service execute-api), both botocore's."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import BotoCoreError
from botocore.session import Session

from fencepost.client.errors import ConfigurationError
from fencepost.client.transport import HttpRequest

SERVICE = "execute-api"
LOCAL_REGION = "us-east-1"
LOCAL_ADMIN = "fencepost-admin"
_GATEWAY = re.compile(r"[a-z0-9-]+\.execute-api\.([a-z0-9-]+)\.(?:vpce\.)?amazonaws\.com(?:\.cn)?")
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """One access key. The secret is never shown."""

    access_key_id: str
    secret_access_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)


class Signer(Protocol):
    """Makes a request the caller's own."""

    def sign(self, request: HttpRequest) -> HttpRequest:
        """The same request with the headers that prove who sent it."""


class Unsigned:
    """For a local service that takes unsigned calls (`--no-auth`)."""

    def sign(self, request: HttpRequest) -> HttpRequest:
        """The request as it is."""
        return request


class SigV4Signer:
    """Signs with credentials that renew themselves where they can."""

    def __init__(self, credentials: Credentials, region: str) -> None:
        self._credentials = credentials
        self.region = region

    @property
    def access_key_id(self) -> str:
        """The key that signs now."""
        return str(self._credentials.get_frozen_credentials().access_key)

    def sign(self, request: HttpRequest) -> HttpRequest:
        """See `Signer.sign`. Raises ConfigurationError where the credentials cannot be had."""
        try:
            frozen = self._credentials.get_frozen_credentials()
        except BotoCoreError as error:
            raise ConfigurationError(f"no AWS credentials: {error}") from error
        signed = AWSRequest(
            method=request.method, url=request.url, data=request.body, headers=dict(request.headers)
        )
        SigV4Auth(frozen, SERVICE, self.region).add_auth(signed)
        headers = {str(name): str(value) for name, value in signed.headers.items()}
        return HttpRequest(method=request.method, url=request.url, headers=headers, body=request.body)


def signer(endpoint: str, *, keys: Keys | None, profile: str | None, region: str | None) -> Signer:
    """Who calls `endpoint`: `keys`, else botocore's chain (with `profile`); on this machine, where neither has anything,
    nobody. Raises ConfigurationError.
    """
    try:
        session = Session(profile=profile)
        found = _fixed(keys) if keys is not None else session.get_credentials()
        chosen = region or region_of(endpoint) or session.get_config_variable("region")
    except BotoCoreError as error:
        raise ConfigurationError(str(error)) from error
    if found is None:
        if on_this_machine(endpoint):
            return Unsigned()
        raise ConfigurationError("no AWS credentials: set AWS_PROFILE or AWS_ACCESS_KEY_ID, or sign in")
    if chosen is None:
        raise ConfigurationError(f"no region for {endpoint}: set AWS_REGION")
    return SigV4Signer(found, str(chosen))


def region_of(endpoint: str) -> str | None:
    """The region that an endpoint's own name tells; None for a domain of one's own."""
    host = urlsplit(endpoint).hostname or ""
    found = _GATEWAY.fullmatch(host)
    if found:
        return found[1]
    return LOCAL_REGION if host in _LOOPBACK else None


def on_this_machine(endpoint: str) -> bool:
    """Whether the endpoint is loopback: the local service's."""
    return (urlsplit(endpoint).hostname or "") in _LOOPBACK


def local_keys(file: Path, holder: str = LOCAL_ADMIN) -> Keys | None:
    """The key of `holder` in the credentials file of a local service; None where there is none to be read."""
    try:
        entries = json.loads(file.read_text())
        for entry in entries:
            if f"/{holder}/" in entry["arn"]:
                return Keys(
                    access_key_id=entry["access_key_id"], secret_access_key=entry["secret_access_key"]
                )
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return None


def _fixed(keys: Keys) -> Credentials:
    return Credentials(keys.access_key_id, keys.secret_access_key, keys.session_token)
