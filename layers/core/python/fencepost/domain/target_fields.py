"""The fields of a target as a team writes them: each is read, judged, and its fault kept with the others."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fencepost.domain.egress import EgressPolicy, check_url
from fencepost.domain.faults import Fault, Faults
from fencepost.domain.headers import check_headers

DEFAULT_TIMEOUT = 10
MAX_TIMEOUT = 30

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


class FieldReader:
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
