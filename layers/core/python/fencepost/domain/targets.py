"""Targets: where a firing goes. Values, their wire shape, and what a team may write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import assert_never

from fencepost.domain.egress import EgressPolicy, split_url
from fencepost.domain.faults import Fault, Faults
from fencepost.domain.target_fields import DEFAULT_TIMEOUT, FieldReader

METHODS = ("POST", "PUT", "PATCH")
DEFAULT_SOURCE = "fencepost"
DEFAULT_DETAIL_TYPE = "Fencepost Firing"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTarget:
    """An HTTP call. `headers` are the team's own, before placeholders are filled in."""

    url: str
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: int = DEFAULT_TIMEOUT


@dataclass(frozen=True, slots=True, kw_only=True)
class SqsTarget:
    """A message to a queue."""

    queue_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LambdaTarget:
    """A synchronous invocation: the retries are ours."""

    function_arn: str
    timeout_seconds: int = DEFAULT_TIMEOUT


@dataclass(frozen=True, slots=True, kw_only=True)
class SnsTarget:
    """A message to a topic."""

    topic_arn: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventBridgeTarget:
    """An event on a bus."""

    bus_arn: str
    source: str = DEFAULT_SOURCE
    detail_type: str = DEFAULT_DETAIL_TYPE


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFunctionsTarget:
    """A state machine's execution, named after ours."""

    state_machine_arn: str


Target = WebhookTarget | SqsTarget | LambdaTarget | SnsTarget | EventBridgeTarget | StepFunctionsTarget


def parse_target(raw: object, policy: EgressPolicy, field: str = "target") -> Target:
    """Reads what a team wrote: ``{kind: {...}}``. Raises Faults with every fault of it."""
    reader = _open(raw, policy, field)
    target = _BUILDERS[reader.kind](reader)
    reader.finish()
    return target


def target_to_wire(target: Target) -> dict[str, object]:
    """The shape of the API and of what is stored: ``{kind: {...}}`` with the defaults filled in."""
    match target:
        case WebhookTarget():
            body: dict[str, object] = {
                "url": target.url,
                "method": target.method,
                "headers": dict(target.headers),
            }
            return {"webhook": body | {"timeout_seconds": target.timeout_seconds}}
        case SqsTarget():
            return {"sqs": {"queue_url": target.queue_url}}
        case LambdaTarget():
            body = {"function_arn": target.function_arn, "timeout_seconds": target.timeout_seconds}
            return {"lambda": body}
        case SnsTarget():
            return {"sns": {"topic_arn": target.topic_arn}}
        case EventBridgeTarget():
            body = {"bus_arn": target.bus_arn, "source": target.source, "detail_type": target.detail_type}
            return {"eventbridge": body}
        case StepFunctionsTarget():
            return {"step_functions": {"state_machine_arn": target.state_machine_arn}}
        case _:
            assert_never(target)


def decode_target(raw: object) -> Target:
    """Reads what was stored. It was judged when it was written and is judged again when it is called, so a policy
    that became stricter since never makes a record unreadable. Raises ValueError when it is no target at all.
    """
    try:
        ((kind, fields),) = raw.items()  # type: ignore[attr-defined] # what is not a mapping ends below
        target: Target = _KINDS[kind](**fields)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"not a target: {str(raw)[:120]}") from error
    return target


def target_timeout(target: Target) -> timedelta:
    """How long one attempt may take."""
    match target:
        case WebhookTarget() | LambdaTarget():
            return timedelta(seconds=target.timeout_seconds)
        case SqsTarget() | SnsTarget() | EventBridgeTarget() | StepFunctionsTarget():
            return timedelta(seconds=DEFAULT_TIMEOUT)
        case _:
            assert_never(target)


def target_host(target: Target) -> str:
    """What shares a circuit and a rate: the host of a webhook, the queue, function, topic, bus or machine else."""
    match target:
        case WebhookTarget():
            return _host_of(target.url)
        case SqsTarget():
            return target.queue_url
        case LambdaTarget():
            return target.function_arn
        case SnsTarget():
            return target.topic_arn
        case EventBridgeTarget():
            return target.bus_arn
        case StepFunctionsTarget():
            return target.state_machine_arn
        case _:
            assert_never(target)


def _host_of(url: str) -> str:
    """The host of a stored URL. What is in no shape to be called has none; the guard says why it is not called."""
    try:
        return split_url(url).host
    except ValueError:
        return ""


_KINDS: Mapping[str, Callable[..., Target]] = {
    "webhook": WebhookTarget,
    "sqs": SqsTarget,
    "lambda": LambdaTarget,
    "sns": SnsTarget,
    "eventbridge": EventBridgeTarget,
    "step_functions": StepFunctionsTarget,
}


def _open(raw: object, policy: EgressPolicy, field: str) -> FieldReader:
    kinds = ", ".join(_KINDS)
    if not isinstance(raw, Mapping) or len(raw) != 1:
        raise Faults((Fault(field=field, value=raw, rule=f"must be an object with exactly one of {kinds}"),))
    ((kind, fields),) = raw.items()
    if kind not in _KINDS:
        raise Faults((Fault(field=field, value=kind, rule=f"unknown kind of target; known: {kinds}"),))
    if not isinstance(fields, Mapping):
        raise Faults((Fault(field=f"{field}.{kind}", value=fields, rule="must be an object"),))
    return FieldReader(kind, fields, policy, f"{field}.{kind}")


def _webhook(reader: FieldReader) -> Target:
    return WebhookTarget(
        url=reader.url("url"),
        method=reader.choice("method", METHODS, "POST"),
        headers=reader.headers("headers"),
        timeout_seconds=reader.timeout(),
    )


def _lambda(reader: FieldReader) -> Target:
    return LambdaTarget(function_arn=reader.arn("function_arn", "lambda"), timeout_seconds=reader.timeout())


def _event_bridge(reader: FieldReader) -> Target:
    return EventBridgeTarget(
        bus_arn=reader.arn("bus_arn", "events"),
        source=reader.event_word("source", DEFAULT_SOURCE),
        detail_type=reader.event_word("detail_type", DEFAULT_DETAIL_TYPE),
    )


_BUILDERS: Mapping[str, Callable[[FieldReader], Target]] = {
    "webhook": _webhook,
    "sqs": lambda reader: SqsTarget(queue_url=reader.queue_url("queue_url")),
    "lambda": _lambda,
    "sns": lambda reader: SnsTarget(topic_arn=reader.arn("topic_arn", "sns")),
    "eventbridge": _event_bridge,
    "step_functions": lambda reader: StepFunctionsTarget(
        state_machine_arn=reader.arn("state_machine_arn", "states")
    ),
}
