"""CPU of the API's requests: the real handler over a stage in memory, so that it is the API's own and nobody else's."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from tests.bench.cpu import minima
from tests.support.api import Front, event_of

ROUNDS = 200


def measured(rounds: int = ROUNDS) -> dict[str, float]:
    """Microseconds per request: the best of so many, interleaved."""
    front = Front.at()
    fresh = count()

    def declare(number: int) -> Mapping[str, Any]:
        event = event_of("put_job")
        name = f"nightly-report-{number}"
        event["path"] = event["path"].replace("nightly-report", name)
        event["pathParameters"]["job"] = name
        return event

    put, get, listed = declare(0), event_of("get_job"), event_of("list_jobs")
    get["pathParameters"]["job"] = put["pathParameters"]["job"]
    get["path"] = put["path"]

    def asked(event: Mapping[str, Any], status: int) -> Callable[[], None]:
        def ask() -> None:
            answer = front.handler(event, None)
            assert answer["statusCode"] == status, json.loads(answer["body"])

        return ask

    def create() -> None:
        asked(declare(next(fresh)), 201)()

    create()
    works = {
        "create a job": create,
        "declare it again, unchanged": asked(put, 200),
        "read it": asked(get, 200),
        "list jobs": asked(listed, 200),
    }
    return minima(works, 1, rounds)
