"""Deploys a stage to the local engine and keeps it until Ctrl-C: `python -m infra.local`."""

from __future__ import annotations

import signal
import sys
import tempfile
from pathlib import Path

from infra.local.deploy import ADMIN, Deployed, deploy, local
from infra.local.engine import REGION, Engine, running
from infra.local.identities import User, create_user


def main() -> None:
    """Runs until it is interrupted; nothing is left behind."""
    with tempfile.TemporaryDirectory(prefix="fencepost-deployed-") as folder, running(Path(folder)) as engine:
        home = Path(folder)
        deployed = deploy(engine, home / "cdk", local())
        administrator = create_user(engine, ADMIN.rpartition("/")[2], [deployed.methods("/*")])
        sys.stdout.write(greeting(engine, deployed, administrator))
        sys.stdout.flush()
        try:
            signal.pause()
        except KeyboardInterrupt:
            sys.stdout.write("\n")


def greeting(engine: Engine, deployed: Deployed, administrator: User) -> str:
    """How to call what was deployed."""
    user = f"{administrator.key}:{administrator.secret}"
    return (
        f"Fencepost is deployed to {engine.endpoint} (its log: {engine.log}).\n"
        f"The API, as an administrator:\n\n"
        f"  curl --aws-sigv4 aws:amz:{REGION}:execute-api --user {user} \\\n    {deployed.url}/v1/health\n\n"
        f"Any AWS tool reaches the rest of it with --endpoint-url {engine.endpoint}.\nCtrl-C ends it.\n"
    )


if __name__ == "__main__":
    main()
