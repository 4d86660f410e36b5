"""What can go wrong, as one tree. Catch the branch that you can act on.

FencepostError
├── ConfigurationError        nothing was sent: no endpoint, no team, no credentials, no region
│   └── DeclarationError      nothing was sent: a file of jobs cannot be read; every fault is told
├── NotDeclaredError          a stack's jobs were refused, or are somebody else's; says which
├── UnreachableError          no answer in time, after every repetition; a write may or may not have happened
├── UnexpectedAnswerError     an answer that this version of the library cannot read
├── ApiError                  the service refused: `status`, `kind`, `faults`
│   ├── FaultsError           400, 422: the input has faults, all of them told at once
│   ├── NotAllowedError       401, 403: not signed, not signed well, or not yours
│   ├── NotFoundError         404: there is no such thing in this team
│   ├── ConflictError         409: it does not go together with the present state
│   │   └── LeaseLostError    somebody else holds the execution now: stop the work
│   ├── ChangedError          412, 428: the revision that you named is not the present one
│   ├── ThrottledError        429: too many calls, after every repetition
│   └── ServiceError          5xx: the service's own trouble, after every repetition
└── RefusedCallError          on the receiving side: do not do this work
    ├── UnsignedCallError     not proven to be Fencepost's
    └── StaleFenceError       a later attempt of this execution was seen already
"""

from __future__ import annotations

from dataclasses import dataclass


class FencepostError(Exception):
    """The root of everything that this library raises on purpose."""


class ConfigurationError(FencepostError):
    """Nothing was sent, because something that is needed is not known."""


class DeclarationError(ConfigurationError):
    """A file of jobs is not one. `faults` holds everything that is wrong with its shape."""

    def __init__(self, faults: tuple[FieldFault, ...]) -> None:
        self.faults = faults
        super().__init__("; ".join(map(str, faults)))

    def __reduce__(self) -> tuple[type[DeclarationError], tuple[tuple[FieldFault, ...]]]:
        return type(self), (self.faults,)


class NotDeclaredError(FencepostError):
    """A deployment cannot be carried out; says which jobs and why."""


class UnreachableError(FencepostError):
    """No answer came, however often it was tried. A write may or may not have happened: read, or repeat it with the
    same `key`.
    """


class UnexpectedAnswerError(FencepostError):
    """The answer is not one that this version of the library understands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldFault:
    """One broken rule of a refused input."""

    field: str
    rule: str
    value: object = None
    suggestion: str | None = None

    def __str__(self) -> str:
        hint = f" (try: {self.suggestion})" if self.suggestion else ""
        return f"{self.field}: {self.rule}{hint}"


class ApiError(FencepostError):
    """The service answered with a refusal. `kind` is stable (the last word of the problem's type), `detail` is for
    people.
    """

    def __init__(self, status: int, kind: str, detail: str, faults: tuple[FieldFault, ...] = ()) -> None:
        self.status = status
        self.kind = kind
        self.detail = detail
        self.faults = faults
        super().__init__(detail)

    def __reduce__(self) -> tuple[type[ApiError], tuple[int, str, str, tuple[FieldFault, ...]]]:
        return type(self), (self.status, self.kind, self.detail, self.faults)


class FaultsError(ApiError):
    """The input has faults; `faults` holds every one of them."""

    def __str__(self) -> str:
        return "; ".join(map(str, self.faults)) or self.detail


class NotAllowedError(ApiError):
    """The call is not signed, not signed well, or not this caller's to make."""


class NotFoundError(ApiError):
    """There is no such thing, or it is another team's."""


class ConflictError(ApiError):
    """What is asked for does not go together with the present state."""


class LeaseLostError(ConflictError):
    """The worker no longer holds the execution: it must stop, and write nothing more."""


class ChangedError(ApiError):
    """It was changed since the revision that the call named."""


class ThrottledError(ApiError):
    """Too many calls."""


class ServiceError(ApiError):
    """The service's own trouble. Nothing is known to be wrong with the call."""


class RefusedCallError(FencepostError):
    """A receiver must not do the work that this call asks for."""


class UnsignedCallError(RefusedCallError):
    """The call is not proven to come from Fencepost, whole and fresh."""


class StaleFenceError(RefusedCallError):
    """A later attempt of the same execution was seen already; this one comes too late."""
