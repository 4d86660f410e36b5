"""Audit trails over HTTP: who changed what, when, from what to what."""

from __future__ import annotations

from fencepost.adapters.api.http import Answer, Request
from fencepost.adapters.api.paging import limit, page, position
from fencepost.application.registry.revisions import Asked, EntryPage, entry_to_wire, stage_page


def of_stage(request: Request) -> Answer:
    """The changes of the stage's switches, the newest first."""
    found = stage_page(
        request.services.store, older_than=position(request), limit=limit(request), asked=asked(request)
    )
    return entries(request, found)


def asked(request: Request) -> Asked:
    """Which entries the query asks for."""
    query = request.query
    return Asked(
        since=query.get("from"),  # type: ignore[arg-type]  # read by its parameter
        before=query.get("to"),  # type: ignore[arg-type]  # read by its parameter
        actor=query.get("actor"),  # type: ignore[arg-type]  # read by its parameter
    )


def entries(request: Request, found: EntryPage) -> Answer:
    """A page of entries."""
    items = [entry_to_wire(entry) for entry in found.items]
    return page(request, items, found.after, stopped_early=found.stopped_early)
