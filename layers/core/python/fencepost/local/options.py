"""What the owner of a machine may choose about the service that runs on it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

DEFAULT_PORT = 8080
DEFAULT_DATA_DIR = Path(".fencepost")


class StoreKind(StrEnum):
    """Where the truth is kept: in a local AWS engine, in a file, in this process."""

    ENGINE = "engine"
    SQLITE = "sqlite"
    MEMORY = "memory"


class Parts(StrEnum):
    """Which half of the service a process runs; the halves meet in the data directory."""

    BOTH = "both"
    ENGINE = "engine"
    API = "api"


class OptionsError(ValueError):
    """These choices do not go together; says which and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalOptions:
    """`workers`: how many processes of their own deliver firings, 0 for none but this one. `port` 0: any free one.

    Raises OptionsError for what contradicts itself.
    """

    store: StoreKind = StoreKind.SQLITE
    data_dir: Path = DEFAULT_DATA_DIR
    port: int = DEFAULT_PORT
    parts: Parts = Parts.BOTH
    workers: int = 0
    auth: bool = True
    allow_private_targets: bool = False
    demo: bool = False

    def __post_init__(self) -> None:
        if self.store is StoreKind.MEMORY and (self.workers or self.parts is not Parts.BOTH):
            raise OptionsError("a store in memory belongs to one process: no workers, no halves")
        if not 0 <= self.workers <= 16:
            raise OptionsError(f"workers is {self.workers}; it must be 0..16")
        if not 0 <= self.port <= 65535:
            raise OptionsError(f"port is {self.port}; it must be 0..65535")
        if self.demo and self.parts is not Parts.BOTH:
            raise OptionsError("the demo needs both halves")

    @property
    def private_targets(self) -> bool:
        """Whether targets on this machine and its network may be called; the demo's target is one."""
        return self.allow_private_targets or self.demo
