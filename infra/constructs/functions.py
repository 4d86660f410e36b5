"""The stage's functions: code, room, what each may do, and what feeds it."""

from __future__ import annotations

from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.assets import Assets
from infra.constructs.policies import policy
from infra.constructs.refs import StoreRefs
from infra.names import NAMESPACE, PRODUCT, Fn
from infra.permissions import GRANTS, Grants, grants_of
from infra.settings import AtMost, Pollers, Stage

BATCH = {"scan": 1, "pump": 1}
DELIVERY_BATCH = 10
SEND_TO_THEMSELVES = frozenset(Fn) - {Fn.API, Fn.TICK}
"""Retries and passes travel back through the queues they came from: sixteen rounds of that are no runaway loop."""


class Functions(Construct):
    """All of them, by name."""

    def __init__(
        self, scope: Construct, name: str, stage: Stage, assets: Assets, refs: StoreRefs, secrets_key: str
    ) -> None:
        super().__init__(scope, name)
        self._stage = stage
        self._assets = assets
        self._refs = refs
        self._secrets_key = secrets_key
        self._runtime = lambda_.Runtime(f"python{assets.python}", lambda_.RuntimeFamily.PYTHON)
        self._layers = [
            self._layer("Dependencies", str(assets.dependencies), "Third-party packages from the lock"),
            self._layer("Core", str(assets.core), "Fencepost itself"),
        ]
        self.roles: dict[Fn, iam.Role] = {}
        self.by_name: Mapping[Fn, lambda_.Function] = {each: self._function(each) for each in Fn}

    def _layer(self, name: str, folder: str, description: str) -> lambda_.LayerVersion:
        return lambda_.LayerVersion(
            self,
            name,
            code=lambda_.Code.from_asset(folder),
            compatible_runtimes=[self._runtime],
            compatible_architectures=[self._architecture],
            description=description,
        )

    @property
    def _architecture(self) -> lambda_.Architecture:
        arm = self._assets.machine == "aarch64"
        return lambda_.Architecture.ARM_64 if arm else lambda_.Architecture.X86_64

    def _function(self, function: Fn) -> lambda_.Function:
        size, names = self._stage.size(function), self._refs.names
        scope = Construct(self, function.value)
        log = self._log_group(scope, function)
        made = lambda_.Function(
            scope,
            "Function",
            function_name=names.function(function),
            description=DUTIES[function],
            runtime=self._runtime,
            architecture=self._architecture,
            handler=f"functions.{function.folder}.handler.handler",
            code=lambda_.Code.from_asset(str(self._assets.functions[function.folder])),
            layers=self._layers,
            role=self._role(scope, function, log),
            log_group=log,
            environment=dict(self._environment(function)),
            memory_size=size.memory,
            timeout=cdk.Duration.seconds(size.timeout),
            reserved_concurrent_executions=size.reserved,
            recursive_loop=lambda_.RecursiveLoop.ALLOW if function in SEND_TO_THEMSELVES else None,
        )
        for queue in GRANTS[function].consumes:
            self._feed(scope, function, made, queue)
        return made

    def _log_group(self, scope: Construct, function: Fn) -> logs.LogGroup:
        return logs.LogGroup(
            scope,
            "Log",
            log_group_name=self._refs.names.log_group(function),
            retention=log_retention(self._stage.log_days),
            removal_policy=log_removal(self._stage),
        )

    def _role(self, scope: Construct, function: Fn, log: logs.LogGroup) -> iam.Role:
        """Its policy is part of the role itself, so it is in force before the first event arrives."""
        document = policy(self._grants(function), self._refs, self._secrets_key, log)
        self.roles[function] = iam.Role(
            scope,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            description=f"What {self._refs.names.function(function)} may do",
            inline_policies={"duties": document},
        )
        return self.roles[function]

    def _environment(self, function: Fn) -> Mapping[str, str]:
        stage, grants = self._stage, self._grants(function)
        settings = {
            "FENCEPOST_STAGE": stage.name,
            "FENCEPOST_SHARDS": str(stage.shards),
            "FENCEPOST_HORIZON_SECONDS": str(stage.horizon),
            "POWERTOOLS_SERVICE_NAME": PRODUCT,
            "POWERTOOLS_METRICS_NAMESPACE": NAMESPACE,
            "POWERTOOLS_LOG_LEVEL": "INFO",
        }
        if grants.seals or grants.opens:
            settings["FENCEPOST_KMS_KEY_ID"] = self._secrets_key
        if stage.admins and function is Fn.API:
            settings["FENCEPOST_ADMINS"] = ",".join(stage.admins)
        if stage.no_fire_before is not None:
            settings["FENCEPOST_NO_FIRE_BEFORE"] = stage.no_fire_before
        if stage.restored is not None:
            settings["FENCEPOST_RESTORED"] = stage.restored
        if grants.reads_ledger_before:
            settings["FENCEPOST_TABLE_REPLACED"] = self._refs.names.ledger_before()
        queues = sorted({*grants.sends, *grants.consumes})
        return settings | self._refs.environment(sorted(grants.tables), queues)

    def _grants(self, function: Fn) -> Grants:
        return grants_of(function, restored=self._stage.restored is not None)

    def _feed(self, scope: Construct, function: Fn, made: lambda_.Function, queue: str) -> None:
        polling = self._stage.polling[function]
        pollers = None
        if isinstance(polling, Pollers):
            pollers = lambda_.ProvisionedPollerConfig(
                minimum_pollers=polling.minimum, maximum_pollers=polling.maximum
            )
        lambda_.EventSourceMapping(
            scope,
            f"From{queue.title().replace('-', '')}",
            target=made,
            event_source_arn=self._refs.queue_arn(queue),
            batch_size=BATCH.get(queue, DELIVERY_BATCH),
            report_batch_item_failures=True,
            max_concurrency=polling.concurrency if isinstance(polling, AtMost) else None,
            provisioned_poller_config=pollers,
        )


DUTIES: Mapping[Fn, str] = {
    Fn.API: "Answers the HTTP API",
    Fn.TICK: "Each minute: sends one scan per shard and one pump per team that waits",
    Fn.SCAN: "Claims a shard's due timers and hands the firings to their queues",
    Fn.PUMP: "Hands free slots of a team to those of its firings that wait",
    Fn.DELIVER_CRITICAL: "Holds critical firings until due and delivers them",
    Fn.DELIVER_STANDARD: "Holds standard firings until due and delivers them",
    Fn.DELIVER_BULK: "Holds bulk firings until due and delivers them",
    Fn.DELIVER_RECOVERY: "Delivers catch-up, backfill and redriven firings",
    Fn.DEAD_LETTER: "Settles what the delivery functions could not, and tells its team",
    Fn.SWEEP: "Each day: finds and heals what no wake-up would find any more",
    Fn.AUDIT: "Each day: works out what should have happened and compares the ledger",
}


def log_removal(stage: Stage) -> cdk.RemovalPolicy:
    """What becomes of a log group whose stack goes. What a first deployment that failed has made is never kept: by its
    fixed name it would stand in the way of the second.
    """
    return cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE if stage.retain else cdk.RemovalPolicy.DESTROY


def log_retention(days: int) -> logs.RetentionDays:
    """CloudWatch's own word for so many days. Raises KeyError where it has none."""
    words = {
        7: logs.RetentionDays.ONE_WEEK,
        14: logs.RetentionDays.TWO_WEEKS,
        30: logs.RetentionDays.ONE_MONTH,
        90: logs.RetentionDays.THREE_MONTHS,
        180: logs.RetentionDays.SIX_MONTHS,
        365: logs.RetentionDays.ONE_YEAR,
    }
    return words[days]
