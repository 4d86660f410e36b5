"""Schedules and targets, in the words of the API."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, TypedDict

from fencepost.domain.instants import to_wire

Shape = dict[str, Any]


class JobFields(TypedDict, total=False):
    """What a job may be declared with; schedule and target must be there."""

    schedule: Mapping[str, Any]
    target: Mapping[str, Any]
    payload: Any
    tier: str
    retry: Mapping[str, Any]
    misfire: Mapping[str, Any]
    overlap: str
    lease_seconds: int
    max_run_seconds: int
    description: str
    labels: Mapping[str, Any]
    notify_on: list[str] | None
    pause_after_dead: int | None
    delete_after_completion: bool
    keep_newest: int | None


class BackfillFields(TypedDict, total=False):
    """How a backfill goes: `rate` runs a minute; `force`: those that succeeded as well."""

    rate: int
    overlap: str
    force: bool
    note: str


class TeamFields(TypedDict, total=False):
    """What a team may be declared with."""

    max_concurrency: int
    tiers: list[str]
    max_jobs: int
    max_daily_firings: int
    notify: Mapping[str, Any]
    notify_on: list[str]
    principals: list[str]
    retention_days: int
    max_records: int | None
    allowed_hosts: list[str] | None
    hosts: Mapping[str, Any]
    delivery_role: str | None


def cron(expression: str, timezone: str = "UTC", **more: Any) -> Shape:
    """Five fields on the wall clock of `timezone`. `more`: dst, start_at, end_at, max_firings, jitter_seconds, exclude."""
    return {"cron": expression, "timezone": timezone, **more}


def every(step: timedelta | str, **more: Any) -> Shape:
    """Equal steps of 5 s or more: a timedelta or an ISO 8601 duration. `more`: anchor and the bounds of `cron`."""
    return {"every": _duration(step), **more}


def at(instant: datetime | str) -> Shape:
    """One instant, on a whole second."""
    return {"at": to_wire(instant) if isinstance(instant, datetime) else instant}


def after(delay: timedelta | str) -> Shape:
    """Once, `delay` after the service accepted it."""
    return {"in": _duration(delay)}


def webhook(url: str, **more: Any) -> Shape:
    """An HTTP call. `more`: method, headers, timeout_seconds."""
    return {"webhook": {"url": url, **more}}


def sqs(queue_url: str) -> Shape:
    """A message to a queue."""
    return {"sqs": {"queue_url": queue_url}}


def function(function_arn: str, **more: Any) -> Shape:
    """A synchronous invocation of a Lambda function. `more`: timeout_seconds."""
    return {"lambda": {"function_arn": function_arn, **more}}


def sns(topic_arn: str) -> Shape:
    """A message to a topic."""
    return {"sns": {"topic_arn": topic_arn}}


def eventbridge(bus_arn: str, **more: Any) -> Shape:
    """An event on a bus. `more`: source, detail_type."""
    return {"eventbridge": {"bus_arn": bus_arn, **more}}


def step_functions(state_machine_arn: str) -> Shape:
    """A state machine's execution, named after the firing's."""
    return {"step_functions": {"state_machine_arn": state_machine_arn}}


def _duration(span: timedelta | str) -> str:
    """ISO 8601, whole seconds; the service has its own spelling of it."""
    return span if isinstance(span, str) else f"PT{span // timedelta(seconds=1)}S"
