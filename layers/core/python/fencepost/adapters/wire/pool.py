"""Connections that are used again while they are warm, and made anew after a rest.

A function is frozen between its events. Meanwhile the service, or Lambda itself, drops what lies idle, and no word of it
reaches the frozen process: the next request on such a connection is reset or never answered, and a write is in doubt.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.util import parse_url

from fencepost.adapters.aws import LONGEST_REST

if TYPE_CHECKING:
    from urllib3._base_connection import BaseHTTPConnection

Now = Callable[[], datetime]


class _WarmPool(HTTPConnectionPool):
    def __init__(self, *place: Any, now: Now, **more: Any) -> None:
        super().__init__(*place, **more)
        self._now = now
        self._used: WeakKeyDictionary[BaseHTTPConnection, datetime] = WeakKeyDictionary()

    def _get_conn(self, timeout: float | None = None) -> BaseHTTPConnection:
        connection = super()._get_conn(timeout)
        used = self._used.get(connection)
        if used is not None and self._now() - used > LONGEST_REST:
            connection.close()  # it opens anew for the request
        return connection

    def _put_conn(self, conn: BaseHTTPConnection | None) -> None:
        if conn is not None:
            self._used[conn] = self._now()
        super()._put_conn(conn)


class _WarmTlsPool(_WarmPool, HTTPSConnectionPool):
    pass


def warm_pool(
    endpoint: str, now: Now, *, size: int, trust: Callable[[], ssl.SSLContext]
) -> HTTPConnectionPool:
    """At most `size` connections to an ``https`` or ``http`` endpoint, idle for a minute at most; `trust` is asked for TLS."""
    url = parse_url(endpoint)
    if url.scheme == "https":
        return _WarmTlsPool(url.host, url.port or 443, now=now, maxsize=size, ssl_context=trust())
    return _WarmPool(url.host, url.port or 80, now=now, maxsize=size)
