"""Stand-ins for the network: a resolver that answers from a script, a connector that only remembers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fencepost.adapters.http.client import GuardedHttp
from fencepost.adapters.http.connector import HttpAnswer, HttpRequest
from fencepost.adapters.http.resolver import UnresolvedError
from fencepost.domain.egress import HttpUrl

PUBLIC_ADDRESS = "93.184.216.34"


@dataclass
class ScriptedResolver:
    """Answers each lookup of a name with the next entry of its script; the last one stays. Unknown: `default`."""

    script: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    default: Sequence[str] = (PUBLIC_ADDRESS,)
    asked: list[str] = field(default_factory=list)

    def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        answers = self.script.get(host, (self.default,))
        found = tuple(answers[min(self.asked.count(host), len(answers) - 1)])
        self.asked.append(host)
        if not found:
            raise UnresolvedError(f"{host}: no such name")
        return found


@dataclass
class RememberingConnector:
    """Answers every exchange with `answers`, the last one again and again; an exception among them is raised."""

    answers: Sequence[HttpAnswer | Exception] = (HttpAnswer(status=200, headers={}, body=b"ok"),)
    exchanges: list[tuple[HttpUrl, str, HttpRequest]] = field(default_factory=list)
    connect_by: list[float] = field(default_factory=list)

    def exchange(
        self, url: HttpUrl, address: str, request: HttpRequest, *, connect_by: float, deadline: float
    ) -> HttpAnswer:
        answer = self.answers[min(len(self.exchanges), len(self.answers) - 1)]
        self.exchanges.append((url, address, request))
        self.connect_by.append(connect_by)
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def addresses(self) -> list[str]:
        """Where it was asked to connect, in order."""
        return [address for _, address, _ in self.exchanges]


@dataclass
class ManualMonotonic:
    """Seconds that pass only when told to."""

    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


def guarded(
    resolver: ScriptedResolver | None = None,
    connector: RememberingConnector | None = None,
    monotonic: ManualMonotonic | None = None,
) -> GuardedHttp:
    """The real guard over stand-ins."""
    return GuardedHttp(
        resolver=resolver or ScriptedResolver(),
        connector=connector or RememberingConnector(),
        monotonic=monotonic or ManualMonotonic(),
    )
