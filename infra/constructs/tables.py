"""The stage's tables, built from the service's own schema."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_kms as kms
from constructs import Construct

from fencepost.adapters.dynamodb.schema import PARTITION_KEY, SCHEMAS, SORT_KEY, TTL_ATTRIBUTE, TableSchema
from infra.names import Names
from infra.settings import Provisioned, Stage, TableSize


class Tables(Construct):
    """One table per schema: on demand or provisioned, restorable to any second, and kept in a stage that retains."""

    def __init__(self, scope: Construct, name: str, stage: Stage, names: Names, key: kms.IKey | None) -> None:
        super().__init__(scope, name)
        self._stage = stage
        self._key = key
        for schema in SCHEMAS.values():
            # Named after the stage alone: a restored copy is not the store's own table.
            self._table(schema, names.of(str(schema.table)))

    def _table(self, schema: TableSchema, name: str) -> None:
        size = self._stage.table(str(schema.table))
        text = dynamodb.AttributeType.STRING
        dynamodb.TableV2(
            self,
            str(schema.table).capitalize(),
            table_name=name,
            partition_key=dynamodb.Attribute(name=PARTITION_KEY, type=text),
            sort_key=dynamodb.Attribute(name=SORT_KEY, type=text),
            billing=_billing(size),
            warm_throughput=_warm(size),
            encryption=self._encryption(),
            time_to_live_attribute=TTL_ATTRIBUTE if schema.time_to_live else None,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=schema.point_in_time_recovery,
                recovery_period_in_days=self._stage.recovery_days,
            ),
            contributor_insights_specification=dynamodb.ContributorInsightsSpecification(
                enabled=True, mode=dynamodb.ContributorInsightsMode.THROTTLED_KEYS
            ),
            deletion_protection=self._stage.retain,
            removal_policy=cdk.RemovalPolicy.RETAIN if self._stage.retain else cdk.RemovalPolicy.DESTROY,
        )

    def _encryption(self) -> dynamodb.TableEncryptionV2:
        if self._key is None:
            return dynamodb.TableEncryptionV2.dynamo_owned_key()
        return dynamodb.TableEncryptionV2.customer_managed_key(self._key)


def _billing(size: TableSize) -> dynamodb.Billing:
    if size.writes is None or size.reads is None:
        return dynamodb.Billing.on_demand()
    return dynamodb.Billing.provisioned(
        write_capacity=_scaled(size.writes), read_capacity=_scaled(size.reads)
    )


def _scaled(bought: Provisioned) -> dynamodb.Capacity:
    return dynamodb.Capacity.autoscaled(
        min_capacity=bought.least,
        max_capacity=bought.most,
        seed_capacity=bought.least,
        target_utilization_percent=bought.percent,
    )


def _warm(size: TableSize) -> dynamodb.WarmThroughput | None:
    if size.warm_writes is None and size.warm_reads is None:
        return None
    return dynamodb.WarmThroughput(
        write_units_per_second=size.warm_writes, read_units_per_second=size.warm_reads
    )
