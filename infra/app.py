"""Synthesises one stage: `cdk deploy --all -c stage=dev`, or `python -m infra.app` for the templates alone.

Context: `stage` (dev, staging, prod), `account`, `region`; after a restore `restored` (the suffix of the restored
tables) and `no_fire_before` (the instant up to which nothing is fired).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks

from infra.nag import acknowledge
from infra.names import Names
from infra.packaging import package
from infra.routes import read_routes
from infra.settings import Stage, StageError
from infra.stacks.account import AccountStack
from infra.stacks.service import Contents, ServiceStack
from infra.stacks.store import StoreStack
from infra.stages import STAGES


def stage_of(context: Mapping[str, str | None]) -> Stage:
    """The stage that the context asks for, checked. Raises StageError."""
    name = context.get("stage") or "dev"
    if name not in STAGES:
        raise StageError(f"stage {name}: there are {', '.join(STAGES)}")
    stage = STAGES[name]()
    stage = replace(
        stage,
        account=context.get("account") or stage.account,
        region=context.get("region") or stage.region,
        restored=context.get("restored") or stage.restored,
        no_fire_before=context.get("no_fire_before") or stage.no_fire_before,
    )
    return stage.check()


CONTEXT = ("stage", "account", "region", "restored", "no_fire_before")


def build(app: cdk.App, stage: Stage, contents: Contents) -> tuple[AccountStack, StoreStack, ServiceStack]:
    """The stage's stacks, judged by the rules of AwsSolutions when they are synthesised."""
    if stage.demand_bytecode and not contents.assets.bytecode:
        raise StageError(
            f"stage {stage.name}: the layers hold no bytecode of Python {contents.assets.python}, so every cold "
            f"start would compile them; install that Python and build them again (make layers)"
        )
    names = Names(stage=stage.name, restored=stage.restored)
    account = AccountStack(app, stage)
    store = StoreStack(app, stage, names)
    service = ServiceStack(app, stage, names, store, contents)
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    acknowledge(stage, account, store, service)
    return account, store, service


def main() -> None:
    """Packages the code and writes the templates."""
    app = cdk.App(analytics_reporting=False)
    wanted = {name: app.node.try_get_context(name) for name in CONTEXT}
    wanted["account"] = wanted["account"] or os.environ.get("CDK_DEFAULT_ACCOUNT")
    wanted["region"] = wanted["region"] or os.environ.get("CDK_DEFAULT_REGION")
    try:
        build(app, stage_of(wanted), Contents(assets=package(), routes=read_routes()))
    except StageError as error:
        sys.exit(str(error))
    app.synth()


if __name__ == "__main__":
    main()
