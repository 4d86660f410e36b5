"""Many jobs in one call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fencepost.client.decoding import Result
from fencepost.client.errors import ApiError
from fencepost.client.refusals import error_of
from fencepost.client.transport import HttpAnswer

MOST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkItem:
    """A job to put, or without `job` to delete. `revision`: only while it is at this one."""

    name: str
    job: Mapping[str, Any] | None = None
    revision: int | None = None

    def wire(self) -> dict[str, Any]:
        """As the API takes it."""
        return {"name": self.name, "job": self.job, "revision": self.revision}


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkResult(Result):
    """What became of one item: what the same call by itself would have been answered."""

    name: str
    action: str
    status: int
    revision: int | None = None
    uid: str | None = None
    problem: Mapping[str, Any] | None = None

    @property
    def done(self) -> bool:
        """Whether it happened."""
        return self.status < 400

    @property
    def not_tried(self) -> bool:
        """Whether its turn did not come, or the service had trouble of its own: it may be sent again."""
        return self.status == 503

    @property
    def error(self) -> ApiError | None:
        """The refusal as the exception that the same call by itself would have raised."""
        if self.done:
            return None
        return error_of(HttpAnswer(status=self.status, body=json.dumps(self.problem).encode()))


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkResults(Result):
    """One result per item, in order."""

    results: tuple[BulkResult, ...]
