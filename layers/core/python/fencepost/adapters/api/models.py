"""What requests may hold: strict, nothing unknown, every default written out.

`schedule`, `target` and `notify` are read by the domain, which knows their rules; here they are documented
(`shapes`) and passed on.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema, model_validator

from fencepost.domain.manners import MOST_PARALLEL, MOST_PER_MINUTE

JobTier = Literal["critical", "standard", "bulk"]
JobEvent = Literal["dead", "succeeded", "skipped", "late", "paused"]
TeamEvent = Literal["dead", "succeeded", "skipped", "late", "paused", "circuit_open"]
REFERS = "x-refers"
MAX_LABELS = 8
MAX_LABEL_CHARACTERS = 256
DAY = 86_400

_LABEL_NAME = re.compile(r"[a-z0-9][a-z0-9._/-]{0,31}")
_LABEL_VALUE = re.compile(r"[A-Za-z0-9._:/@ -]{0,63}")
_PRINCIPAL = r"^arn:aws[a-z-]*:iam::\d{12}:(?:role/(?:[\w+=,.@-]+/)*[\w+=,.@-]{1,64}|user/(?:[\w+=,.@-]+/)*[\w+=,.@-]{1,64}|root)$"
_DELIVERY_ROLE = re.compile(r"arn:aws[a-z-]*:iam::[0-9]{12}:role/fencepost-delivery-[A-Za-z0-9_+=,.@-]{1,45}")


def _ref(name: str) -> dict[str, str]:
    """A reference to a shape; the document's maker turns it into one, since pydantic knows only its own."""
    return {REFERS: name}


def check_labels(labels: dict[str, str]) -> dict[str, str]:
    """At most 8 short pairs: they travel with the job's hottest item."""
    if len(labels) > MAX_LABELS:
        raise ValueError(f"must be at most {MAX_LABELS} labels")
    for name, value in labels.items():
        if not _LABEL_NAME.fullmatch(name):
            raise ValueError(f"a label's name is 1..32 of a-z 0-9 . _ / -; {name[:40]!r} is not")
        if not _LABEL_VALUE.fullmatch(value):
            raise ValueError(
                f"a label's value is at most 63 of letters, digits, space and . _ : / @ -; {name} is not"
            )
    if sum(len(name) + len(value) for name, value in labels.items()) > MAX_LABEL_CHARACTERS:
        raise ValueError(f"must be at most {MAX_LABEL_CHARACTERS} characters in all")
    return labels


_LABELS_SCHEMA = {
    "type": "object",
    "maxProperties": MAX_LABELS,
    "propertyNames": {"pattern": f"^{_LABEL_NAME.pattern}$"},
    "additionalProperties": {"type": "string", "pattern": f"^{_LABEL_VALUE.pattern}$"},
}
Labels = Annotated[dict[str, str], AfterValidator(check_labels), WithJsonSchema(_LABELS_SCHEMA)]


def check_delivery_role(arn: str) -> str:
    """The stage's functions may assume roles of this name, whatever their account, and no others."""
    if not _DELIVERY_ROLE.fullmatch(arn):
        raise ValueError(
            "must be the ARN of a role without a path, named fencepost-delivery-...: the stage can assume no other; "
            "for example arn:aws:iam::123456789012:role/fencepost-delivery-payments"
        )
    return arn


_DELIVERY_ROLE_SCHEMA = {"type": "string", "pattern": f"^{_DELIVERY_ROLE.pattern}$"}
DeliveryRole = Annotated[str, AfterValidator(check_delivery_role), WithJsonSchema(_DELIVERY_ROLE_SCHEMA)]
Schedule = Annotated[dict[str, Any], WithJsonSchema(_ref("Schedule"))]
Target = Annotated[dict[str, Any], WithJsonSchema(_ref("Target"))]
Notify = Annotated[dict[str, Any], WithJsonSchema(_ref("Notify"))]
Payload = Annotated[Any, WithJsonSchema({"description": "Any JSON value, at most 256 KiB; null for none."})]
Note = Annotated[str, Field(max_length=120)]
Instant = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
Fence = Annotated[int, Field(ge=1, le=10**15)]


class Body(BaseModel):
    """The manners of every request body."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class RetryBody(Body):
    """At most `max_attempts` attempts, with exponential delays and full jitter between them."""

    max_attempts: int = Field(5, ge=1, le=100)
    initial_delay_seconds: int = Field(10, ge=1, le=DAY)
    multiplier: float = Field(2, ge=1, le=10)
    max_delay_seconds: int = Field(3600, ge=1, le=7 * DAY)


class MisfireBody(Body):
    """What becomes of occurrences that nobody claimed in time. Left out, window and runs follow the policy."""

    policy: Literal["run_once_late", "skip", "catch_up"] = "run_once_late"
    window_seconds: int | None = Field(None, ge=60, le=31 * DAY)
    max_runs: int | None = Field(None, ge=1, le=1000)


class JobBody(Body):
    """A job, declared in full: what is left out has its default."""

    schedule: Schedule
    target: Target
    payload: Payload = None
    tier: JobTier = "standard"
    retry: RetryBody = RetryBody()
    misfire: MisfireBody = MisfireBody()
    overlap: Literal["allow", "skip", "queue"] = "allow"
    lease_seconds: int = Field(300, ge=30, le=3600)
    max_run_seconds: int = Field(3600, ge=30, le=7 * DAY)
    description: str = Field("", max_length=1000)
    labels: Labels = Field(default_factory=dict)
    notify_on: list[JobEvent] | None = Field(None, max_length=5)
    pause_after_dead: int | None = Field(None, ge=1, le=1000)
    delete_after_completion: bool = False
    keep_newest: int | None = Field(None, ge=1, le=100_000)


class HostBody(Body):
    """How a host is spared: calls of the team at once, calls begun in a minute; null for no such limit."""

    max_parallel: int | None = Field(None, ge=1, le=MOST_PARALLEL)
    max_per_minute: int | None = Field(None, ge=1, le=MOST_PER_MINUTE)

    @model_validator(mode="after")
    def _says_something(self) -> HostBody:
        if self.max_parallel is None and self.max_per_minute is None:
            raise ValueError("must say max_parallel, max_per_minute or both")
        return self


class TeamBody(Body):
    """A team, declared in full. Only administrators of the stage create teams and set
    the first four and `max_records`."""

    max_concurrency: int = Field(50, ge=1, le=10_000)
    tiers: list[JobTier] = Field(["critical", "standard", "bulk"], min_length=1, max_length=3)
    max_jobs: int = Field(100_000, ge=0, le=10_000_000)
    max_daily_firings: int = Field(10_000_000, ge=0, le=1_000_000_000)
    notify: Notify = Field(default_factory=dict)
    notify_on: list[TeamEvent] = Field(["dead", "circuit_open"], max_length=6)
    principals: list[Annotated[str, Field(pattern=_PRINCIPAL)]] = Field([], max_length=100)
    retention_days: int = Field(30, ge=2, le=400)
    max_records: int | None = Field(None, ge=1_000, le=100_000_000_000)
    allowed_hosts: list[str] | None = Field(None, max_length=100)
    hosts: dict[str, HostBody] = Field({}, max_length=100)
    delivery_role: DeliveryRole | None = None


_PARTIAL = "The fields to change; another kind replaces what belonged to the old one."
Part = Annotated[dict[str, Any], WithJsonSchema({"type": "object", "description": _PARTIAL})]


class JobPatch(Body):
    """What to change; null takes a field back to its default. Checked as a whole once it is merged."""

    schedule: Part | None = None
    target: Part | None = None
    payload: Payload = None
    tier: JobTier | None = None
    retry: Part | None = None
    misfire: Part | None = None
    overlap: Literal["allow", "skip", "queue"] | None = None
    lease_seconds: int | None = None
    max_run_seconds: int | None = None
    description: str | None = None
    labels: dict[str, str | None] | None = None
    notify_on: list[JobEvent] | None = None
    pause_after_dead: int | None = None
    delete_after_completion: bool | None = None
    keep_newest: int | None = None


class TeamPatch(Body):
    """What to change; null takes a field back to its default."""

    max_concurrency: int | None = None
    tiers: list[JobTier] | None = None
    max_jobs: int | None = None
    max_daily_firings: int | None = None
    notify: Part | None = None
    notify_on: list[TeamEvent] | None = None
    principals: list[str] | None = None
    retention_days: int | None = None
    max_records: int | None = None
    allowed_hosts: list[str] | None = None
    hosts: Part | None = None
    delivery_role: str | None = None


class NoteBody(Body):
    """Why, for the audit trail."""

    note: Note | None = None


class PauseBody(Body):
    """Why, until when (null: until somebody resumes), and whether retries that wait are ended as well."""

    note: Note | None = None
    until: Instant | None = None
    cancel_started: bool = False


class HeartbeatBody(Body):
    """The fence that the worker was given."""

    fence: Fence


class CompleteBody(Body):
    """The work is done. `result` is kept as the attempt's excerpt."""

    fence: Fence
    result: str = Field("", max_length=4096)


class FailBody(Body):
    """The work failed. `permanent`: no further attempt is worth making."""

    fence: Fence
    error: str = Field("", max_length=4096)
    permanent: bool = False


class RedriveBody(Body):
    """How many to send again at most."""

    limit: int = Field(100, ge=1, le=100)
    note: Note | None = None


class BulkItem(Body):
    """A job to put (`job` declares it) or, without `job`, to delete. `revision`: only if it is at this one."""

    name: str
    job: Annotated[dict[str, Any], WithJsonSchema(_ref("JobBody"))] | None = None
    revision: Annotated[int, Field(ge=1)] | None = None


class BulkBody(Body):
    """Up to 100 jobs; each stands by itself."""

    items: list[BulkItem] = Field(min_length=1, max_length=100)


class PreviewBody(Body):
    """A schedule, and from where on to look; nothing is stored."""

    schedule: Schedule
    after: Instant | None = None
    count: int = Field(5, ge=1, le=1000)
    misfire: MisfireBody = MisfireBody()
