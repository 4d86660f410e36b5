"""The store as the service sees it: by name, so that neither stack holds the other fast."""

from __future__ import annotations

from collections.abc import Sequence

import aws_cdk as cdk
from constructs import Construct

from infra.names import TABLES, Names


class StoreRefs:
    """ARNs and URLs of a stage's tables and queues."""

    def __init__(self, scope: Construct, names: Names) -> None:
        self._stack = cdk.Stack.of(scope)
        self.names = names

    def table_arn(self, table: str) -> str:
        """The table that the functions use."""
        return self._stack.format_arn(
            service="dynamodb", resource="table", resource_name=self.names.table(table)
        )

    def ledger_before_arn(self) -> str:
        """The table of the ledger that a restored one replaces."""
        return self._stack.format_arn(
            service="dynamodb", resource="table", resource_name=self.names.ledger_before()
        )

    def queue_arn(self, queue: str) -> str:
        """The queue of this word."""
        return self._stack.format_arn(service="sqs", resource=self.names.queue(queue))

    def queue_url(self, queue: str) -> str:
        """Where the queue of this word is reached."""
        stack = self._stack
        return f"https://sqs.{stack.region}.{stack.url_suffix}/{stack.account}/{self.names.queue(queue)}"

    def environment(self, tables: Sequence[str], queues: Sequence[str]) -> dict[str, str]:
        """What a function is told of the store: the tables and queues that it has business with."""
        named = {f"FENCEPOST_TABLE_{_upper(name)}": self.names.table(name) for name in tables}
        return named | {f"FENCEPOST_QUEUE_{_upper(name)}": self.queue_url(name) for name in queues}

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables that the functions use."""
        return tuple(map(self.names.table, TABLES))


def _upper(word: str) -> str:
    return word.upper().replace("-", "_")
