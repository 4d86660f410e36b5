"""The console as a whole: what is answered under /console, by which rules."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs, quote

from fencepost.client.calls import Caller
from fencepost.client.credentials import SigV4Signer, on_this_machine
from fencepost.console.forward import Forward, refused
from fencepost.console.guard import Guard
from fencepost.console.pages import INDEX, SHUT, Pages, notice
from fencepost.local.gateway.gateway import plain
from fencepost.local.gateway.request import Request, Response

PATH = "/console"
_API = f"{PATH}/api"
_SESSION = f"{PATH}/session"
_TOKEN = "token"  # noqa: S105 - the name of a parameter
_AGAIN = "Open the address that the terminal printed when it started: each run has its own."


@dataclass(frozen=True, kw_only=True)
class Console:
    """Answers for one stage, which `caller` reaches. `team`: which one the page shows first; None: it asks."""

    caller: Caller
    guard: Guard
    team: str | None = None
    pages: Pages = field(default_factory=Pages)

    def __call__(self, request: Request) -> Response | None:
        """The answer; None for a path that is not the console's."""
        path = request.path
        if path != PATH and not path.startswith(f"{PATH}/"):
            return None
        strange = self.guard.strange(request)
        if strange is not None:
            return refused(403, "Forbidden", strange, "forbidden")
        if path == _SESSION or path.startswith(f"{_API}/"):
            return self._called(request)
        if request.method not in {"GET", "HEAD"}:
            return refused(405, "Method Not Allowed", "pages are read", "method")
        return self._visited(request)

    def entry(self, endpoint: str) -> str:
        """The address that opens the page, on a server at `endpoint`."""
        return f"{endpoint.rstrip('/')}{PATH}/?{_TOKEN}={quote(self.guard.token)}"

    def _visited(self, request: Request) -> Response:
        if request.path == PATH:
            return _moved({})
        given = parse_qs(request.query).get(_TOKEN)
        if given is not None and self.guard.opened_by(request, given[-1]):
            return _moved({"Set-Cookie": [self.guard.cookie(request, PATH)]})
        if given is not None:
            return notice(403, "This key opens nothing", _AGAIN)
        name = request.path.removeprefix(f"{PATH}/") or INDEX
        return self.pages.find(name) or notice(404, "Nothing is here", "The console begins at /console/.")

    def _called(self, request: Request) -> Response:
        if not self.guard.known(request):
            return refused(401, "Unauthorized", _AGAIN, "unopened")
        if request.path == _SESSION:
            return self._session()
        if not plain(request.path):
            return refused(400, "Bad Request", "the path has two readings", "unreadable")
        return self._forward(request, request.path.removeprefix(_API))

    def _session(self) -> Response:
        """What the page says about itself, and needs for the commands that it offers to copy."""
        signer, endpoint = self.caller.signer, self.caller.endpoint
        known: dict[str, Any] = {"endpoint": endpoint, "team": self.team, "local": on_this_machine(endpoint)}
        known["region"] = signer.region if isinstance(signer, SigV4Signer) else None
        headers = {**SHUT, "Content-Type": ["application/json"]}
        return Response(status=200, headers=headers, body=json.dumps(known).encode())

    @cached_property
    def _forward(self) -> Forward:
        return Forward(self.caller)


def _moved(headers: dict[str, list[str]]) -> Response:
    """On to the page itself: the token leaves the address bar at once."""
    return Response(status=303, headers={**SHUT, "Location": [f"{PATH}/"], **headers})
