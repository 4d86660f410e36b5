"""Jobs over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fencepost.adapters.api import render
from fencepost.adapters.api.access import NAME_RULE
from fencepost.adapters.api.conditional import precondition, unchanged
from fencepost.adapters.api.history import asked, entries
from fencepost.adapters.api.http import Answer, Request
from fencepost.adapters.api.models import NoteBody, PauseBody
from fencepost.adapters.api.paging import limit, page, position
from fencepost.adapters.api.problems import etag, missing, refusal
from fencepost.adapters.api.reading import checked, read_object
from fencepost.adapters.api.translate import job_draft, patched_draft, settled_delay
from fencepost.application.registry import lifecycle, revisions
from fencepost.application.registry.commit import Done
from fencepost.application.registry.drafts import JobDraft
from fencepost.application.registry.job_changes import Change, Current
from fencepost.application.registry.jobs import Declared, JobRequest, Unchanged, Would, declare
from fencepost.application.registry.lifecycle import AtRest, Swept
from fencepost.application.registry.listing import Filter, list_jobs
from fencepost.application.registry.locate import locate, locate_uid
from fencepost.application.registry.reading import detail_of, job_by_uid
from fencepost.application.registry.results import Refusal
from fencepost.application.registry.sweep import cancel_deleted, cancel_unstarted, would_cancel
from fencepost.application.registry.unreadable import UnreadableJobError
from fencepost.application.registry.views import coming, outlook
from fencepost.domain.faults import Fault, Faults
from fencepost.domain.identity import NAME_PATTERN
from fencepost.domain.model import Detail, Execution, Job, Tier
from fencepost.domain.schedule.reading import read_instant
from fencepost.domain.states import JobState


def put(request: Request) -> Answer:
    """Declares the job in full."""
    if not NAME_PATTERN.fullmatch(request.job):
        raise Faults([Fault(field="job", value=request.job, rule=NAME_RULE)])
    draft = job_draft(_declaration(request))
    if request.effect is not None:
        return _done_before(request, request.effect)
    return _declared(request, declare(request.services.registry, _asked(request), lambda _: draft))


def patch(request: Request) -> Answer:
    """Changes what the body names."""
    raw = _declaration(request)
    if request.effect is not None:
        return _done_before(request, request.effect)

    def draw(current: Current | None) -> JobDraft:
        return job_draft(raw) if current is None else patched_draft(current, raw)

    asked = replace(_asked(request, must_exist=True), whole=False)
    return _declared(request, declare(request.services.registry, asked, draw))


def get(request: Request) -> Answer:
    """The job, with what lies ahead of it."""
    job = locate(request.services.store, request.team, request.job)
    if job is None:
        return missing("job", request.job)
    tag = etag(job.revision, job.uid)
    if unchanged(request.headers, tag):
        return Answer(status=304, headers={"ETag": tag})
    return _job(request, job, detail_of(request.services.store, job))


def delete(request: Request) -> Answer:
    """Frees the name and cancels what is not running."""
    if request.effect is not None:
        return _done_before(
            request, request.effect, lambda job: cancel_deleted(request.services.registry, job.uid)
        )
    return _swept(request, lifecycle.delete(request.services.registry, _asked(request)))


def pause(request: Request) -> Answer:
    """Nothing of the job's schedule starts any more."""
    body = checked(PauseBody, read_object(request.body))
    if request.effect is not None:
        begun_too, ports = body.cancel_started, request.services.registry
        return _done_before(
            request, request.effect, lambda job: cancel_unstarted(ports, job, begun_too=begun_too)
        )
    until = None
    if body.until is not None:
        try:
            until = read_instant(body.until)
        except ValueError as error:
            raise Faults([Fault(field="until", value=body.until, rule=str(error))]) from None
        if until <= request.now:
            raise Faults([Fault(field="until", value=body.until, rule="must lie in the future")])
    outcome = lifecycle.pause(
        request.services.registry,
        _asked(request, note=body.note),
        until=until,
        cancel_started=body.cancel_started,
    )
    return _swept(request, outcome)


def resume(request: Request) -> Answer:
    """The job fires again, out of a pause or an error."""
    body = checked(NoteBody, read_object(request.body))
    if request.effect is not None:
        return _done_before(request, request.effect)
    outcome = lifecycle.resume(request.services.registry, _asked(request, note=body.note))
    if isinstance(outcome, Swept):
        return _changed(request, outcome.done.change)
    return _swept(request, outcome)


def browse(request: Request) -> Answer:
    """A team's jobs by name."""
    found = list_jobs(
        request.services.store,
        request.team,
        _filter(request.query),
        now=request.now,
        after=position(request),
        limit=limit(request),
    )
    items = [render.job_summary(listed.job, listed.outlook) for listed in found.items]
    unread = [render.unreadable(each) for each in found.unreadable]
    return page(request, items, found.after, stopped_early=found.stopped_early, unreadable=unread)


def history(request: Request) -> Answer:
    """The changes of a job, deleted ones too, the newest first."""
    uid = locate_uid(request.services.store, request.team, request.job)
    if uid is None:
        return missing("job", request.job)
    found = revisions.job_page(
        request.services.store,
        uid,
        older_than=position(request),
        limit=limit(request),
        asked=asked(request),
    )
    return entries(request, found)


def _declaration(request: Request) -> Mapping[str, Any]:
    """The body; under an Idempotency-Key a delay counts from the first time that it was asked for."""
    raw = read_object(request.body)
    return raw if request.key is None else settled_delay(raw, request.now)


def _asked(request: Request, *, note: str | None = None, must_exist: bool = False) -> JobRequest:
    wanted = precondition(request.headers, of_job=True)
    return JobRequest(
        caller=request.caller,
        team=request.team,
        name=request.job,
        expected=wanted.revision,
        uid=wanted.uid,
        absent=wanted.absent,
        present=wanted.present or must_exist,
        note=note,
        dry_run=request.query.get("dry_run") is True,
        key=request.marked_by,
    )


def _declared(request: Request, outcome: Declared) -> Answer:
    match outcome:
        case Done(change=change):
            return _changed(request, change)
        case Unchanged(current=current):
            return _job(request, current.job, current.detail)
        case Would(change=change):
            return _would(request, change)
        case _:
            return refusal(outcome)


def _done_before(
    request: Request, effect: Mapping[str, Any], sweep: Callable[[Job], tuple[Execution, ...]] | None = None
) -> Answer:
    """An earlier copy of the request did it, and died before it could answer: the job as it is by now. `sweep` is done
    again while nobody has changed the job since.
    """
    job = job_by_uid(request.services.store, str(effect["uid"]))
    if job is None:
        return missing("job", request.job)
    if sweep is None:
        detail = detail_of(request.services.store, job)
        return _job(request, job, detail, 201 if effect["new"] else 200)
    return _told(request, job, sweep(job) if job.revision == effect["rev"] else ())


def _told(request: Request, job: Job, cancelled: Sequence[Execution]) -> Answer:
    """A job as it is after a pause or a delete, as far as it can be read."""
    try:
        answer = _job(request, job, detail_of(request.services.store, job))
    except UnreadableJobError as error:
        answer = _left(request, job, error.why)
    return replace(answer, body={**_fields(answer), "cancelled": [str(record.id) for record in cancelled]})


def _swept(request: Request, outcome: Swept | AtRest | Would | Refusal) -> Answer:
    match outcome:
        case AtRest(current=current, cancelled=cancelled):
            return _told(request, current.job, cancelled)
        case Swept(done=done, cancelled=cancelled):
            unread = done.change.unread
            job = done.change.job
            answer = _changed(request, done.change) if unread is None else _left(request, job, unread.why)
            swept = {"cancelled": [str(record.id) for record in cancelled]}
            return Answer(body={**_fields(answer), **swept}, headers=answer.headers)
        case Would(change=change):
            return _would(request, change)
        case _:
            return refusal(outcome)


def _changed(request: Request, change: Change) -> Answer:
    status = 201 if change.before is None else 200
    return _job(request, change.job, change.detail, status)


def _job(request: Request, job: Job, detail: Detail, status: int = 200) -> Answer:
    ahead = outlook(request.services.store, job, request.services.now())
    return Answer(
        status=status, body=render.job(job, detail, ahead), headers={"ETag": etag(job.revision, job.uid)}
    )


def _left(request: Request, job: Job, why: str) -> Answer:
    """A job that is deleted or paused and cannot be read in full: what its item says now, and why there is no more."""
    ahead = outlook(request.services.store, job, request.services.now())
    body = render.job_summary(job, ahead) | {"unreadable": why}
    return Answer(body=body, headers={"ETag": etag(job.revision, job.uid)})


def _fields(answer: Answer) -> dict[str, Any]:
    assert isinstance(answer.body, dict)  # noqa: S101 - answers about jobs are objects
    return answer.body


def _would(request: Request, change: Change) -> Answer:
    """What a dry run found. The executions it names are those among the job's newest records."""
    store, now = request.services.store, request.now
    before = change.before if change.unread is None else None
    return Answer(
        body={
            "dry_run": True,
            "before": None if before is None else render.declared(before.job, before.detail),
            "after": _after(change),
            "next_before": [] if before is None else render.occurrences(coming(store, before.job, now)),
            "next_after": render.occurrences(coming(store, change.job, now)),
            "cancels": [str(record.id) for record in would_cancel(store, change)],
        }
    )


def _after(change: Change) -> dict[str, Any]:
    """What the job would be; one that cannot be read leaves only what its item holds."""
    if change.unread is not None and change.what in {"delete", "pause"}:
        return render.left(change.job) | {"unreadable": change.unread.why}
    return render.declared(change.job, change.detail)


def _filter(query: Any) -> Filter:  # noqa: ANN401 - read by the parameters that the route declares
    state, tier = query.get("state"), query.get("tier")
    return Filter(
        prefix=query.get("prefix", ""),
        state=None if state is None else JobState(state),
        tier=None if tier is None else Tier(tier),
        labels=tuple(query.get("label", ())),
        next_after=query.get("next_after"),
        next_before=query.get("next_before"),
    )
