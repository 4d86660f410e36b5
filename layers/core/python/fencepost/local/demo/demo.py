"""The demo as a whole: its target for as long as it lasts, and its team and jobs once the API answers."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from fencepost.application.ports import Clock
from fencepost.local.caller import ApiCaller
from fencepost.local.demo.jobs import declare_jobs, declare_team
from fencepost.local.demo.target import DemoTarget
from fencepost.local.files import DataDir
from fencepost.local.gateway.credentials import Credential
from fencepost.local.identities import Identities


class Demo:
    """A context in which the target answers: it begins before the engine does, and ends after it.

    The target keeps its port over restarts, since firings that have begun keep their target.
    """

    def __init__(self, *, endpoint: str, known: Identities, region: str, clock: Clock, data: DataDir) -> None:
        self._endpoint = endpoint
        self._known = known
        self._region = region
        self._clock = clock
        self._data = data
        self._target = self._listening()

    def __enter__(self) -> Self:
        """The target answers."""
        self._target.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The target answers no more."""
        self._target.stop()

    def declare(self) -> None:
        """Declares team and jobs over the API. Raises CallError."""
        declare_team(self._caller(self._known.admin), self._target.url)
        declare_jobs(self._caller(self._known.demo), self._target.url)

    def _caller(self, credential: Credential) -> ApiCaller:
        return ApiCaller(
            endpoint=self._endpoint, credential=credential, region=self._region, clock=self._clock
        )

    def _listening(self) -> DemoTarget:
        """On the port of the last time, or on a free one where there was none or somebody has taken it."""

        def worker() -> ApiCaller:
            return self._caller(self._known.demo)

        mark = self._data.path / "demo.port"
        try:
            target = DemoTarget(self._clock, worker, int(mark.read_text()))
        except (OSError, ValueError):
            target = DemoTarget(self._clock, worker)
        mark.write_text(str(target.port))
        return target
