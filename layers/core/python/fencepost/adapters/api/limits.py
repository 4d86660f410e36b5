"""A team's limits, read back with what is used of them."""

from __future__ import annotations

from fencepost.adapters.api.http import Answer, Request
from fencepost.adapters.api.problems import missing
from fencepost.application.registry.drafts import MAX_PAYLOAD
from fencepost.application.registry.reading import find_team
from fencepost.application.registry.usage import noted


def get(request: Request) -> Answer:
    """Every limit with its use. Jobs and firings are counted beside the writes: exact where they would refuse."""
    store = request.services.store
    team = find_team(store, request.team)
    if team is None:
        return missing("team", request.team)
    used = noted(store, team.name)
    busy = request.services.delivery.workers.doors.slots.in_use(team, request.now)
    return Answer(
        body={
            "max_jobs": {"limit": team.max_jobs, "used": used.jobs},
            "max_daily_firings": {"limit": team.max_daily_firings, "used": used.daily_firings},
            "max_concurrency": {"limit": team.max_concurrency, "used": busy},
            "payload_bytes": {"limit": MAX_PAYLOAD, "used": None},
            "tiers": [tier.value for tier in team.tiers],
        }
    )
