"""One attempt to deliver: its facts, and the body and headers that carry them.

The body is a function of payload, due and execution id alone, so its bytes are the same on every attempt; what
differs between attempts (number, fence, instant, signature) travels in headers only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from fencepost.domain.headers import check_headers
from fencepost.domain.instants import to_ms, to_wire
from fencepost.domain.model import SigningKey, Team
from fencepost.domain.signing import (
    ATTEMPT_HEADER,
    FENCE_HEADER,
    FENCE_SIGNATURE_HEADER,
    Signer,
    fence_signature,
    fenced_content,
    standard_headers,
)
from fencepost.domain.targets import Target

__all__ = [
    "Delivery",
    "DeliveryFacts",
    "Sender",
    "check_headers",
    "facts_to_wire",
    "fill",
    "headers_for",
    "render_body",
    "rendered_size",
]

USER_AGENT = "Fencepost/1"
CONTENT_TYPE = "application/json"

_PLACEHOLDER = re.compile(r"\{\{ *(due|execution_id) *\}\}")
_BODY_PLACEHOLDER = re.compile(_PLACEHOLDER.pattern.encode())
_PLAIN = re.compile(r"[A-Za-z0-9._:~-]{1,128}")
_LONGEST_VALUE = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryFacts:
    """What every target is told. `body` is rendered already (`render_body`).

    Raises ValueError for a name that could not stand in a header as it is: names are checked long before.
    """

    execution_id: str
    team: str
    job: str
    due: datetime
    attempt: int
    fence: int
    body: bytes = field(repr=False)

    def __post_init__(self) -> None:
        for name in (self.execution_id, self.team, self.job):
            if not _PLAIN.fullmatch(name):
                raise ValueError(f"{name[:120]!r} cannot be told to a target")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """How a team sends: its keys (sealed), the hosts it may call, and the role that acts for it on AWS."""

    team: str
    keys: tuple[SigningKey, ...] = ()
    allowed_hosts: tuple[str, ...] | None = None
    role_arn: str | None = None
    external_id: str | None = None

    @classmethod
    def of(cls, team: Team) -> Sender:
        """What the team's record says about sending."""
        return cls(
            team=team.name,
            keys=team.signing_keys,
            allowed_hosts=team.allowed_hosts,
            role_arn=team.delivery_role,
            external_id=team.external_id,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One call of one target. `sent_at` is the instant that the signature names."""

    facts: DeliveryFacts
    target: Target
    sender: Sender
    sent_at: datetime


def render_body(payload: bytes, *, execution_id: str, due: datetime) -> bytes:
    """The payload with ``{{due}}`` and ``{{execution_id}}`` filled in; other braces stay as they are.

    Both values are plain ASCII without quotes or backslashes, so JSON stays JSON.
    """
    values = {b"due": to_wire(due).encode(), b"execution_id": execution_id.encode()}
    return _BODY_PLACEHOLDER.sub(lambda match: values[match[1]], payload)


def rendered_size(payload: bytes) -> int:
    """The most bytes that `render_body` can make of `payload`: the limit holds for what is sent."""
    found = _BODY_PLACEHOLDER.findall(payload)
    taken = sum(len(match[0]) for match in _BODY_PLACEHOLDER.finditer(payload))
    return len(payload) - taken + len(found) * _LONGEST_VALUE


def fill(text: str, *, execution_id: str, due: datetime) -> str:
    """A header's value with its placeholders filled in."""
    values = {"due": to_wire(due), "execution_id": execution_id}
    return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def headers_for(
    facts: DeliveryFacts, target_headers: Mapping[str, str], keys: Sequence[Signer], sent_at: datetime
) -> dict[str, str]:
    """All headers of a webhook call but Host and Content-Length. Fencepost's own always win over the team's.

    Raises ValueError if the team's headers were never checked and could break the request.
    """
    faults = check_headers(target_headers)
    if faults:
        raise ValueError(f"{faults[0].field}: {faults[0].rule}")
    filled = {
        name: fill(value, execution_id=facts.execution_id, due=facts.due)
        for name, value in target_headers.items()
    }
    given = {name.lower() for name in filled}
    defaults = {"Content-Type": CONTENT_TYPE, "User-Agent": USER_AGENT}
    own = {
        "Fencepost-Execution": facts.execution_id,
        "Fencepost-Team": facts.team,
        "Fencepost-Job": facts.job,
        "Fencepost-Due": to_wire(facts.due),
        ATTEMPT_HEADER: str(facts.attempt),
        FENCE_HEADER: str(facts.fence),
        "Idempotency-Key": facts.execution_id,
    }
    return (
        {name: value for name, value in defaults.items() if name.lower() not in given}
        | filled
        | own
        | _signatures(facts, keys, sent_at)
    )


def facts_to_wire(facts: DeliveryFacts) -> dict[str, object]:
    """The same facts for targets that have no headers."""
    return {
        "execution_id": facts.execution_id,
        "team": facts.team,
        "job": facts.job,
        "due": to_wire(facts.due),
        "attempt": facts.attempt,
        "fence": facts.fence,
        "idempotency_key": facts.execution_id,
    }


def envelope(facts: DeliveryFacts) -> str:
    """``{"fencepost": facts, "payload": body}`` as JSON text, the body's own bytes untouched inside."""
    told = json.dumps(facts_to_wire(facts), separators=(",", ":"))
    return f'{{"fencepost":{told},"payload":{json_text(facts.body)}}}'


def json_text(body: bytes) -> str:
    """A body as a JSON value: itself if it is one, else as a JSON string; null when empty."""
    if not body:
        return "null"
    text = body.decode("utf-8", errors="replace")
    try:
        json.loads(text)
    except ValueError:
        return json.dumps(text)
    return text


def _signatures(facts: DeliveryFacts, keys: Sequence[Signer], sent_at: datetime) -> dict[str, str]:
    headers = standard_headers(facts.execution_id, sent_at, facts.body, keys)
    if keys:
        timestamp = to_ms(sent_at) // 1000
        content = fenced_content(facts.execution_id, timestamp, facts.attempt, facts.fence, facts.body)
        headers[FENCE_SIGNATURE_HEADER] = fence_signature(timestamp, content, keys)
    return headers
