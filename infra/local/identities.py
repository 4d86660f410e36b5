"""People of the local engine's account: users with a key and exactly the routes that they may call."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from infra.local.engine import ACCOUNT, Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """An IAM user of the engine's account."""

    name: str
    key: str
    secret: str = field(repr=False)

    @property
    def arn(self) -> str:
        """The principal that the API sees."""
        return f"arn:aws:iam::{ACCOUNT}:user/{self.name}"


def create_user(engine: Engine, name: str, methods: Sequence[str]) -> User:
    """A user who may call these methods of the API and nothing else."""
    iam = engine.client("iam")
    iam.create_user(UserName=name)
    statement = {"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": list(methods)}
    document = {"Version": "2012-10-17", "Statement": [statement]}
    iam.put_user_policy(UserName=name, PolicyName="routes", PolicyDocument=json.dumps(document))
    made = iam.create_access_key(UserName=name)["AccessKey"]
    return User(name=name, key=made["AccessKeyId"], secret=made["SecretAccessKey"])
