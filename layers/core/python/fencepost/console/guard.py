"""Who may talk to the page's server: the browser that was given this run's token, and no page of another origin.

The server signs whatever it passes on with its owner's credentials, so a stranger's page in the same browser must reach
nothing: `Host` must name this machine (DNS rebinding), `Origin` and `Sec-Fetch-Site` must be the page's own, and calls
must carry the session's cookie, which only the token buys, and a header that no other origin can send unasked.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie

from fencepost.local.gateway.request import Request

HEADER = "Fencepost-Console"
"""Sent with every call: another origin's script would have to ask first, and is never answered."""

_LOOPBACK = re.compile(r"(?:127\.0\.0\.1|localhost)(?::(\d{1,5}))?", re.ASCII)
_OWN_SITE = frozenset({None, "same-origin"})
_OPENED = frozenset({None, "same-origin", "same-site", "cross-site", "none"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """`token` is told to the owner and opens the page; `session` is what the browser then keeps. Both are drawn anew for
    each run.
    """

    token: str = field(repr=False)
    session: str = field(repr=False)

    def strange(self, request: Request) -> str | None:
        """Why nothing at all is answered; None for a request of the page's own, or a visit to it."""
        host = _only(request, "host")
        if host is None or not _LOOPBACK.fullmatch(host):
            return "Host must name this machine"
        origin = request.values("origin")
        if origin and origin != [f"http://{host}"]:
            return "pages of other origins may not call"
        if request.method not in {"GET", "HEAD"} and not origin:
            return "a change must come from the page"
        if _only(request, "sec-fetch-site") not in (_OPENED if _visit(request) else _OWN_SITE):
            return "pages of other sites may not call"
        return None

    def opened_by(self, request: Request, token: str) -> bool:
        """Whether a visit brings this run's token."""
        return request.method == "GET" and _same(token, self.token)

    def known(self, request: Request) -> bool:
        """Whether a call comes from a page that the token opened."""
        return _only(request, HEADER) == "1" and any(
            _same(value, self.session) for value in _cookies(request, self._cookie_name(request))
        )

    def cookie(self, request: Request, path: str) -> str:
        """What the browser keeps until it is closed: no script may read it, no other site may send it."""
        return f"{self._cookie_name(request)}={self.session}; Path={path}; HttpOnly; SameSite=Strict"

    def _cookie_name(self, request: Request) -> str:
        """Cookies know no ports, and one machine may run several consoles."""
        found = _LOOPBACK.fullmatch(_only(request, "host") or "")
        return f"fencepost-console-{(found and found[1]) or '80'}"


def _visit(request: Request) -> bool:
    """A page opened in a window of its own, from wherever; it holds no secret before it has called."""
    return request.method == "GET" and _only(request, "sec-fetch-mode") == "navigate"


def _only(request: Request, name: str) -> str | None:
    """The header's value; an empty text, which fits nothing, where it came twice."""
    found = request.values(name)
    return None if not found else found[0] if len(found) == 1 else ""


def _cookies(request: Request, name: str) -> list[str]:
    found = []
    for header in request.values("cookie"):
        try:
            jar = SimpleCookie(header)
        except CookieError:
            continue
        if name in jar:
            found.append(jar[name].value)
    return found


def _same(given: str, wanted: str) -> bool:
    """Takes as long whether the beginning fits or not."""
    return hmac.compare_digest(given.encode(), wanted.encode())
