"""A target of many tempers, with answers that are worth reading."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from fencepost.local.gateway.request import Request, Response
from fencepost.local.gateway.server import HttpServer
from fencepost.runtime.clock import sleep_ms

Answer = tuple[int, object]


class Target:
    """Answers by the path's first word: ok, slow (2 s), flaky (503 twice per execution), broken, work (202, and nobody
    ever reports). `mended`: what is broken answers 200 from then on.
    """

    def __init__(self) -> None:
        self.mended = False
        self.calls: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._server = HttpServer(self._answer, 0, name="target")

    @property
    def url(self) -> str:
        """Where it listens."""
        return self._server.url

    @contextmanager
    def serving(self) -> Iterator[Target]:
        """Answers for as long."""
        self._server.start()
        yield self
        self._server.stop()

    def _answer(self, request: Request) -> Response:
        execution = request.header("fencepost-execution") or ""
        with self._lock:
            self.calls[execution] += 1
            times = self.calls[execution]
        status, body = self._temper(request.path.split("/")[1], times)
        return Response(
            status=status, headers={"Content-Type": ["application/json"]}, body=json.dumps(body).encode()
        )

    def _temper(self, temper: str, times: int) -> Answer:
        match temper:
            case "slow":
                sleep_ms(2_000)
                return 200, {"scanned": 48_211}
            case "flaky" if times <= 2:
                return 503, {"error": "rate feed is warming up"}
            case "broken" if not self.mended:
                return 500, {"error": "could not connect to ledger-replica-2"}
            case "work":
                return 202, {"accepted": True}
            case _:
                return 200, {"rows": 1_204}
