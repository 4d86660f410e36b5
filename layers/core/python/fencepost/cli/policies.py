"""`fencepost iam-policy`: what a principal needs to call for a team."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from fencepost.cli.session import session
from fencepost.client.credentials import region_of

_GATEWAY = re.compile(r"([a-z0-9]+)(?:-vpce-[a-z0-9]+)?\.execute-api\.")


class Role(StrEnum):
    """Each may do what the ones before may."""

    READER = "reader"
    OPERATOR = "operator"
    OWNER = "owner"


_OPERATIONS = (
    "jobs/*/pause",
    "jobs/*/resume",
    "jobs/*/run",
    "executions/*/heartbeat",
    "executions/*/complete",
    "executions/*/fail",
    "executions/*/redrive",
    "dead-letters/redrive",
)


def iam_policy(
    context: typer.Context,
    role: Annotated[Role, typer.Option(help="What the principal may do.")] = Role.OWNER,
    account: Annotated[str, typer.Option(help="The account of the stage.")] = "*",
) -> None:
    """Print the IAM policy that lets a principal call for a team; the team's principals must name it as well.

    Example: fencepost iam-policy --team payments --role operator --account 123456789012
    """
    run = session(context)
    run.json(policy(run.team, role, api_arn(run.endpoint, account)))


def api_arn(endpoint: str, account: str) -> str:
    """The stage's API as narrowly as its endpoint tells; a domain of one's own tells nothing."""
    host = urlsplit(endpoint).hostname or ""
    found = _GATEWAY.match(host)
    region = (region_of(endpoint) or "*") if found else "*"
    partition = (
        "aws-cn" if region.startswith("cn-") else "aws-us-gov" if region.startswith("us-gov-") else "aws"
    )
    return f"arn:{partition}:execute-api:{region}:{account}:{found[1] if found else '*'}/*"


def policy(team: str, role: Role, arn: str) -> dict[str, Any]:
    """An IAM policy document: this team's paths, and what any signed caller may do."""
    resources = [f"{arn}/{each}" for each in _resources(team, role)]
    statement = {"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": resources}
    return {"Version": "2012-10-17", "Statement": [statement]}


def _resources(team: str, role: Role) -> Iterator[str]:
    yield from ("GET/v1/health", "POST/v1/preview")
    method = "*" if role is Role.OWNER else "GET"
    yield from (f"{method}/v1/teams/{team}", f"{method}/v1/teams/{team}/*")
    if role is Role.OPERATOR:
        yield from (f"POST/v1/teams/{team}/{each}" for each in _OPERATIONS)
