"""Puts a synthesised stage into the local engine: assets, then stack after stack, as CloudFormation gets them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aws_cdk as cdk
from botocore.exceptions import WaiterError

from infra.app import build
from infra.constructs.api import STAGE
from infra.local.engine import ACCOUNT, REGION, VENV, Engine
from infra.local.refused import accepted
from infra.names import Names
from infra.packaging import package
from infra.packaging.folders import ROOT
from infra.packaging.target import native
from infra.routes import read_routes
from infra.settings import Stage
from infra.stacks.service import Contents
from infra.stages import dev

ADMIN = f"arn:aws:iam::{ACCOUNT}:user/administrator"
_BOOTSTRAP = "/cdk-bootstrap/hnb659fds/version"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """A stage that runs in the engine."""

    names: Names
    url: str
    api_id: str

    def methods(self, path: str, verb: str = "*") -> str:
        """The ARN of methods of the API, for IAM policies."""
        return f"arn:aws:execute-api:{REGION}:{ACCOUNT}:{self.api_id}/{STAGE}/{verb}{path}"


def local() -> Stage:
    """The stage `dev` under another name, with the shortest horizon: what is due in a minute takes the whole way."""
    return replace(dev(), name="local", horizon=60, account=ACCOUNT, region=REGION, admins=(ADMIN,)).check()


def synthesise(output: Path, stage: Stage) -> list[str]:
    """Writes the templates and assets, built for the engine's own Python. Returns the stacks' names, in order."""
    flags = json.loads((ROOT / "cdk.json").read_text())["context"]
    app = cdk.App(context=flags, analytics_reporting=False, outdir=str(output))
    assets = package(native(VENV / "python"))
    stacks = build(app, stage, Contents(assets=assets, routes=read_routes()))
    app.synth()
    return [stack.stack_name for stack in stacks]


def deploy(engine: Engine, output: Path, stage: Stage) -> Deployed:
    """Synthesises and creates all stacks. Raises RuntimeError with what failed."""
    names = Names(stage=stage.name, restored=stage.restored, replaced=stage.replaced)
    stacks = synthesise(output, stage)
    ssm = engine.client("ssm")
    ssm.put_parameter(Name=_BOOTSTRAP, Value="30", Type="String", Overwrite=True)
    for stack in stacks:
        _upload(engine, output, json.loads((output / f"{stack}.assets.json").read_text())["files"])
        template = accepted(json.loads((output / f"{stack}.template.json").read_text()))
        create(engine, stack, template)
    api_id = ssm.get_parameter(Name=names.parameter("api-id"))["Parameter"]["Value"]
    url = f"{engine.endpoint}/restapis/{api_id}/{STAGE}/_user_request_"
    return Deployed(names=names, url=url, api_id=api_id)


def create(engine: Engine, name: str, template: Mapping[str, Any]) -> None:
    """Creates one stack. Raises RuntimeError with each resource that failed."""
    s3, bucket = engine.client("s3"), _bucket()
    s3.create_bucket(Bucket=bucket)
    s3.put_object(Bucket=bucket, Key=f"{name}.json", Body=json.dumps(template).encode())
    cloudformation = engine.client("cloudformation")
    cloudformation.create_stack(
        StackName=name,
        TemplateURL=f"{engine.endpoint}/{bucket}/{name}.json",
        Capabilities=["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"],
    )
    waiter = cloudformation.get_waiter("stack_create_complete")
    try:
        waiter.wait(StackName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 60})
    except WaiterError:
        raise RuntimeError(f"{name}: {failures(cloudformation, name)}") from None


def failures(cloudformation: Any, name: str) -> str:  # noqa: ANN401 - a client of boto3
    """What CloudFormation says about the resources that failed."""
    events = cloudformation.describe_stack_events(StackName=name)["StackEvents"]
    return "; ".join(
        f"{event['LogicalResourceId']} ({event['ResourceType']}): {event.get('ResourceStatusReason', 'failed')}"
        for event in events
        if event["ResourceStatus"].endswith("FAILED")
    )


def _upload(engine: Engine, output: Path, files: Mapping[str, Mapping[str, Any]]) -> None:
    s3 = engine.client("s3")
    s3.create_bucket(Bucket=_bucket())
    for asset in files.values():
        source = output / asset["source"]["path"]
        body = _zipped(source) if asset["source"]["packaging"] == "zip" else source.read_bytes()
        for destination in asset["destinations"].values():
            s3.put_object(Bucket=_bucket(), Key=destination["objectKey"], Body=body)


def _bucket() -> str:
    return f"cdk-hnb659fds-assets-{ACCOUNT}-{REGION}"


def _zipped(folder: Path) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in _sorted_files(folder):
            archive.write(path, path.relative_to(folder))
    return content.getvalue()


def _sorted_files(folder: Path) -> Sequence[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
