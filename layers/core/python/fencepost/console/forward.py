"""The page's calls on their way to the stage: signed here, so that no credential ever reaches the browser."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, quote, unquote, urlencode

from fencepost.client.calls import AGENT, Caller
from fencepost.client.errors import ConfigurationError
from fencepost.client.transport import HttpRequest, NoAnswerError
from fencepost.console.pages import SHUT
from fencepost.local.gateway.request import PROBLEM, Request, Response, problem

METHODS = frozenset({"GET", "PUT", "PATCH", "POST", "DELETE"})
_SENT = ("Accept", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match")
_RETURNED = ("content-type", "etag", "retry-after", "x-amzn-errortype")
_PATH = re.compile(r"/v1(?:/[^/]+)+")


class Forward:
    """Passes calls of the API on, one try each: the page itself knows which of them may be repeated."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def __call__(self, request: Request, path: str) -> Response:
        """The stage's answer to `path` (from /v1 on, still escaped), or the problem that kept it away."""
        if request.method not in METHODS or not _PATH.fullmatch(path):
            return refused(404, "Not Found", "the page passes on calls of the API only", "not-found")
        try:
            answer = self._caller.transport.send(self._caller.signer.sign(self._signable(request, path)))
        except ConfigurationError as error:
            return refused(502, "No credentials", str(error), "credentials")
        except NoAnswerError as error:
            return refused(
                502, "No answer", f"no answer from {self._caller.endpoint}: {error}", "unreachable"
            )
        headers = {name: [answer.headers[name]] for name in _RETURNED if name in answer.headers}
        return Response(status=answer.status, headers={**SHUT, **headers}, body=answer.body)

    def _signable(self, request: Request, path: str) -> HttpRequest:
        """Path and query in the one spelling that both sides of a signature agree on."""
        clean = "/".join(quote(unquote(part), safe="~") for part in path.split("/"))
        query = urlencode(parse_qsl(request.query, keep_blank_values=True), quote_via=quote)
        headers = {name: value for name in _SENT if (value := request.header(name)) is not None}
        return HttpRequest(
            method=request.method,
            url=self._caller.endpoint.rstrip("/") + clean + (f"?{query}" if query else ""),
            headers={**headers, "User-Agent": f"{AGENT} console"},
            body=request.body,
        )


def refused(status: int, title: str, detail: str, kind: str) -> Response:
    """A refusal of this server's own, told as the API tells its own."""
    told = problem(status, title, detail, kind=kind)
    return Response(status=status, headers={**SHUT, "Content-Type": [PROBLEM]}, body=told.body)
