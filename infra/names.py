"""What the parts of a stage are called. Every name begins with the stage's own prefix, so stages share an account."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from fencepost.adapters.dynamodb.schema import SCHEMAS, stage_prefix

PRODUCT = "fencepost"
NAMESPACE = "Fencepost"

TABLES = tuple(str(table) for table in SCHEMAS)
TIERS = ("critical", "standard", "bulk", "recovery")
DEAD = tuple(f"dead-{tier}" for tier in TIERS)
PASSES = ("scan", "pump")
DELIVERY_ROLES = f"{PRODUCT}-delivery-*"
"""Teams name the roles that act for them so; in whichever account they lie, nothing else can be assumed."""
QUEUES = (*TIERS, *DEAD, *PASSES)


class Fn(StrEnum):
    """The stage's functions. Delivery is one function per queue, so that no tier can take another's concurrency."""

    API = "api"
    TICK = "tick"
    SCAN = "scan"
    PUMP = "pump"
    DELIVER_CRITICAL = "deliver-critical"
    DELIVER_STANDARD = "deliver-standard"
    DELIVER_BULK = "deliver-bulk"
    DELIVER_RECOVERY = "deliver-recovery"
    DEAD_LETTER = "dead-letter"
    SWEEP = "sweep"
    AUDIT = "audit"

    @property
    def folder(self) -> str:
        """The folder under `functions/` that holds its handler."""
        return "deliver" if self in DELIVERERS.values() else self.value.replace("-", "_")


DELIVERERS: Mapping[str, Fn] = {
    "critical": Fn.DELIVER_CRITICAL,
    "standard": Fn.DELIVER_STANDARD,
    "bulk": Fn.DELIVER_BULK,
    "recovery": Fn.DELIVER_RECOVERY,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names of one stage. `restored` is the suffix of tables that a point-in-time restore has made, `replaced` that
    of the ones before them; without a suffix they are the store's own.
    """

    stage: str
    restored: str | None = None
    replaced: str | None = None

    def of(self, thing: str) -> str:
        """`fencepost-{stage}-{thing}`."""
        return f"{stage_prefix(self.stage)}{thing}"

    def table(self, table: str) -> str:
        """The table that the functions use: the store's own, or its restored copy."""
        return self.of(table) if self.restored is None else f"{self.of(table)}-{self.restored}"

    def ledger_before(self) -> str:
        """The table of the ledger that a restored one replaces."""
        own = self.of("executions")
        return own if self.replaced is None else f"{own}-{self.replaced}"

    def queue(self, queue: str) -> str:
        """The queue's name."""
        return self.of(queue)

    def function(self, function: Fn) -> str:
        """The function's name."""
        return self.of(function)

    def delivery_role(self, team: str) -> str:
        """A role of this stage's own that acts for a team."""
        return DELIVERY_ROLES.replace("*", f"{self.stage}-{team}")

    def log_group(self, function: Fn) -> str:
        """Where the function writes its lines."""
        return f"/aws/lambda/{self.function(function)}"

    def parameter(self, name: str) -> str:
        """The path of an output of the stage."""
        return f"/{PRODUCT}/{self.stage}/{name}"
