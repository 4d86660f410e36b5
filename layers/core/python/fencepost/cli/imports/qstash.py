"""QStash: the answer of `GET /v2/schedules`."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from fencepost.cli.imports.carried import Cargo
from fencepost.cli.imports.eventbridge import ForeignError

_METHODS = frozenset({"POST", "PUT", "PATCH"})
_OWN_HEADERS = ("upstash-", "content-length", "host", "user-agent", "x-forwarded", "cf-", "accept-encoding")


def read_qstash(raw: object, now: datetime) -> Cargo:
    """The jobs of a list of schedules. Raises ForeignError for another document."""
    if isinstance(raw, Mapping):
        raw = raw.get("schedules") or [raw]
    if not isinstance(raw, list) or not all(isinstance(each, Mapping) for each in raw):
        raise ForeignError("the list of schedules is wanted")
    cargo = Cargo()
    for number, entry in enumerate(raw, start=1):
        where = str(entry.get("scheduleId") or f"entry {number}")
        destination = str(entry.get("destination", ""))
        if urlsplit(destination).scheme not in {"http", "https"}:
            cargo.leave(where, destination, "its destination is no URL but a group or queue of there")
            continue
        if str(entry.get("method", "POST")) not in _METHODS:
            cargo.leave(where, destination, f"a firing has a body, so it is no {entry['method']}")
            continue
        wish = f"{urlsplit(destination).hostname}{urlsplit(destination).path}"
        cargo.take(where, wish, _job(entry, destination), now, _lost(entry))
    return cargo


def _job(entry: Mapping[str, Any], destination: str) -> dict[str, Any]:
    webhook: dict[str, Any] = {"url": destination}
    if entry.get("method", "POST") != "POST":
        webhook["method"] = entry["method"]
    headers = {
        name: str(values[0] if isinstance(values, list) else values)
        for name, values in (entry.get("header") or {}).items()
        if not name.lower().startswith(_OWN_HEADERS)
    }
    if headers:
        webhook["headers"] = headers
    job: dict[str, Any] = {"schedule": _schedule(str(entry.get("cron", ""))), "target": {"webhook": webhook}}
    payload = _payload(entry)
    if payload is not None:
        job["payload"] = payload
    if "retries" in entry:
        job["retry"] = {"max_attempts": min(int(entry["retries"]) + 1, 100)}
    return job


def _schedule(cron: str) -> dict[str, Any]:
    first, _, rest = cron.partition(" ")
    if first.startswith("CRON_TZ="):
        return {"cron": rest.strip(), "timezone": first.removeprefix("CRON_TZ=")}
    return {"cron": cron, "timezone": "UTC"}


def _payload(entry: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
    text = entry.get("body")
    if text is None and entry.get("bodyBase64"):
        try:
            text = base64.b64decode(str(entry["bodyBase64"]), validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return None
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text


def _lost(entry: Mapping[str, Any]) -> Iterator[str]:
    if entry.get("isPaused"):
        yield "it was paused: pause it after it is applied"
    for name, instead in (
        ("callback", "the team is told of what it wants to know, see notify_on"),
        ("failureCallback", "the team is told of dead letters, see notify"),
        ("delay", "a firing is due when its schedule says"),
        ("queueName", "see the team's max_concurrency, and overlap"),
    ):
        if entry.get(name):
            yield f"its {name}: {instead}"
    if entry.get("bodyBase64") and _payload(entry) is None:
        yield "its body, which is no text"
