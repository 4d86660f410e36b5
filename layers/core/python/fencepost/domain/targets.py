"""Targets: where a firing goes. Values, their wire shape, and what a team may write."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import assert_never

from fencepost.domain.egress import EgressPolicy, check_url, split_url
from fencepost.domain.faults import Fault, Faults
from fencepost.domain.headers import check_headers

DEFAULT_TIMEOUT = 10
MAX_TIMEOUT = 30
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
            return split_url(target.url).host
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


_KINDS: Mapping[str, Callable[..., Target]] = {
    "webhook": WebhookTarget,
    "sqs": SqsTarget,
    "lambda": LambdaTarget,
    "sns": SnsTarget,
    "eventbridge": EventBridgeTarget,
    "step_functions": StepFunctionsTarget,
}

# {partition}:{service}:{region}:{account}: and the resource of each service.
_RESOURCES = {
    "lambda": (r"function:[A-Za-z0-9_-]{1,64}(?::(?:\$LATEST|[A-Za-z0-9_-]{1,128}))?", "function:name"),
    "sns": (r"[A-Za-z0-9_-]{1,256}(?:\.fifo)?", "topic-name"),
    "events": (r"event-bus/[A-Za-z0-9._/-]{1,256}", "event-bus/name"),
    "states": (r"stateMachine:[A-Za-z0-9_-]{1,80}(?::[A-Za-z0-9_-]{1,80})?", "stateMachine:name"),
}
_REGION = r"[a-z]{2}(?:-[a-z]+)+-[0-9]"
_QUEUE = re.compile(
    rf"https://sqs\.{_REGION}\.amazonaws\.com(?:\.cn)?/[0-9]{{12}}/[A-Za-z0-9_-]{{1,80}}(?:\.fifo)?"
)
_LOCAL_QUEUE = re.compile(r"http://[^/]+/[0-9]{12}/[A-Za-z0-9_-]{1,80}(?:\.fifo)?")
_EVENT_WORD = re.compile(r"[A-Za-z0-9._ -]{1,128}")


def check_arn(value: object, service: str, *, field: str) -> tuple[Fault, ...]:
    """What is wrong with an ARN of lambda, sns, events or states."""
    resource, shape = _RESOURCES[service]
    pattern = rf"arn:aws(?:-[a-z]+)*:{service}:{_REGION}:[0-9]{{12}}:{resource}"
    if isinstance(value, str) and re.fullmatch(pattern, value, re.ASCII):
        return ()
    rule = f"must be an ARN arn:aws:{service}:region:account:{shape}"
    return (Fault(field=field, value=value, rule=rule),)


class _Reader:
    """Reads the fields of one target, one by one, and keeps what is wrong with them."""

    def __init__(self, kind: str, fields: Mapping[str, object], policy: EgressPolicy, field: str) -> None:
        self.kind = kind
        self._fields = fields
        self._policy = policy
        self._field = field
        self._known: set[str] = set()
        self._faults: list[Fault] = []

    def finish(self) -> None:
        """Raises Faults if there is anything to say, unknown fields included."""
        for name in self._fields:
            if name not in self._known:
                known = ", ".join(sorted(self._known))
                self._fault(str(name), self._fields[name], f"unknown field; known: {known}")
        if self._faults:
            raise Faults(tuple(self._faults))

    def url(self, name: str) -> str:
        value = self._text(name)
        if value is not None:
            self._faults.extend(check_url(value, self._policy, field=f"{self._field}.{name}"))
        return value or ""

    def queue_url(self, name: str) -> str:
        value = self._text(name)
        if value is None:
            return ""
        if self._policy.allow_http and _LOCAL_QUEUE.fullmatch(value):
            self._faults.extend(check_url(value, self._policy, field=f"{self._field}.{name}"))
        elif not _QUEUE.fullmatch(value):
            self._fault(name, value, "must be a queue URL https://sqs.region.amazonaws.com/account/name")
        return value

    def arn(self, name: str, service: str) -> str:
        value = self._text(name)
        if value is not None:
            self._faults.extend(check_arn(value, service, field=f"{self._field}.{name}"))
        return value or ""

    def headers(self, name: str) -> Mapping[str, str]:
        value = self._take(name)
        if value is None:
            return {}
        faults = check_headers(value, field=f"{self._field}.{name}")
        self._faults.extend(faults)
        return (
            {}
            if faults or not isinstance(value, Mapping)
            else {str(key): str(each) for key, each in value.items()}
        )

    def choice(self, name: str, allowed: tuple[str, ...], default: str) -> str:
        value = self._take(name)
        if value is None:
            return default
        if value not in allowed:
            self._fault(name, value, f"must be one of {', '.join(allowed)}")
        return str(value)

    def timeout(self) -> int:
        value = self._take("timeout_seconds")
        if value is None:
            return DEFAULT_TIMEOUT
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_TIMEOUT:
            self._fault("timeout_seconds", value, f"must be a whole number from 1 to {MAX_TIMEOUT}")
            return DEFAULT_TIMEOUT
        return value

    def event_word(self, name: str, default: str) -> str:
        value = self._take(name)
        if value is None:
            return default
        if not isinstance(value, str) or not _EVENT_WORD.fullmatch(value):
            self._fault(name, value, "must be 1..128 letters, digits, dots, spaces, _ or -")
        elif name == "source" and value.lower().startswith("aws."):
            self._fault(name, value, "sources that begin with aws. are reserved")
        return str(value)

    def _text(self, name: str) -> str | None:
        value = self._take(name)
        if isinstance(value, str) and value:
            return value
        self._fault(name, value, "is required and must be a string")
        return None

    def _take(self, name: str) -> object:
        self._known.add(name)
        return self._fields.get(name)

    def _fault(self, name: str, value: object, rule: str) -> None:
        self._faults.append(Fault(field=f"{self._field}.{name}", value=value, rule=rule))


def _open(raw: object, policy: EgressPolicy, field: str) -> _Reader:
    kinds = ", ".join(_KINDS)
    if not isinstance(raw, Mapping) or len(raw) != 1:
        raise Faults((Fault(field=field, value=raw, rule=f"must be an object with exactly one of {kinds}"),))
    ((kind, fields),) = raw.items()
    if kind not in _KINDS:
        raise Faults((Fault(field=field, value=kind, rule=f"unknown kind of target; known: {kinds}"),))
    if not isinstance(fields, Mapping):
        raise Faults((Fault(field=f"{field}.{kind}", value=fields, rule="must be an object"),))
    return _Reader(kind, fields, policy, f"{field}.{kind}")


def _webhook(reader: _Reader) -> Target:
    return WebhookTarget(
        url=reader.url("url"),
        method=reader.choice("method", METHODS, "POST"),
        headers=reader.headers("headers"),
        timeout_seconds=reader.timeout(),
    )


def _lambda(reader: _Reader) -> Target:
    return LambdaTarget(function_arn=reader.arn("function_arn", "lambda"), timeout_seconds=reader.timeout())


def _event_bridge(reader: _Reader) -> Target:
    return EventBridgeTarget(
        bus_arn=reader.arn("bus_arn", "events"),
        source=reader.event_word("source", DEFAULT_SOURCE),
        detail_type=reader.event_word("detail_type", DEFAULT_DETAIL_TYPE),
    )


_BUILDERS: Mapping[str, Callable[[_Reader], Target]] = {
    "webhook": _webhook,
    "sqs": lambda reader: SqsTarget(queue_url=reader.queue_url("queue_url")),
    "lambda": _lambda,
    "sns": lambda reader: SnsTarget(topic_arn=reader.arn("topic_arn", "sns")),
    "eventbridge": _event_bridge,
    "step_functions": lambda reader: StepFunctionsTarget(
        state_machine_arn=reader.arn("state_machine_arn", "states")
    ),
}
