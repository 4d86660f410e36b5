"""Synthesises one stage: `python -m infra.deploy deploy --all -c stage=dev`, or `python -m infra.app` for the templates.

Context: `stage` (dev, staging, prod), `account`, `region`, `admins` (principals, by commas), `callers` (other accounts, by commas); after a restore `restored` (the suffix of the restored
tables), `replaced` (that of the tables before, where they are not the store's own) and `no_fire_before` (the instant up to which nothing is fired).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks

from infra.nag import acknowledge
from infra.names import Names
from infra.packaging import package
from infra.packaging.folders import ROOT
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
        replaced=context.get("replaced") or stage.replaced,
        no_fire_before=context.get("no_fire_before") or stage.no_fire_before,
        closed=context.get("closed") == "true" or stage.closed,
        admins=_words(context.get("admins")) or stage.admins,
        callers=_words(context.get("callers")) or stage.callers,
    )
    return stage.check()


def _words(text: str | None) -> tuple[str, ...]:
    return tuple(filter(None, (text or "").split(",")))


CONTEXT = (
    "stage",
    "account",
    "region",
    "restored",
    "replaced",
    "no_fire_before",
    "closed",
    "admins",
    "callers",
)


def build(app: cdk.App, stage: Stage, contents: Contents) -> tuple[AccountStack, StoreStack, ServiceStack]:
    """The stage's stacks, judged by the rules of AwsSolutions when they are synthesised."""
    if stage.demand_bytecode and not contents.assets.bytecode:
        raise StageError(
            f"stage {stage.name}: the layers hold no bytecode of Python {contents.assets.python}, so every cold "
            f"start would compile them; install that Python and build them again (make layers)"
        )
    names = Names(stage=stage.name, restored=stage.restored, replaced=stage.replaced)
    account = AccountStack(app, stage)
    store = StoreStack(app, stage, names)
    service = ServiceStack(app, stage, names, store, contents)
    # In a new account an API that logs is refused until the gateway has a role to log with.
    service.add_stack_dependency(account)
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    acknowledge(stage, account, store, service)
    return account, store, service


def new_app(arguments: Sequence[str]) -> cdk.App:
    """Under the CDK command line the app gets its context from there; run by itself, from `cdk.json` and `-c key=value`."""
    if "CDK_CONTEXT_JSON" in os.environ:
        return cdk.App(analytics_reporting=False)
    parser = argparse.ArgumentParser(prog="python -m infra.app")
    parser.add_argument("-c", dest="context", metavar="KEY=VALUE", action="append", default=[])
    given = dict(pair.split("=", 1) for pair in parser.parse_args(arguments).context)
    settings = json.loads((ROOT / "cdk.json").read_text())
    return cdk.App(
        context={**settings["context"], **given}, outdir=settings["output"], analytics_reporting=False
    )


def main(arguments: Sequence[str]) -> None:
    """Packages the code and writes the templates."""
    app = new_app(arguments)
    wanted = {name: app.node.try_get_context(name) for name in CONTEXT}
    wanted["account"] = wanted["account"] or os.environ.get("CDK_DEFAULT_ACCOUNT")
    wanted["region"] = wanted["region"] or os.environ.get("CDK_DEFAULT_REGION")
    try:
        build(app, stage_of(wanted), Contents(assets=package(), routes=read_routes()))
    except StageError as error:
        sys.exit(str(error))
    app.synth()


if __name__ == "__main__":
    main(sys.argv[1:])
