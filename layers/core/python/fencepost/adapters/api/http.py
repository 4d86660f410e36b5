"""A request and an answer, as the API's functions see them: no event, no framework."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from fencepost.application.idempotency import RequestKey
from fencepost.domain.model import Caller

if TYPE_CHECKING:
    from fencepost.adapters.api.services import Services

JSON = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call of `resource`, a route's path. `path` holds the route's variables, header names are lower case, `query`
    its declared parameters as read, `body` the JSON value (None where there is none). `now` is when it came in, `key`
    its Idempotency-Key; `marked_by`: where a write may leave a mark that it is done; `effect`: the mark that an earlier
    copy of the request left, so that there is nothing to do but to answer; `again`: an earlier copy may have done some of
    it.
    """

    services: Services
    resource: str
    caller: Caller
    now: datetime
    path: Mapping[str, str]
    query: Mapping[str, object] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    key: str | None = None
    marked_by: RequestKey | None = None
    effect: Mapping[str, Any] | None = None
    again: bool = False

    @property
    def team(self) -> str:
        """The team of the path."""
        return self.path["team"]

    @property
    def job(self) -> str:
        """The job of the path."""
        return self.path["job"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What goes back. `body` is a JSON value, None for no body at all."""

    status: int = 200
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    media: str = JSON
