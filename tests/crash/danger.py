"""The one place where a process dies: counts calls to the outside, and ends the process before or after one of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fencepost.adapters.seam import PortCall
from tests.support.faults import Killed

T = TypeVar("T")


@dataclass
class Danger:
    """Kills the process at call number `at` (from 0): before it took effect, or `after`. None: counts only."""

    at: int | None = None
    after: bool = False
    armed: bool = False
    killed: bool = False
    calls: list[str] = field(default_factory=list)

    @property
    def effects(self) -> list[int]:
        """The calls that change something. A death before or after a read leaves what the last effect left."""
        reads = ("get", "get_item", "pages", "query", "batch_get", "batch_get_item", "scan")
        return [at for at, name in enumerate(self.calls) if name.partition(".")[2] not in reads]

    def pass_by(self, name: str, proceed: Callable[[], T]) -> T:
        """The call, if the process lives to see it. Raises Killed."""
        if not self.armed:
            return proceed()
        self.calls.append(name)
        if len(self.calls) - 1 != self.at:
            return proceed()
        if self.after:
            with suppress(Exception):  # an answer that refuses is an answer; nobody lives to see it
                proceed()
        self.killed = True
        raise Killed

    def __call__(self, call: PortCall, proceed: Callable[[], T], /) -> T:
        """See `Around`: each call of a port, page by page, is one."""
        return self.pass_by(f"{call.port}.{call.method}", proceed)


class Dangerous:
    """A client of a service, each of whose requests is a call to the outside."""

    def __init__(self, client: object, service: str, danger: Danger) -> None:
        self._client = client
        self._service = service
        self._danger = danger

    def __getattr__(self, name: str) -> Any:
        request = getattr(self._client, name)

        def sent(**parameters: Any) -> Any:
            return self._danger.pass_by(f"{self._service}.{name}", lambda: request(**parameters))

        return sent
