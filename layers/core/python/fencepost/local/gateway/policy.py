"""IAM policy documents, as far as the gateway needs them: may this caller invoke this method on this path?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

INVOKE = "execute-api:Invoke"
ACCOUNT = "000000000000"
API_ID = "fencepost"


class PolicyError(ValueError):
    """A policy document that cannot be evaluated here. What is not understood grants nothing, and is said."""


class Effect(StrEnum):
    """What a matching statement does."""

    ALLOW = "Allow"
    DENY = "Deny"


class Decision(StrEnum):
    """What the policies say together."""

    ALLOWED = "allowed"
    DENIED = "explicitly denied"
    NOT_ALLOWED = "not allowed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One rule: an effect on actions and resources, both as patterns with * and ?."""

    effect: Effect
    actions: tuple[str, ...]
    resources: tuple[str, ...]

    def matches(self, action: str, resource: str) -> bool:
        """Actions compare without case, resources with it."""
        return any(_pattern(each.lower()).fullmatch(action.lower()) for each in self.actions) and any(
            _pattern(each).fullmatch(resource) for each in self.resources
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """The statements of one document."""

    statements: tuple[Statement, ...]

    @classmethod
    def parse(cls, document: object) -> Policy:
        """Reads a policy document. Raises PolicyError for whatever it holds that is not evaluated here."""
        if not isinstance(document, Mapping) or "Statement" not in document:
            raise PolicyError("a policy is an object with Statement")
        raw = document["Statement"]
        return cls(tuple(_statement(each) for each in (raw if isinstance(raw, list) else [raw])))


def decide(policies: Iterable[Policy], action: str, resource: str) -> Decision:
    """A denial wins over any permission, and without a permission nothing is allowed."""
    effects = {
        statement.effect
        for policy in policies
        for statement in policy.statements
        if statement.matches(action, resource)
    }
    if Effect.DENY in effects:
        return Decision.DENIED
    return Decision.ALLOWED if Effect.ALLOW in effects else Decision.NOT_ALLOWED


def invocation(region: str, stage: str, method: str, path: str) -> str:
    """The ARN of a call, as API Gateway names it."""
    return f"arn:aws:execute-api:{region}:{ACCOUNT}:{API_ID}/{stage}/{method}/{path.lstrip('/')}"


def full_access() -> dict[str, Any]:
    """A document that allows every call."""
    return _document(["arn:aws:execute-api:*:*:*"])


def _document(resources: list[str]) -> dict[str, Any]:
    statement = {"Effect": "Allow", "Action": INVOKE, "Resource": resources}
    return {"Version": "2012-10-17", "Statement": [statement]}


def _statement(raw: object) -> Statement:
    if not isinstance(raw, Mapping):
        raise PolicyError("a statement is an object")
    unknown = sorted(set(raw) - {"Sid", "Effect", "Action", "Resource"})
    if unknown:
        raise PolicyError(f"not evaluated here: {', '.join(map(str, unknown))}")
    if raw.get("Effect") not in set(Effect):
        raise PolicyError("Effect is Allow or Deny")
    return Statement(
        effect=Effect(raw["Effect"]),
        actions=_texts(raw.get("Action"), "Action"),
        resources=_texts(raw.get("Resource"), "Resource"),
    )


def _texts(raw: object, name: str) -> tuple[str, ...]:
    values = [raw] if isinstance(raw, str) else raw
    if not isinstance(values, list) or not values or not all(isinstance(each, str) for each in values):
        raise PolicyError(f"{name} is a text or a list of texts")
    return tuple(values)


@lru_cache(maxsize=1024)
def _pattern(text: str) -> re.Pattern[str]:
    parts = ("." if char == "?" else ".*" if char == "*" else re.escape(char) for char in text)
    return re.compile("".join(parts), re.DOTALL)
