"""The demo's team and jobs, as an owner would declare them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fencepost.local.caller import ApiCaller
from fencepost.local.gateway.credentials import role_arn
from fencepost.local.identities import DEMO_ROLE, DEMO_TEAM

TOPIC = "arn:aws:sns:us-east-1:000000000000:demo-dead-letters"
_SOON = {"initial_delay_seconds": 1, "multiplier": 2, "max_delay_seconds": 10}


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoJob:
    """One job: its name, what it shows, its declaration without the target's address."""

    name: str
    shows: str
    path: str
    body: Mapping[str, Any]


JOBS = (
    DemoJob(
        name="heartbeat",
        shows="every 5 seconds",
        path="/ok",
        body={"schedule": {"every": "PT5S"}, "tier": "critical", "payload": {"beat": "{{due}}"}},
    ),
    DemoJob(
        name="report",
        shows="cron, each minute in Berlin",
        path="/ok",
        body={"schedule": {"cron": "* * * * *", "timezone": "Europe/Berlin"}},
    ),
    DemoJob(
        name="flaky",
        shows="fails twice, then works",
        path="/flaky",
        body={"schedule": {"every": "PT30S"}, "retry": {"max_attempts": 5, **_SOON}},
    ),
    DemoJob(
        name="slow",
        shows="times out once: the outcome is unknown, the next attempt has a larger fence",
        path="/slow",
        body={"schedule": {"every": "PT45S"}, "tier": "bulk", "retry": {"max_attempts": 3, **_SOON}},
    ),
    DemoJob(
        name="long-work",
        shows="answers 202, reports 6 seconds later",
        path="/work",
        body={"schedule": {"every": "PT30S"}, "lease_seconds": 30},
    ),
    DemoJob(
        name="doomed",
        shows="never works: dead letter, and the team is told",
        path="/doomed",
        body={"schedule": {"every": "PT1M"}, "retry": {"max_attempts": 3, **_SOON}},
    ),
)
SLOW_TIMEOUT_SECONDS = 2


def declare_team(admin: ApiCaller, target: str) -> None:
    """The team, by the stage's administrator."""
    admin.call(
        "PUT",
        f"/v1/teams/{DEMO_TEAM}",
        {
            "max_concurrency": 10,
            "principals": [role_arn(DEMO_ROLE)],
            "notify": {"sns": TOPIC, "webhook": f"{target}/told"},
        },
    )


def declare_jobs(owner: ApiCaller, target: str) -> None:
    """The jobs, by the team's owner. Declaring them again changes nothing but where the target listens."""
    for job in JOBS:
        webhook: dict[str, Any] = {"url": target + job.path}
        if job.name == "slow":
            webhook["timeout_seconds"] = SLOW_TIMEOUT_SECONDS
        owner.call(
            "PUT", f"/v1/teams/{DEMO_TEAM}/jobs/{job.name}", {**job.body, "target": {"webhook": webhook}}
        )
