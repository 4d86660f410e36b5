"""What workers and operators say about executions: heartbeat, complete, fail, redrive, run now."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import assert_never

from fencepost.adapters.api.executions import find, one
from fencepost.adapters.api.http import Answer, Request
from fencepost.adapters.api.models import CompleteBody, FailBody, HeartbeatBody, NoteBody, RedriveBody
from fencepost.adapters.api.parts import done_before, one_of
from fencepost.adapters.api.problems import ProblemError, conflict, detail_of, missing
from fencepost.adapters.api.reading import checked, read_object
from fencepost.application.delivery import redrive as redriving
from fencepost.application.delivery import worker
from fencepost.application.idempotency import RequestKey
from fencepost.application.registry.dead_letters import dead_by, list_dead_letters
from fencepost.application.registry.reading import find_job
from fencepost.domain.identity import ExecutionId
from fencepost.domain.model import Execution

LONGEST = timedelta(seconds=15)


def heartbeat(request: Request) -> Answer:
    """The work goes on: the lease is extended."""
    body = checked(HeartbeatBody, read_object(request.body))
    workers = request.services.delivery.workers
    return _heard(request, workers.heartbeat(request.team, identity(request), body.fence, request.now))


def complete(request: Request) -> Answer:
    """The work is done."""
    body = checked(CompleteBody, read_object(request.body))
    workers = request.services.delivery.workers
    answer = workers.complete(request.team, identity(request), body.fence, body.result, request.now)
    return _heard(request, answer)


def fail(request: Request) -> Answer:
    """The work failed: retried by the job's policy, or dead at once where another attempt is not worth making."""
    body = checked(FailBody, read_object(request.body))
    answer = request.services.delivery.workers.fail(
        request.team,
        identity(request),
        body.fence,
        body.error,
        request.now,
        retryable=not body.permanent,
    )
    return _heard(request, answer)


def redrive(request: Request) -> Answer:
    """A dead execution goes back to the queue, with its budget anew."""
    checked(NoteBody, read_object(request.body))
    found = find(request) if request.effect is not None else None
    if found is not None:  # an earlier copy of the request did it, and died before it could answer
        return one(request, found)
    return _redriven(request, identity(request), request.marked_by)


def _redriven(request: Request, execution: ExecutionId, key: RequestKey | None = None) -> Answer:
    answer = request.services.delivery.redrive.one(request.caller, request.team, execution, request.now, key)
    match answer:
        case redriving.Redriven(record) | redriving.OnItsWay(record):
            return one(request, record)
        case redriving.NotDead(state):
            rule = "only what is DEAD can be redriven"
            return conflict("not-dead", f"{rule}; this is {state}, and nothing was changed")
        case redriving.JobDeleted():
            return conflict("job-deleted", "its job was deleted, and nothing of it begins any more")
        case redriving.NoSuchExecution():
            return missing("execution", str(execution))
        case _:
            assert_never(answer)


def redrive_all(request: Request) -> Answer:
    """A page of the team's dead letters, the newest death first, for as long as the caller may wait."""
    body = checked(RedriveBody, read_object(request.body))
    clock = request.services.registry.clock
    begun, again = clock.now(), list(done_before(request))
    left: list[dict[str, str]] = []
    page, more = _dead(request, body.limit - len(again))
    for record in page:
        if clock.now() - begun > LONGEST:
            return Answer(body={"redriven": again, "left": left, "more": True})
        identity = record.id
        answer = one_of(request, str(identity), partial(_part, identity=identity))
        if answer.status < 400:
            again.append(str(identity))
        else:
            left.append({"id": str(identity), "why": detail_of(answer)})
    return Answer(body={"redriven": again, "left": left, "more": more})


def _dead(request: Request, limit: int) -> tuple[Sequence[Execution], bool]:
    """The newest dead letters as of when the request came in, and whether there are more. What an earlier copy of it has
    redriven is none any longer, or died later: so the rest of its page comes first.
    """
    store, place = request.services.store, dead_by(request.now)
    found = list_dead_letters(store, request.team, after=place, limit=max(limit, 1))
    if limit > 0:
        return found.items, found.after is not None
    return (), bool(found.items)


def _part(request: Request, identity: ExecutionId) -> Answer:
    if request.effect is not None:
        return Answer()
    return _redriven(request, identity, request.marked_by)


def run(request: Request) -> Answer:
    """One run outside of the schedule. The same Idempotency-Key names the same run."""
    checked(NoteBody, read_object(request.body))
    job = find_job(request.services.store, request.team, request.job)
    if job is None:
        return missing("job", request.job)
    key = request.key or request.services.registry.entropy.token()
    started = request.services.delivery.run_now.start(job, key, request.caller, request.now)
    return one(request, started.record, 200 if started.repeated else 201)


def identity(request: Request) -> ExecutionId:
    """The id in the path. Raises ProblemError (404) for what is none."""
    try:
        return ExecutionId.parse(request.path["id"])
    except ValueError:
        raise ProblemError(missing("execution", request.path["id"])) from None


def _heard(request: Request, answer: worker.Answer) -> Answer:
    match answer:
        case worker.Accepted(record):
            return one(request, record)
        case worker.StaleFence(current):
            return conflict("stale-fence", f"a later fence, {current}, holds this execution: stop the work")
        case worker.LeaseLost(state):
            return conflict("lease-lost", f"the lease is over, the execution is {state}: stop the work")
        case worker.NotFound():
            return missing("execution", request.path["id"])
        case _:
            assert_never(answer)
