"""Pages of lists: the cursor belongs to one team, one list and one set of filters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from fencepost.adapters.api.http import Answer, Request

T = TypeVar("T")
DEFAULT_LIMIT = 50


def limit(request: Request) -> int:
    """How many items the page may hold."""
    return int(str(request.query.get("limit", DEFAULT_LIMIT)))


def scope(request: Request) -> str:
    """What a cursor of this list is good for."""
    filters = {name: str(value) for name, value in request.query.items() if name not in {"cursor", "limit"}}
    return json.dumps([sorted(request.path.items()), request.resource, sorted(filters.items())])


def position(request: Request) -> Any:  # noqa: ANN401 - the position that the list itself had sealed
    """Where the page before stopped; None for the first page. Raises Faults for a cursor of another list."""
    cursor = request.query.get("cursor")
    return request.services.cursors.open(scope(request), None if cursor is None else str(cursor))


def following(request: Request, after: object) -> str | None:
    """The cursor of the page that begins after `after` (None: there is none)."""
    return None if after is None else request.services.cursors.seal(scope(request), after)


def page(
    request: Request,
    items: Sequence[Mapping[str, Any]],
    after: object,
    *,
    stopped_early: bool | None = None,
    **more: Any,
) -> Answer:
    """A page whose successor begins after `after` (None: there is none). `more`: what else it says."""
    body: dict[str, Any] = {"items": list(items), "next": following(request, after), **more}
    if stopped_early is not None:
        body["stopped_early"] = stopped_early
    return Answer(body=body)
