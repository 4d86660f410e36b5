"""Schedules, targets and notifications as the API document shows them. The domain reads them and has the last word;
tests hold these shapes to it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

from fencepost.adapters.api.models import Instant


class Shape(BaseModel):
    """Documentation of an object without unknown fields."""

    model_config = ConfigDict(extra="forbid")


class Bounded(Shape):
    """What every kind of schedule may carry besides its rule."""

    start_at: Instant | None = None
    end_at: Instant | None = None
    max_firings: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    jitter_seconds: Annotated[int, Field(ge=0, le=86_400)] | None = 0
    exclude: Annotated[list[str], Field(max_length=8)] | None = None


class DstShape(Shape):
    """What a fixed time does when the zone's clock skips or repeats it."""

    gap: Literal["after", "skip"] = "after"
    overlap: Literal["first", "last", "both"] = "first"


class CronShape(Bounded):
    """Five fields on the wall clock of a zone."""

    cron: str = Field(max_length=512, examples=["30 2 * * *"])
    timezone: str = Field("UTC", examples=["Europe/Berlin"])
    dst: DstShape | None = None


class EveryShape(Bounded):
    """Equal steps of real time from an anchor on; without one, from when the job was first declared."""

    every: str = Field(description="An ISO 8601 duration of 5 seconds or more.", examples=["PT15M"])
    anchor: Instant | None = None


class AtShape(Bounded):
    """One instant, on a whole second."""

    at: Instant


class InShape(Bounded):
    """A delay from the moment of acceptance; stored and shown as `at`."""

    in_: str = Field(alias="in", description="An ISO 8601 duration.", examples=["PT15M"])


class Schedule(RootModel[CronShape | EveryShape | AtShape | InShape]):
    """When a job fires: exactly one of cron, every, at, in."""


class WebhookShape(Shape):
    """An HTTP call."""

    url: str = Field(max_length=2048, examples=["https://example.com/hook"])
    method: Literal["POST", "PUT", "PATCH"] | None = "POST"
    headers: dict[str, str] | None = None
    timeout_seconds: Annotated[int, Field(ge=1, le=30)] | None = 10


class SqsShape(Shape):
    """A message to a queue."""

    queue_url: str


class LambdaShape(Shape):
    """A synchronous invocation."""

    function_arn: str
    timeout_seconds: Annotated[int, Field(ge=1, le=30)] | None = 10


class SnsShape(Shape):
    """A message to a topic."""

    topic_arn: str


class EventBridgeShape(Shape):
    """An event on a bus."""

    bus_arn: str
    source: str | None = "fencepost"
    detail_type: str | None = "Fencepost Firing"


class StepFunctionsShape(Shape):
    """A state machine's execution, named after ours."""

    state_machine_arn: str


class ToWebhook(Shape):
    """A webhook target."""

    webhook: WebhookShape


class ToSqs(Shape):
    """An SQS target."""

    sqs: SqsShape


class ToLambda(Shape):
    """A Lambda target."""

    lambda_: LambdaShape = Field(alias="lambda")


class ToSns(Shape):
    """An SNS target."""

    sns: SnsShape


class ToEventBridge(Shape):
    """An EventBridge target."""

    eventbridge: EventBridgeShape


class ToStepFunctions(Shape):
    """A Step Functions target."""

    step_functions: StepFunctionsShape


class Target(RootModel[ToWebhook | ToSqs | ToLambda | ToSns | ToEventBridge | ToStepFunctions]):
    """Where a firing goes: exactly one kind."""


class Notify(Shape):
    """Where the team is told; all that are set are told, with one id."""

    sns: str | None = None
    webhook: str | None = None
    event_bus: str | None = None
