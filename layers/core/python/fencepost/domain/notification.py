"""What a team is told about its firings, outside of asking."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from fencepost.domain.egress import EgressPolicy, check_url
from fencepost.domain.faults import Fault, Faults
from fencepost.domain.instants import from_wire, optional_wire, to_wire
from fencepost.domain.model import NotifyTargets
from fencepost.domain.target_fields import check_arn


class NotificationKind(StrEnum):
    """What happened: to one firing, to a job or a team that rests, to a host that fails, to a job that can no longer fire."""

    DEAD = "dead"
    SUCCEEDED = "succeeded"
    SKIPPED = "skipped"
    LATE = "late"
    PAUSED = "paused"
    RESUMED = "resumed"
    CIRCUIT_OPEN = "circuit_open"
    JOB_ERROR = "job_error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """One thing to tell. `id` is derived from what happened, so whoever tells it again tells it with the same id. `job` is
    empty where it concerns a whole team, `host` is set where it concerns a host.
    """

    id: str
    kind: NotificationKind
    team: str
    job: str
    execution_id: str | None = None
    due: datetime | None = None
    reason: str | None = None
    host: str | None = None
    at: datetime

    @classmethod
    def of(  # noqa: PLR0913 - the facts of one notification, all by name
        cls,
        kind: NotificationKind,
        *,
        team: str,
        job: str,
        occasion: str,
        at: datetime,
        execution_id: str | None = None,
        due: datetime | None = None,
        reason: str | None = None,
        host: str | None = None,
    ) -> Notification:
        """`occasion` tells this happening from a later one of the same kind: the fence of a death (a redrive may
        die again), the revision of a pause, the instant at which a circuit opened. `at` is no part of the id.
        """
        facts = "\n".join((kind, team, job, execution_id or "", *([] if host is None else [host]), occasion))
        return cls(
            id=f"ntf-{hashlib.sha256(facts.encode()).hexdigest()[:32]}",
            kind=kind,
            team=team,
            job=job,
            execution_id=execution_id,
            due=due,
            reason=reason,
            host=host,
            at=at,
        )


def notification_to_wire(notification: Notification) -> dict[str, object]:
    """What subscribers read."""
    return {
        "id": notification.id,
        "kind": notification.kind.value,
        "team": notification.team,
        "job": notification.job or None,
        "execution_id": notification.execution_id,
        "due": optional_wire(notification.due),
        "reason": notification.reason,
        "host": notification.host,
        "at": to_wire(notification.at),
    }


def notification_of(fields: Mapping[str, Any]) -> Notification:
    """Reads `notification_to_wire`. Raises ValueError, KeyError or TypeError."""
    due = fields.get("due")
    return Notification(
        id=fields["id"],
        kind=NotificationKind(fields["kind"]),
        team=fields["team"],
        job=fields["job"] or "",
        execution_id=fields.get("execution_id"),
        due=None if due is None else from_wire(due),
        reason=fields.get("reason"),
        host=fields.get("host"),
        at=from_wire(fields["at"]),
    )


def notification_body(notification: Notification) -> bytes:
    """The wire form as JSON bytes: one form for all channels."""
    return json.dumps(notification_to_wire(notification), separators=(",", ":")).encode()


def parse_notify(raw: object, policy: EgressPolicy, field: str = "notify") -> NotifyTargets:
    """Reads ``{"sns": arn, "webhook": url, "event_bus": arn}``, each optional. Raises Faults with all of them."""
    if not isinstance(raw, dict):
        raise Faults((Fault(field=field, value=raw, rule="must be an object"),))
    unknown = [name for name in raw if name not in {"sns", "webhook", "event_bus"}]
    rule = "unknown field; known: event_bus, sns, webhook"
    faults = [Fault(field=f"{field}.{name}", value=raw[name], rule=rule) for name in unknown]
    sns, webhook, event_bus = (raw.get(name) for name in ("sns", "webhook", "event_bus"))
    if sns is not None:
        faults.extend(check_arn(sns, "sns", field=f"{field}.sns"))
    if event_bus is not None:
        faults.extend(check_arn(event_bus, "events", field=f"{field}.event_bus"))
    if webhook is not None and not isinstance(webhook, str):
        faults.append(Fault(field=f"{field}.webhook", value=webhook, rule="must be a URL"))
    elif webhook is not None:
        faults.extend(check_url(webhook, policy, field=f"{field}.webhook"))
    if faults:
        raise Faults(tuple(faults))
    return NotifyTargets(sns=sns, webhook=webhook, event_bus=event_bus)


def notify_to_wire(targets: NotifyTargets) -> dict[str, str]:
    """The shape of the API, without what is not set."""
    named = {"sns": targets.sns, "webhook": targets.webhook, "event_bus": targets.event_bus}
    return {name: value for name, value in named.items() if value is not None}
