"""The store: tables, queues and keys. It outlives every deployment of the service."""

from __future__ import annotations

import aws_cdk as cdk
from constructs import Construct

from infra.constructs.keys import data_key, secrets_key
from infra.constructs.queues import Queues
from infra.constructs.tables import Tables
from infra.names import PRODUCT, Names
from infra.settings import Stage


class StoreStack(cdk.Stack):
    """What must not be lost. The service finds tables and queues by name, the keys by reference.

    By name, so that a stage can be pointed at restored tables while this stack still holds the old ones.
    """

    def __init__(self, scope: Construct, stage: Stage, names: Names) -> None:
        super().__init__(
            scope,
            names.of("store"),
            env=cdk.Environment(account=stage.account, region=stage.region),
            description=f"Fencepost {stage.name}: tables, queues and keys",
            termination_protection=stage.retain,
            tags={"product": PRODUCT, "stage": stage.name},
        )
        self.secrets_key = secrets_key(self, stage, names)
        self.data_key = data_key(self, stage, names)
        Tables(self, "Tables", stage, names, self.data_key)
        Queues(self, "Queues", names, self.data_key)
