"""Calls of a stage's API, signed as IAM wants them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import urllib3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials, ReadOnlyCredentials


@dataclass(frozen=True, slots=True)
class Answer:
    """Status and document of one answer; a body that is no JSON is its text."""

    status: int
    body: Any


@dataclass(frozen=True, kw_only=True)
class SignedApi:
    """A stage's API at `url`. `credentials` None: unsigned, to see it refused."""

    url: str
    region: str
    credentials: Credentials | ReadOnlyCredentials | None

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None, **headers: str) -> Answer:
        """One call. A header's underscores stand for hyphens."""
        content = None if body is None else json.dumps(body).encode()
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        url = self.url.rstrip("/") + path
        request = AWSRequest(method=method, url=url, data=content, headers=given)
        if content is not None:
            request.headers["Content-Type"] = "application/json"
        if self.credentials is not None:
            SigV4Auth(self.credentials, "execute-api", self.region).add_auth(request)
        with urllib3.PoolManager(retries=False) as pool:
            answer = pool.request(method, url, body=content, headers=dict(request.headers), timeout=30)
        return Answer(answer.status, _read(answer.data))


def _read(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data.decode(errors="replace")
