"""`fencepost console`: a server of its own on loopback, for as long as its owner wants."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fencepost.client.calls import Caller
from fencepost.console.guard import Guard
from fencepost.console.site import PATH, Console
from fencepost.local.gateway.request import Request, Response
from fencepost.local.gateway.server import HttpServer
from fencepost.runtime.entropy import token_hex


def console(caller: Caller, team: str | None) -> Console:
    """A console whose token and session are drawn now."""
    return Console(caller=caller, team=team, guard=Guard(token=token_hex(), session=token_hex()))


@contextmanager
def serving(site: Console, port: int) -> Iterator[str]:
    """Serves within the context; what it gives is the address that opens the page. Raises OSError for a port that
    cannot be had; 0 takes a free one.
    """
    server = HttpServer(lambda request: _answer(site, request), port, name="console")
    server.start()
    try:
        yield site.entry(server.url)
    finally:
        server.stop()


def _answer(site: Console, request: Request) -> Response:
    """The console, and nothing else."""
    return site(request) or Response(status=303, headers={"Location": [f"{PATH}/"]})
