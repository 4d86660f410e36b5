"""The many things that one request does, under its Idempotency-Key: each leaves a mark with its own effect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from fencepost.adapters.api.http import Answer, Request
from fencepost.adapters.api.problems import refused
from fencepost.application.idempotency import PartKey, effect_of, effects, part_of

_OVERTAKEN = frozenset({409, 503})
"""How a write is refused that finds its mark there: to no avail, whatever it tries."""


def done_before(request: Request) -> Mapping[str, Mapping[str, Any]]:
    """What earlier copies of the request have done, by part."""
    if request.marked_by is None or not request.again:
        return {}
    return effects(request.services.store, request.marked_by, request.now)


def key_of(request: Request, part: str) -> PartKey | None:
    """Where the part leaves its mark; None without an Idempotency-Key."""
    return None if request.marked_by is None else part_of(request.marked_by, part, request.now)


def one_of(request: Request, part: str, act: Callable[[Request], Answer]) -> Answer:
    """`act` of one part, whose refusals are its own. What another copy of the request does meanwhile is answered as
    done.
    """
    key = key_of(request, part)
    answer = refused(lambda: act(replace(request, marked_by=key)))
    if key is None or answer.status not in _OVERTAKEN:
        return answer

    def done_by_another() -> Answer:
        effect = effect_of(request.services.store, key)
        return answer if effect is None else act(replace(request, marked_by=None, effect=effect))

    return refused(done_by_another)
