"""Signed calls of the local API, as any other program makes them: over the socket, through the gateway."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from fencepost.application.ports import Clock
from fencepost.local.gateway.credentials import Credential
from fencepost.local.gateway.request import Request
from fencepost.local.gateway.signature import sign

TIMEOUT = 30.0


class CallError(Exception):
    """The API refused a call; says what it answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiCaller:
    """Calls as `credential`."""

    endpoint: str
    credential: Credential
    region: str
    clock: Clock

    def call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - the API's own JSON
        """The answer's JSON. Raises CallError for a refusal."""
        host = urlsplit(self.endpoint).netloc
        content = b"" if body is None else json.dumps(body).encode()
        headers = [("Host", host), ("Content-Type", "application/json")]
        request = Request(method=method, path=path, headers=headers, body=content)
        signed = dict(sign(request, self.credential, self.region, self.clock.now()))
        connection = http.client.HTTPConnection(host, timeout=TIMEOUT)
        try:
            connection.request(method, path, body=content, headers=signed)
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        if answer.status >= 400:
            raise CallError(f"{method} {path} was answered {answer.status}: {text[:500]}")
        return json.loads(text) if text else None
