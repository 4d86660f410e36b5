"""Who may call one machine's service from the start: its administrator, and the demo's owner."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from fencepost.domain.iam import TeamRole, iam_policy
from fencepost.local.gateway.credentials import Credential, CredentialsFile, entry, session_arn
from fencepost.local.gateway.policy import full_access
from fencepost.local.stage import ADMIN_ROLE
from fencepost.runtime.entropy import token_bytes

DEMO_TEAM = "demo"
DEMO_ROLE = "fencepost-demo"
SESSION = "local"
_KEY_ID_BYTES = 10
_SECRET_BYTES = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Identities:
    """Their keys are drawn once per data directory and stay."""

    admin: Credential
    demo: Credential


def identities(file: CredentialsFile) -> Identities:
    """The two, made where they are missing."""
    return Identities(
        admin=_holder(file, ADMIN_ROLE, full_access()),
        demo=_holder(file, DEMO_ROLE, iam_policy(DEMO_TEAM, TeamRole.OWNER)),
    )


def _holder(file: CredentialsFile, role: str, policy: dict[str, Any]) -> Credential:
    arn = session_arn(role, SESSION)
    known = file.of(arn)
    if known is not None:
        return known
    key_id = "FP" + base64.b32encode(token_bytes(_KEY_ID_BYTES)).decode()
    secret = base64.b64encode(token_bytes(_SECRET_BYTES)).decode()
    file.add([entry(access_key_id=key_id, secret_access_key=secret, arn=arn, policy=policy)])
    return _holder(file, role, policy)
