"""The egress guard: the one way by which Fencepost calls a URL that a team wrote.

Creating, testing, delivering, retrying and notifying all pass here. The guard reads the URL, resolves the name,
judges *every* address, and connects to a judged address only; the name is not resolved again.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from fencepost.adapters.http.connector import (
    BrokenError,
    Connector,
    HttpRequest,
    NotConnectedError,
    SilentError,
)
from fencepost.adapters.http.resolver import Resolver, UnresolvedError
from fencepost.domain.egress import EgressPolicy, HttpUrl, check_address, check_url, split_url
from fencepost.domain.faults import Fault
from fencepost.domain.outcome import Blocked, Failed, Outcome, TimedOut, classify_http, clip

ADDRESSES_TRIED = 4
CHECK_TIMEOUT = 2.0


class GuardedHttp:
    """Calls URLs under an egress policy. `monotonic` gives seconds; only differences of it mean anything."""

    def __init__(self, *, resolver: Resolver, connector: Connector, monotonic: Callable[[], float]) -> None:
        self._resolver = resolver
        self._connector = connector
        self._monotonic = monotonic

    def check(
        self, url: str, policy: EgressPolicy, *, timeout: float = CHECK_TIMEOUT, field: str = "url"
    ) -> tuple[Fault, ...]:
        """Why `url` may not be a target. A name without an address yet is none: each call looks again."""
        faults = check_url(url, policy, field=field)
        if faults:
            return faults
        parsed = split_url(url)
        try:
            addresses = self._addresses(parsed, self._monotonic() + timeout)
        except UnresolvedError:
            return ()
        reason = _blocked(parsed, addresses, policy)
        return () if reason is None else (Fault(field=field, value=url, rule=reason),)

    def call(self, request: HttpRequest, *, policy: EgressPolicy, timeout: float) -> Outcome:
        """One call, at most `timeout` seconds long, name lookup included. Never raises for what a target does."""
        began = self._monotonic()
        deadline = began + timeout
        faults = check_url(request.url, policy)
        if faults:
            return Blocked(reason=clip(faults[0].rule))
        url = split_url(request.url)
        try:
            addresses = self._addresses(url, deadline)
        except UnresolvedError as error:
            return Failed(error=clip(str(error)))
        reason = _blocked(url, addresses, policy)
        if reason is not None:
            return Blocked(reason=clip(reason))
        return self._exchange(url, addresses[:ADDRESSES_TRIED], request, deadline)

    def _addresses(self, url: HttpUrl, deadline: float) -> tuple[str, ...]:
        if url.address is not None:
            return (str(url.address),)
        return self._resolver.resolve(url.host, url.port, deadline)

    def _exchange(
        self, url: HttpUrl, addresses: tuple[str, ...], request: HttpRequest, deadline: float
    ) -> Outcome:
        """The first address that lets us in gets the request; none other does, however it ends."""
        problem = "no address"
        began = self._monotonic()
        for index, address in enumerate(addresses):
            now = self._monotonic()
            connect_by = now + (deadline - now) / (len(addresses) - index)
            try:
                answer = self._connector.exchange(
                    url, address, request, connect_by=connect_by, deadline=deadline
                )
            except NotConnectedError as error:
                problem = str(error)
            except SilentError as error:
                return TimedOut(error=clip(str(error)))
            except BrokenError as error:
                return Failed(error=clip(str(error)))
            else:
                arrived = request.sent_at + timedelta(seconds=self._monotonic() - began)
                return classify_http(answer.status, answer.headers, answer.body, arrived)
        return Failed(error=clip(problem))


def _blocked(url: HttpUrl, addresses: tuple[str, ...], policy: EgressPolicy) -> str | None:
    """One forbidden address among many is enough: which of them would be used is not ours to guess."""
    for address in addresses:
        reason = check_address(address, policy, port=url.port)
        if reason is not None:
            return f"{url.host} must not point inside a network: {reason}"
    return None
