"""The demo's target: a real HTTP server on a port of its own, with as many tempers as targets have."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable
from datetime import timedelta

from fencepost.application.ports import Clock
from fencepost.local.caller import ApiCaller, CallError
from fencepost.local.gateway.request import Request, Response
from fencepost.local.gateway.server import HttpServer
from fencepost.local.identities import DEMO_TEAM

SLOW = timedelta(seconds=3)
WORK = timedelta(seconds=6)
_TEMPERS_BEFORE_FORGETTING = 10_000


class DemoTarget:
    """Answers by path: /ok, /flaky (fails twice per firing), /slow (the first attempt takes 3 s), /doomed, /work
    (202, reports 6 s later), /told (takes notifications). `report` calls the API as the worker of /work.
    """

    def __init__(self, clock: Clock, report: Callable[[], ApiCaller], port: int = 0) -> None:
        self._clock = clock
        self._report = report
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._server = HttpServer(self._answer, port, name="demo-target")
        self._tempers: dict[str, Callable[[Request], Response]] = {
            "/flaky": self._flaky,
            "/slow": self._slow,
            "/doomed": lambda _: _says(500, "never"),
            "/work": self._work,
        }

    @property
    def url(self) -> str:
        """Where it listens."""
        return self._server.url

    @property
    def port(self) -> int:
        """The port it listens on."""
        return self._server.port

    def start(self) -> None:
        """Answers until `stop`."""
        self._server.start()

    def stop(self) -> None:
        """Answers nobody any more."""
        self._server.stop()

    def _answer(self, request: Request) -> Response:
        temper = self._tempers.get(request.path)
        return _says(200, "ok") if temper is None else temper(request)

    def _flaky(self, request: Request) -> Response:
        return _says(500, "not yet") if self._times(request) <= 2 else _says(200, "ok")

    def _slow(self, request: Request) -> Response:
        if self._times(request) == 1:
            self._clock.sleep(SLOW)
        return _says(200, "ok")

    def _work(self, request: Request) -> Response:
        execution, fence = request.header("fencepost-execution"), request.header("fencepost-fence")
        if execution is not None and fence is not None:
            threading.Thread(target=self._do, args=(execution, int(fence)), daemon=True).start()
        return _says(202, "working on it")

    def _do(self, execution: str, fence: int) -> None:
        """What a worker does: work, say so meanwhile, report the end; all under the fence that it was given."""
        path = f"/v1/teams/{DEMO_TEAM}/executions/{execution}"
        try:
            self._clock.sleep(WORK / 2)
            self._report().call("POST", f"{path}/heartbeat", {"fence": fence})
            self._clock.sleep(WORK / 2)
            self._report().call("POST", f"{path}/complete", {"fence": fence, "result": "3 rows moved"})
        except (CallError, OSError):
            return  # the service stopped or the lease was lost; its watch sees to the rest

    def _times(self, request: Request) -> int:
        with self._lock:
            if len(self._seen) > _TEMPERS_BEFORE_FORGETTING:
                self._seen.clear()
            execution = request.header("fencepost-execution") or ""
            self._seen[execution] += 1
            return self._seen[execution]


def _says(status: int, text: str) -> Response:
    body = json.dumps({"target": text}).encode()
    return Response(status=status, headers={"Content-Type": ["application/json"]}, body=body)
