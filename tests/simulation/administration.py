"""What owners and administrators do besides declaring jobs: teams, switches, calendars, backfills."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from fencepost.application.backfills.asking import Backfills, Wish
from fencepost.application.backfills.reading import list_backfills
from fencepost.application.registry.calendars import CalendarRequest, drop_calendar, put_calendar
from fencepost.application.registry.reading import find_job
from fencepost.application.registry.refresh import refresh_team
from fencepost.application.registry.teams import TeamDraft, TeamRequest, declare_team
from fencepost.application.switches.flipping import Flip, Switches
from fencepost.domain.faults import Faults
from fencepost.domain.manners import HostLimit
from fencepost.domain.model import Caller, Overlap, Team, Tier
from tests.simulation.plan import CALENDAR, HostLimits, OpPlan
from tests.simulation.stage import SimStage

OWNER = Caller(principal="arn:aws:iam::111122223333:role/owner", admin=True)
REFRESHED = 5
SNS = "arn:aws:sns:eu-central-1:111122223333:told"


def named(answer: object) -> str:
    """What was answered, for the journal."""
    return type(answer).__name__


def act(stage: SimStage, op: OpPlan) -> str:
    """One operation; what its owner was answered."""
    match op.what:
        case "cap":
            return team(stage, op.team, cap=op.facts["cap"])
        case "hosts":
            return team(stage, op.team, hosts=op.facts["hosts"])
        case "calendar":
            return calendar(stage, op.team, op.facts["quiet"])
        case "uncalendar":
            return named(drop_calendar(stage.registry, _quiet(op.team)))
        case "halt" | "halt_stage" | "unhalt" | "unhalt_stage":
            return _flip(stage, op)
        case "refresh":
            return _refresh(stage, op.team)
        case "backfill":
            return _backfill(stage, op)
        case "call_off":
            return _call_off(stage, op)
        case _:
            raise ValueError(f"{op.what} is no operation of an owner")


def team(
    stage: SimStage,
    name: str,
    *,
    cap: int | None = None,
    hosts: HostLimits | None = None,
    notify_on: frozenset[str] = frozenset({"dead"}),
) -> str:
    """Creates the team, or changes its cap or the hosts that it spares."""

    def draw(current: Team | None) -> TeamDraft:
        changes: dict[str, Any] = {} if current else {"notify_on": notify_on}
        changes |= {} if cap is None else {"max_concurrency": cap}
        changes |= {} if hosts is None else {"hosts": _limits(hosts)}
        return TeamDraft(team=replace(current or Team(name=name), **changes), notify={"sns": SNS})

    return named(declare_team(stage.registry, TeamRequest(caller=OWNER, team=name), draw))


def _limits(hosts: HostLimits) -> tuple[HostLimit, ...]:
    return tuple(
        HostLimit(host=host, max_parallel=parallel, max_per_minute=minute)
        for host, (parallel, minute) in sorted(hosts.items())
    )


def calendar(stage: SimStage, team_name: str, spans: Sequence[str]) -> str:
    """Declares the team's calendar."""
    return named(put_calendar(stage.registry, _quiet(team_name), {"instants": list(spans)}))


def _quiet(team_name: str) -> CalendarRequest:
    return CalendarRequest(caller=OWNER, team=team_name, name=CALENDAR)


def _flip(stage: SimStage, op: OpPlan) -> str:
    facts: Mapping[str, Any] = op.facts
    until = None if facts["until"] is None else datetime.fromisoformat(facts["until"])
    back = op.what.startswith("unhalt")
    if not back and until is not None and until <= stage.clock.now():
        return "Over"
    tiers = frozenset(Tier(tier) for tier in facts["tiers"])
    flip = Flip(caller=OWNER, tiers=tiers, back=back, until=None if back else until)
    switches = Switches(ports=stage.registry, queues=stage.queues)
    if op.what.endswith("_stage"):
        return named(switches.stage(flip))
    return named(switches.team(op.team, flip))


def _refresh(stage: SimStage, team_name: str) -> str:
    """Page after page, as a client of the API does it."""
    after, moved = None, 0
    while True:
        page = refresh_team(stage.registry, OWNER, team_name, after, REFRESHED)
        moved, after = moved + len(page.moved), page.after
        if after is None:
            return f"moved {moved}"


def _backfill(stage: SimStage, op: OpPlan) -> str:
    job, facts = find_job(stage.store, op.team, op.job), op.facts
    if job is None:
        return "Missing"
    now = stage.clock.now()
    wish = Wish(
        caller=OWNER,
        key=f"backfill-{op.number}",
        first=now - timedelta(minutes=facts["first"]),
        before=now - timedelta(minutes=facts["before"]),
        rate=facts["rate"],
        overlap=None if facts["overlap"] is None else Overlap(facts["overlap"]),
        force=facts["force"],
    )
    try:
        return named(Backfills(tools=stage.delivery.cancel.tools).ask(job, wish, now))
    except Faults as refused:
        return f"Faults: {refused.faults[0].rule}"


def _call_off(stage: SimStage, op: OpPlan) -> str:
    job = find_job(stage.store, op.team, op.job)
    known = [] if job is None else list_backfills(stage.store, job.uid)
    if job is None or not known:
        return "Missing"
    chosen = known[op.number % len(known)]
    owner = stage.delivery.cancel.tools.reads.team(op.team, stage.clock.now())
    if owner is None:
        return "Missing"
    backfills = Backfills(tools=stage.delivery.cancel.tools)
    return named(backfills.call_off(job.uid, chosen.id, OWNER, owner, stage.clock.now()))
