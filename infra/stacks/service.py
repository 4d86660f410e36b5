"""The service: functions, API, schedules, and the eyes on them. It can be deleted and deployed again at any time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from infra.assets import Assets
from infra.constructs.alarms import Alarms
from infra.constructs.api import Api
from infra.constructs.dashboard import Dashboard
from infra.constructs.functions import Functions
from infra.constructs.objective import objective
from infra.constructs.probe import Probe
from infra.constructs.refs import StoreRefs
from infra.constructs.schedules import Schedules
from infra.names import PRODUCT, Fn, Names
from infra.permissions import GRANTS
from infra.routes import Route
from infra.settings import Stage
from infra.stacks.store import StoreStack


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What is put into a service besides its settings: the code and the API's routes."""

    assets: Assets
    routes: Sequence[Route]


class ServiceStack(cdk.Stack):
    """Everything that runs."""

    def __init__(
        self, scope: Construct, stage: Stage, names: Names, store: StoreStack, contents: Contents
    ) -> None:
        super().__init__(
            scope,
            names.of("service"),
            env=cdk.Environment(account=stage.account, region=stage.region),
            description=f"Fencepost {stage.name}: functions, API, schedules, alarms",
            tags={"product": PRODUCT, "stage": stage.name},
        )
        self.add_stack_dependency(store)
        refs = StoreRefs(self, names)
        made = Functions(self, "Functions", stage, contents.assets, refs, store.secrets_key.key_arn)
        functions = made.by_name
        api = Api(self, "Api", stage=stage, names=names, routes=contents.routes, handler=functions[Fn.API])
        Schedules(self, "Schedules", names, functions, closed=stage.closed)
        callers = [made.roles[each] for each in Fn if GRANTS[each].acts_for_teams]
        probe = Probe(self, "Probe", names, callers)
        alarms = Alarms(self, "Alarms", stage, names, store.data_key)
        Dashboard(self, "Dashboard", stage, names, alarms.all)
        objective(self, stage, names)
        self._output(names, "api-url", api.rest.url)
        self._output(names, "api-id", api.rest.rest_api_id)
        self._output(names, "alarm-topic-arn", alarms.topic.topic_arn)
        self._output(names, "probe-queue-url", refs.queue_url("probe"))
        self._output(names, "probe-role-arn", probe.role.role_arn)
        self._output(names, "secrets-key-arn", store.secrets_key.key_arn)

    def _output(self, names: Names, name: str, value: str) -> None:
        ssm.StringParameter(
            self,
            f"Output{name.title().replace('-', '')}",
            parameter_name=names.parameter(name),
            string_value=value,
        )
