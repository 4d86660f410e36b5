"""What a route is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from fencepost.adapters.api.access import Role
from fencepost.adapters.api.http import Answer, Request
from fencepost.adapters.api.queries import Parameter

Handle = Callable[[Request], Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One method of one path. `gives`: a model, a union of models or None, by
    status. `conditional`: it answers and obeys entity tags; `writes`: it obeys
    Idempotency-Key. `conflicts`: it may answer 409. `secret`: its answer holds
    a secret, and is kept for repetitions in an envelope only. `asks`: it
    changes nothing, though it is a POST. `marks`: its writes say beside the
    key that they are done. `unread`: it has its own way with a team that nobody
    can read.
    """

    name: str
    method: str
    path: str
    says: str
    role: Role
    handle: Handle
    gives: Mapping[int, Any]
    takes: type[BaseModel] | None = None
    optional_body: bool = False
    query: tuple[Parameter, ...] = ()
    conditional: bool = False
    conflicts: bool = False
    secret: bool = False
    asks: bool = False
    marks: bool = False
    unread: bool = False

    @property
    def writes(self) -> bool:
        """Whether it may change something."""
        return self.method != "GET" and not self.asks

    @property
    def creates_team(self) -> bool:
        """Whether its team need not be there yet, or any more."""
        return self.variables == ("team",) and self.method in {"PUT", "DELETE"}

    @property
    def variables(self) -> tuple[str, ...]:
        """The path's variables, in order."""
        return tuple(re.findall(r"{(\w+)}", self.path))

    @property
    def pattern(self) -> re.Pattern[str]:
        """What the route's paths look like."""
        return re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", self.path))
