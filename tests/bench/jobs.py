"""The jobs of a bench: each is a pure function of its number, so a store may make the one it is asked for."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from fencepost.application.planting import fire_timer
from fencepost.domain.identity import digest
from fencepost.domain.limits import Limits
from fencepost.domain.model import Detail, Job, Timer
from fencepost.domain.schedule import next_occurrence, parse_schedule
from fencepost.domain.states import JobState
from fencepost.domain.targets import WebhookTarget

HOURLY = {"cron": "0 * * * *", "timezone": "Europe/Berlin"}
TEAM = "payments"
PAYLOAD = b'{"report":"nightly","format":"pdf"}'
_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_URL = "https://hooks.example.com/payments/reports/"


def uid_of(number: int) -> str:
    """The uid of job `number`."""
    text = ""
    for _ in range(20):
        number, digit = divmod(number, 32)
        text = _ALPHABET[digit] + text
    return text


def number_of(uid: str) -> int:
    """Which job a uid belongs to."""
    number = 0
    for letter in uid:
        number = number * 32 + _ALPHABET.index(letter)
    return number


def detail_of(number: int) -> Detail:
    """What job `number` sends, and where."""
    target = WebhookTarget(url=f"{_URL}{number}")
    return Detail(digest=digest(PAYLOAD + target.url.encode()), target=target, payload=PAYLOAD)


def job_of(number: int, now: datetime, **facts: Any) -> Job:
    """Job `number`, registered at `now`."""
    values: dict[str, Any] = {
        "team": TEAM,
        "name": f"nightly-report-{number}",
        "revision": 1,
        "generation": 1,
        "state": JobState.ACTIVE,
        "schedule": parse_schedule(HOURLY, now=now),
        "detail": detail_of(number).digest,
        "created_at": now,
        "updated_at": now,
    }
    return Job(uid=uid_of(number), **{**values, **facts})


def first_timer(job: Job, now: datetime, limits: Limits) -> Timer:
    """The timer that a registration at `now` plants."""
    first = next_occurrence(job.schedule, now)
    assert first is not None
    return fire_timer(job, first, ordinal=1, now=now, limits=limits)
