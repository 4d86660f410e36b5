"""Who calls: the account and role of a signed call. The session name is the caller's own choice and says nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fencepost.domain.model import Caller

_ASSUMED = re.compile(
    r"arn:(?P<partition>aws[a-z-]*):sts::(?P<account>\d{12}):assumed-role/(?P<role>[^/]+)/.+"
)
_NAMED = re.compile(
    r"arn:(?P<partition>aws[a-z-]*):iam::(?P<account>\d{12}):(?P<kind>role|user)/(?:.+/)?(?P<name>[^/]+)"
)
_ROOT = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:root")


def principal_of(arn: str) -> str | None:
    """The principal behind a caller's ARN: a role or a user, without path and session; None for anything else.

    A role's name is unique in its account whatever its path, and the ARN of a session leaves the path out.
    """
    assumed = _ASSUMED.fullmatch(arn)
    if assumed:
        return f"arn:{assumed['partition']}:iam::{assumed['account']}:role/{assumed['role']}"
    named = _NAMED.fullmatch(arn)
    if named:
        return f"arn:{named['partition']}:iam::{named['account']}:{named['kind']}/{named['name']}"
    return arn if _ROOT.fullmatch(arn) else None


def caller_of(event: Mapping[str, Any], admins: frozenset[str]) -> Caller | None:
    """The caller of an API Gateway event; None where the call was not signed."""
    identity = (event.get("requestContext") or {}).get("identity") or {}
    arn = identity.get("userArn")
    principal = principal_of(arn) if isinstance(arn, str) else None
    if principal is None:
        return None
    return Caller(principal=principal, admin=principal in {principal_of(each) for each in admins})


def allowed(caller: Caller, principals: tuple[str, ...]) -> bool:
    """Whether the caller is one of a team's principals, or administers the stage."""
    return caller.admin or caller.principal in {principal_of(each) for each in principals}
