"""`fencepost iam-policy`: what a principal needs to call for a team."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import urlsplit

import typer

from fencepost.cli.session import session
from fencepost.client.credentials import region_of
from fencepost.domain.iam import TeamRole as Role
from fencepost.domain.iam import iam_policy as policy

__all__ = ["Role", "api_arn", "iam_policy", "policy"]

_GATEWAY = re.compile(r"([a-z0-9]+)(?:-vpce-[a-z0-9]+)?\.execute-api\.")


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
