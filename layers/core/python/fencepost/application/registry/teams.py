"""Teams: declared by their owners, created and limited by the stage's administrators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import TypeAlias

from fencepost.application import keys
from fencepost.application.codec import VERSION
from fencepost.application.codec_job import encode_team
from fencepost.application.registry.documents import team_declaration
from fencepost.application.registry.ports import RegistryPorts
from fencepost.application.registry.reading import known_team
from fencepost.application.registry.results import BeingDeleted, Conflict, Missing, NotAllowed
from fencepost.application.registry.revisions import Entry, encode_entry
from fencepost.application.registry.team_writes import team_update
from fencepost.application.registry.unreadable_teams import UnreadableTeamError, salvaged, still
from fencepost.application.registry.usage import noted
from fencepost.application.registry.volume import sampled
from fencepost.application.store import Absent, Action, Cancelled, Put, equals
from fencepost.domain.egress import EgressPolicy, check_allowed_hosts
from fencepost.domain.faults import Fault, Faults
from fencepost.domain.instants import floor_ms
from fencepost.domain.manners import check_host_limits
from fencepost.domain.model import Caller, NotifyTargets, Team
from fencepost.domain.notification import parse_notify

TRIES = 10
ADMIN_FIELDS = ("max_concurrency", "tiers", "max_jobs", "max_daily_firings", "max_records")
"""What bounds a team's share of the stage is not the team's own to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamDraft:
    """A declaration as it came in; `notify` is still raw, `faults` are those found already."""

    team: Team
    notify: object
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamRequest:
    """Who wants to change which team. `expected` is the revision that the caller saw."""

    caller: Caller
    team: str
    expected: int | None = None
    absent: bool = False
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamDone:
    """The team as it is now; `created` and `changed` say what this call did to it."""

    team: Team
    created: bool = False
    changed: bool = True


DrawTeam: TypeAlias = Callable[[Team | None], TeamDraft]


def declare_team(
    ports: RegistryPorts, request: TeamRequest, draw: DrawTeam
) -> TeamDone | Missing | Conflict | NotAllowed | BeingDeleted:
    """Creates the team (administrators) or changes it (its owners; limits: administrators). One that nobody can read is
    replaced by an administrator's; `draw` is then given no team. Raises Faults, and UnreadableTeamError for others.
    """
    for _ in range(TRIES):
        known, unread = _known(ports, request)
        if known is not None and known.leaving_since is not None and known.gone_at is None:
            return BeingDeleted(request.team) if request.caller.admin else Missing("team", request.team)
        current = None if known is not None and known.gone_at is not None else known
        lost = _mismatch(request, current)
        if lost is not None:
            return lost
        if current is None and not request.caller.admin:
            return Missing("team", request.team)
        wanted = _settled(draw(current if unread is None else None), ports.egress)
        refused = _beyond(request.caller, current, wanted)
        if refused is not None:
            return refused
        done = _write(ports, request, current, wanted, known, unread)
        if done is not None:
            return done
        ports.clock.sleep(ports.entropy.fraction() * ports.limits.early_send)
    return Conflict(revision=None)


def _known(ports: RegistryPorts, request: TeamRequest) -> tuple[Team | None, UnreadableTeamError | None]:
    """The team; one that nobody can read as far as it can be, for an administrator, and why that is not all."""
    try:
        return known_team(ports.store, request.team), None
    except UnreadableTeamError as error:
        if not request.caller.admin:
            raise
        return salvaged(ports.store, error, floor_ms(ports.clock.now())), error


def _mismatch(request: TeamRequest, current: Team | None) -> Conflict | None:
    revision = None if current is None else current.revision
    if request.absent and revision is not None:
        return Conflict(revision=revision, expected=0)
    if request.expected is not None and request.expected != revision:
        return Conflict(revision=revision, expected=request.expected)
    return None


def _settled(draft: TeamDraft, egress: EgressPolicy) -> Team:
    faults = list(draft.faults)
    faults.extend(check_allowed_hosts(draft.team.allowed_hosts or ()))
    faults.extend(check_host_limits(draft.team.hosts))
    notify = NotifyTargets()
    try:
        notify = parse_notify(draft.notify, egress)
    except Faults as refused:
        faults.extend(refused.faults)
    if faults:
        raise Faults(tuple(dict.fromkeys(faults)))
    return replace(draft.team, notify=notify)


def _beyond(caller: Caller, current: Team | None, wanted: Team) -> NotAllowed | None:
    if caller.admin or current is None:
        return None
    moved = [name for name in ADMIN_FIELDS if getattr(current, name) != getattr(wanted, name)]
    return NotAllowed(f"only an administrator changes {', '.join(moved)}") if moved else None


def _write(
    ports: RegistryPorts,
    request: TeamRequest,
    current: Team | None,
    wanted: Team,
    known: Team | None,
    unread: UnreadableTeamError | None,
) -> TeamDone | None:
    """None when somebody else wrote meanwhile. `known` is `current`, or what is left of the last team of this name:
    revisions go on where it stopped. `unread`: nobody can read what is stored of it.
    """
    now = floor_ms(ports.clock.now())
    if current is None:
        drawn = ports.entropy.token()  # what the team writes into the trust policy of its delivery role
        first = 1 if known is None else known.revision + 1
        team = replace(
            wanted, name=request.team, revision=first, born=first, created_at=now, external_id=drawn
        )
    else:
        kept = {each.name: getattr(current, each.name) for each in fields(Team) if each.name not in DECLARED}
        team = replace(wanted, **kept)
        if team == current and unread is None:
            return TeamDone(team=current, changed=False)
        team = _thinned(ports, team, None if unread is not None else current, now)
        team = replace(team, revision=current.revision + 1)
        if unread is not None and team.external_id is None:
            team = replace(team, external_id=ports.entropy.token())
    outcome = ports.store.transact(
        [
            _item(current, team, known, unread),
            _entry(request, team, current, unread, now),
            Put(key=keys.team_listed(team.name), item={"v": VERSION}),
        ]
    )
    if isinstance(outcome, Cancelled):
        return None
    return TeamDone(team=team, created=current is None)


def _entry(
    request: TeamRequest,
    team: Team,
    current: Team | None,
    unread: UnreadableTeamError | None,
    now: datetime,
) -> Put:
    """What the trail says of the write. Whoever has mended the team meanwhile has taken its number."""
    known = None if current is None else team_declaration(current)
    entry = Entry(
        revision=team.revision,
        what="create" if current is None else "edit",
        actor=request.caller.principal,
        source=request.caller.source,
        at=now,
        note=request.note,
        before=known if unread is None or known is None else {"unreadable": unread.why},
        after=team_declaration(team),
    )
    return Put(
        key=keys.team_revision(team.name, team.revision),
        item=encode_entry(entry),
        condition=None if unread is None else Absent(),
    )


def _thinned(ports: RegistryPorts, team: Team, current: Team | None, now: datetime) -> Team:
    """`team` with the sample of its successes that follows from what changed; None: all may have."""
    if current is not None and (team.max_records, team.retention) == (current.max_records, current.retention):
        return team
    return sampled(team, noted(ports.store, team.name).daily_firings, now)


def _item(current: Team | None, team: Team, known: Team | None, unread: UnreadableTeamError | None) -> Action:
    """A team that begins, or begins anew, inherits nothing from the last one of its name."""
    if unread is not None and known is not None:
        return Put(key=keys.team(team.name), item=encode_team(team), condition=still(unread, known))
    if current is not None:
        return team_update(current, team)
    condition = Absent() if known is None else equals("rev", known.revision)
    return Put(key=keys.team(team.name), item=encode_team(team), condition=condition)


DECLARED = frozenset(
    {
        "max_concurrency",
        "notify",
        "notify_on",
        "tiers",
        "principals",
        "retention",
        "max_records",
        "max_jobs",
        "max_daily_firings",
        "allowed_hosts",
        "hosts",
        "delivery_role",
    }
)
"""The fields that a declaration says; all others of a team are kept."""
