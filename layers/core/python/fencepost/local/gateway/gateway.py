"""What happens to a request between the socket and the API function, in API Gateway's order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import unquote

from fencepost.application.ports import Clock
from fencepost.local.gateway.credentials import Credential, CredentialsError
from fencepost.local.gateway.policy import INVOKE, Decision, decide, invocation
from fencepost.local.gateway.proxy import Invocation, broken, from_result, to_event
from fencepost.local.gateway.request import Request, Response, problem
from fencepost.local.gateway.signature import Unverified, Verifier

Handler = Callable[[Mapping[str, Any], Any], Any]
_LOOPBACK_HOST = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?", re.IGNORECASE)


class Mount(Protocol):
    """Something served beside the API under a path of its own, by its own rules; None: not mine."""

    def __call__(self, request: Request, /) -> Response | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """Answers requests. `anyone`: unsigned callers are this one (`--no-auth`); None: every call is signed.

    `failed` is told of exceptions that the API function let out; the caller gets a 502 either way.
    """

    api: Handler
    verifier: Verifier
    clock: Clock
    new_id: Callable[[], str]
    failed: Callable[[Exception], None]
    region: str
    stage: str = "local"
    anyone: Credential | None = None
    mounts: tuple[Mount, ...] = field(default=())

    def answer(self, request: Request) -> Response:
        """One answer, whatever comes. Never raises."""
        try:
            return self._refused(request) or self._mounted(request) or self._authorized(request)
        except CredentialsError as error:
            return problem(503, "Service Unavailable", str(error), kind="ServiceUnavailableException")
        except Exception as error:  # noqa: BLE001 - one request must not end the server
            self.failed(error)
            return broken()

    def _refused(self, request: Request) -> Response | None:
        """What no route may ever see: another site's page in the owner's browser, and paths with two readings."""
        host = request.header("host") or ""
        if not _LOOPBACK_HOST.fullmatch(host):
            return problem(403, "Forbidden", "Host must name this machine", kind="ForbiddenException")
        if self.anyone is not None and request.header("origin") not in {None, f"http://{host}"}:
            return problem(403, "Forbidden", "pages of other sites may not call", kind="ForbiddenException")
        if not plain(request.path):
            return problem(400, "Bad Request", "the path has two readings", kind="BadRequestException")
        return None

    def _mounted(self, request: Request) -> Response | None:
        for mount in self.mounts:
            response = mount(request)
            if response is not None:
                return response
        return None

    def _authorized(self, request: Request) -> Response:
        credential = self._caller(request)
        if isinstance(credential, Unverified):
            return problem(403, "Forbidden", credential.detail, kind=credential.kind)
        if credential is not self.anyone:
            resource = invocation(self.region, self.stage, request.method, unquote(request.path))
            decision = decide(credential.policies, INVOKE, resource)
            if decision is not Decision.ALLOWED:
                detail = f"{credential.arn} is {decision} to perform {INVOKE} on {resource}"
                return problem(403, "Forbidden", detail, kind="AccessDeniedException")
        return self._invoke(request, credential)

    def _caller(self, request: Request) -> Credential | Unverified:
        if self.anyone is not None and request.header("authorization") is None:
            return self.anyone
        return self.verifier.verify(request, self.clock.now())

    def _invoke(self, request: Request, credential: Credential) -> Response:
        circumstances = Invocation(
            credential=credential, stage=self.stage, request_id=self.new_id(), now=self.clock.now()
        )
        return from_result(self.api(to_event(request, circumstances), None))


def plain(raw: str) -> bool:
    """Whether a path has one reading only: no empty or dot segments, no escaped slashes, no control characters."""
    if not raw.startswith("/"):
        return False
    segments = [unquote(part) for part in raw[1:].split("/")]
    ending = segments[:-1] if segments[-1] == "" else segments
    return all(
        part not in {"", ".", ".."} and part.isprintable() and not set("/\\") & set(part) for part in ending
    )
