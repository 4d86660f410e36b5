"""Refusals as RFC 9457 problems: one shape for every 4xx and 503, with every fault of the input at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from fencepost.adapters.api.http import Answer
from fencepost.application.codec import NewerShapeError, UndecodableError
from fencepost.application.registry.results import (
    BeingDeleted,
    Conflict,
    Missing,
    NotAllowed,
    OverLimit,
    Refusal,
)
from fencepost.application.registry.unreadable import MendableError
from fencepost.application.registry.unreadable_teams import UnreadableTeamError
from fencepost.application.store import OutcomeUnknownError, StoreBusyError
from fencepost.domain.faults import Fault, Faults

MEDIA = "application/problem+json"
_TITLES = {
    400: "The request cannot be read",
    403: "Not yours",
    404: "Not found",
    405: "No such method here",
    409: "In conflict with the present state",
    412: "Changed since you read it",
    413: "Too large",
    422: "The input has faults",
    428: "Say which revision you change",
    503: "Try again",
}


class ProblemError(Exception):
    """Ends a request with this problem."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        super().__init__(str(answer.body))


def problem(
    status: int, kind: str, detail: str, faults: Sequence[Fault] = (), headers: dict[str, str] | None = None
) -> Answer:
    """The answer for a refusal. `kind` is stable, `detail` is for people."""
    body = {
        "type": f"urn:fencepost:problem:{kind}",
        "title": _TITLES[status],
        "status": status,
        "detail": detail,
        "faults": [_fault(fault) for fault in faults],
    }
    return Answer(status=status, body=body, headers=headers or {}, media=MEDIA)


def faulty(faults: Sequence[Fault]) -> Answer:
    """Every broken rule of the input."""
    count = len(faults)
    return problem(422, "faults", f"{count} fault{'' if count == 1 else 's'}: {faults[0]}", faults)


def unreadable(detail: str) -> Answer:
    """The body is no JSON that can be understood."""
    return problem(400, "unreadable", detail)


def forbidden(detail: str) -> Answer:
    """The caller is known and has no business here."""
    return problem(403, "forbidden", detail)


def missing(what: str, name: str) -> Answer:
    """There is no such thing, or it is not this team's."""
    return problem(404, "not-found", f"there is no {what} {name[:120]}")


def conflict(kind: str, detail: str) -> Answer:
    """What is asked for does not go together with the present state."""
    return problem(409, kind, detail)


def unavailable(detail: str) -> Answer:
    """Nothing is known to be wrong with the request."""
    return problem(503, "unavailable", detail, headers={"Retry-After": "1"})


def cannot_be_read(error: UndecodableError) -> Answer:
    """What the request is about is there, and what is stored of it is garbled: no repeat will help."""
    advice = "nothing was changed; whoever runs the stage can look at what is stored"
    if isinstance(error, MendableError):
        advice = "nothing was changed: declare it in full with PUT, or DELETE it; its revisions can be read"
    if isinstance(error, UnreadableTeamError):
        advice = (
            "nothing was changed: an administrator can declare it in full with PUT; its revisions can be read"
        )
    return conflict("unreadable-state", f"{error}; {advice}")


def refusal(what: Refusal) -> Answer:
    """The answer for what a use case refused."""
    match what:
        case Missing(kind, name):
            return missing(kind, name)
        case Conflict():
            return _lost(what)
        case NotAllowed(rule):
            return conflict("not-allowed", rule)
        case BeingDeleted(name):
            return conflict("being-deleted", f"team {name} is being deleted; its name is not free yet")
        case OverLimit(limit, value, maximum):
            rule = f"is limited to {maximum:,} for this team; this would make it {value:,}"
            return faulty([Fault(field=limit, value=value, rule=rule)])
        case _:
            assert_never(what)


def faults_told(act: Callable[[], Answer]) -> Answer:
    """The answer of `act`; what it finds wrong with the request is an answer too."""
    try:
        return act()
    except ProblemError as error:
        return error.answer
    except Faults as found:
        return faulty(found.faults)
    except MendableError as error:
        return cannot_be_read(error)


def refused(act: Callable[[], Answer]) -> Answer:
    """The answer of `act`; the store's trouble is told as 503."""
    try:
        return faults_told(act)
    except StoreBusyError as error:
        return unavailable(f"nothing was changed: {error}")
    except NewerShapeError as error:
        return unavailable(f"nothing was changed, and a newer version of the service will answer: {error}")
    except UndecodableError as error:
        return cannot_be_read(error)
    except OutcomeUnknownError:
        return unavailable("the store did not say whether it took the write; read before you repeat it")


def _lost(lost: Conflict) -> Answer:
    headers = {} if lost.revision is None else {"ETag": etag(lost.revision, lost.uid)}
    if lost.expected is None:
        return problem(409, "contended", "others kept changing it meanwhile; try again", headers=headers)
    now = "it is not there" if lost.revision is None else f"it is at revision {lost.revision}"
    return problem(412, "precondition-failed", f"the precondition does not hold: {now}", headers=headers)


def detail_of(answer: Answer) -> str:
    """What a problem says to people."""
    return str(answer.body["detail"]) if isinstance(answer.body, dict) else ""


def etag(revision: int, uid: str | None = None) -> str:
    """The entity tag of a revision; with `uid` of that job's, for a later job of its name has the same numbers."""
    return f'"{revision}"' if uid is None else f'"{revision}.{uid}"'


def _fault(fault: Fault) -> dict[str, object]:
    return {
        "field": fault.field,
        "value": fault.value,
        "rule": fault.rule,
        "suggestion": fault.suggestion,
    }
