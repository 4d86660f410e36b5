"""Teams, jobs, their details and ended generations to stored items and back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, TypeVar

from fencepost.application.codec import VERSION, compact, decoding, duration_ms, instant, ms
from fencepost.application.store import Item
from fencepost.application.switches.codec import decode_halts, encode_halts
from fencepost.domain.instants import from_ms, to_ms
from fencepost.domain.manners import HostLimit
from fencepost.domain.model import (
    MAX_DAILY_FIRINGS,
    Detail,
    EndedGeneration,
    Job,
    LongWork,
    Misfire,
    MisfirePolicy,
    NotifyTargets,
    Overlap,
    RetryPolicy,
    SigningKey,
    Team,
    Tier,
)
from fencepost.domain.schedule import decode_schedule, schedule_to_wire
from fencepost.domain.states import JobState, Reason
from fencepost.domain.targets import decode_target, target_to_wire

T = TypeVar("T")


def _duration(value: int) -> timedelta:
    return timedelta(milliseconds=value)


def _typed(value: object, kind: type[T]) -> T:
    """What others calculate with, or make keys of. Raises TypeError."""
    if type(value) is not kind:
        raise TypeError(f"{value!r} is no {kind.__name__}"[:80])
    return value


def encode_misfire(misfire: Misfire) -> dict[str, Any]:
    """The stored form of a misfire policy."""
    return {"policy": misfire.policy.value, "window": duration_ms(misfire.window), "max": misfire.max_runs}


def decode_misfire(raw: Item) -> Misfire:
    """Reads a stored misfire policy."""
    policy = MisfirePolicy(raw["policy"])
    return Misfire(policy=policy, window=_duration(raw["window"]), max_runs=raw["max"])


def _encode_retry(retry: RetryPolicy) -> dict[str, Any]:
    return {
        "max": retry.max_attempts,
        "initial": duration_ms(retry.initial_delay),
        "factor": str(retry.multiplier),
        "ceiling": duration_ms(retry.max_delay),
    }


def _decode_retry(raw: Item) -> RetryPolicy:
    return RetryPolicy(
        max_attempts=raw["max"],
        initial_delay=_duration(raw["initial"]),
        multiplier=float(raw["factor"]),
        max_delay=_duration(raw["ceiling"]),
    )


def encode_job(job: Job) -> dict[str, Any]:
    """The hot item."""
    return compact(
        {
            "v": VERSION,
            "team": job.team,
            "name": job.name,
            "rev": job.revision,
            "gen": job.generation,
            "state": job.state.value,
            "schedule": schedule_to_wire(job.schedule),
            "detail": job.detail,
            "tier": job.tier.value,
            "retry": _encode_retry(job.retry),
            "misfire": encode_misfire(job.misfire),
            "overlap": None if job.overlap is Overlap.ALLOW else job.overlap.value,
            "lease": duration_ms(job.long_work.lease),
            "max_run": duration_ms(job.long_work.max_run),
            "exhausted": job.exhausted or None,
            "ended": ms(job.ended_until),
            "ended_by": job.ended_by and job.ended_by.value,
            "begins": ms(job.begins_with),
            "far": ms(job.timers_until),
            "why": job.state_reason,
            "labels": dict(job.labels) or None,
            "notify_on": None if job.notify_on is None else sorted(job.notify_on),
            "paused_by": job.paused_by,
            "paused_until": ms(job.paused_until),
            "pause_dead": job.pause_after_dead,
            "dead_row": job.dead_in_row or None,
            "delete_done": job.delete_after_completion or None,
            "newest": job.keep_newest,
            "created": to_ms(job.created_at),
            "updated": to_ms(job.updated_at),
        }
    )


def decode_job(item: Item) -> Job:
    """Reads a stored job. Raises UndecodableError."""
    return decoding("job", item, _read_job)


def _read_job(item: Item) -> Job:
    notify_on = item.get("notify_on")
    return Job(
        team=_typed(item["team"], str),
        name=_typed(item["name"], str),
        uid=str(item["pk"]).removeprefix("J#"),
        revision=_typed(item["rev"], int),
        generation=_typed(item["gen"], int),
        state=JobState(item["state"]),
        schedule=decode_schedule(item["schedule"]),
        detail=_typed(item["detail"], str),
        tier=Tier(item["tier"]),
        retry=_decode_retry(item["retry"]),
        misfire=decode_misfire(item["misfire"]),
        overlap=Overlap(item.get("overlap", Overlap.ALLOW)),
        long_work=LongWork(lease=_duration(item["lease"]), max_run=_duration(item["max_run"])),
        exhausted=item.get("exhausted", False),
        ended_until=instant(item.get("ended")),
        ended_by=Reason(item["ended_by"]) if "ended_by" in item else None,
        begins_with=instant(item.get("begins")),
        timers_until=instant(item.get("far")),
        state_reason=item.get("why"),
        labels=tuple(sorted(item.get("labels", {}).items())),
        notify_on=None if notify_on is None else frozenset(notify_on),
        paused_by=item.get("paused_by"),
        paused_until=instant(item.get("paused_until")),
        pause_after_dead=item.get("pause_dead"),
        dead_in_row=item.get("dead_row", 0),
        delete_after_completion=item.get("delete_done", False),
        keep_newest=item.get("newest"),
        created_at=from_ms(item["created"]),
        updated_at=from_ms(item["updated"]),
    )


def encode_detail(detail: Detail) -> dict[str, Any]:
    """The immutable item of a digest."""
    return compact(
        {
            "v": VERSION,
            "target": target_to_wire(detail.target),
            "payload": detail.payload,
            "description": detail.description or None,
        }
    )


def decode_detail(item: Item) -> Detail:
    """Reads a stored detail. Raises UndecodableError."""
    return decoding("detail", item, _read_detail)


def _read_detail(item: Item) -> Detail:
    return Detail(
        digest=str(item["sk"]).removeprefix("P#"),
        target=decode_target(item["target"]),
        payload=bytes(item["payload"]),
        description=item.get("description", ""),
    )


def encode_ended_generation(ended: EndedGeneration) -> dict[str, Any]:
    """How an earlier generation decided, and until when."""
    return {
        "v": VERSION,
        "until": to_ms(ended.until),
        "by": ended.ended_by.value,
        "schedule": schedule_to_wire(ended.schedule),
        "misfire": encode_misfire(ended.misfire),
        "overlap": ended.overlap.value,
        "tier": ended.tier.value,
    }


def decode_ended_generation(item: Item) -> EndedGeneration:
    """Reads a stored ended generation. Raises UndecodableError."""
    return decoding("generation", item, _read_ended_generation)


def _read_ended_generation(item: Item) -> EndedGeneration:
    return EndedGeneration(
        uid=str(item["pk"]).removeprefix("J#"),
        generation=int(str(item["sk"]).removeprefix("G#")),
        until=from_ms(item["until"]),
        ended_by=Reason(item["by"]),
        schedule=decode_schedule(item["schedule"]),
        misfire=decode_misfire(item["misfire"]),
        overlap=Overlap(item["overlap"]),
        tier=Tier(item["tier"]),
    )


def encode_team(team: Team) -> dict[str, Any]:
    """The team's item."""
    notify = {"sns": team.notify.sns, "webhook": team.notify.webhook, "event_bus": team.notify.event_bus}
    return compact(
        {
            "v": VERSION,
            "rev": team.revision,
            "cap": team.max_concurrency,
            "notify": compact(notify),
            "notify_on": sorted(team.notify_on),
            "tiers": [tier.value for tier in team.tiers],
            "principals": list(team.principals),
            "retention": duration_ms(team.retention),
            "max_records": team.max_records,
            "one_in": None if team.kept_one_in == 1 else team.kept_one_in,
            "thinned": ms(team.thinned_until),
            "halts": encode_halts(team.halts),
            "max_jobs": team.max_jobs,
            "max_daily": team.max_daily_firings,
            "hosts": None if team.allowed_hosts is None else list(team.allowed_hosts),
            "manners": {limit.host: _encode_limit(limit) for limit in team.hosts} or None,
            "role": team.delivery_role,
            "external_id": team.external_id,
            "keys": [_encode_key(key) for key in team.signing_keys] or None,
            "created": ms(team.created_at),
            "born": None if team.born == 1 else team.born,
            "leaving": ms(team.leaving_since),
            "gone": ms(team.gone_at),
        }
    )


def decode_team(item: Item) -> Team:
    """Reads a stored team. Raises UndecodableError."""
    return decoding("team", item, _read_team)


def _read_team(item: Item) -> Team:
    hosts = item.get("hosts")
    return Team(
        name=str(item["pk"]).removeprefix("T#"),
        revision=_typed(item["rev"], int),
        max_concurrency=_typed(item["cap"], int),
        notify=NotifyTargets(**item["notify"]),
        notify_on=frozenset(item["notify_on"]),
        tiers=tuple(Tier(tier) for tier in item["tiers"]),
        principals=tuple(item["principals"]),
        retention=_duration(item["retention"]),
        max_records=item.get("max_records"),
        kept_one_in=item.get("one_in", 1),
        thinned_until=instant(item.get("thinned")),
        halts=decode_halts(item.get("halts", ()), str(item["pk"]).removeprefix("T#")),
        max_jobs=item["max_jobs"],
        max_daily_firings=item.get("max_daily", MAX_DAILY_FIRINGS),
        allowed_hosts=None if hosts is None else tuple(hosts),
        hosts=tuple(_decode_limit(host, raw) for host, raw in sorted(item.get("manners", {}).items())),
        delivery_role=item.get("role"),
        external_id=item.get("external_id"),
        signing_keys=tuple(_decode_key(raw) for raw in item.get("keys", ())),
        created_at=instant(item.get("created")),
        born=item.get("born", 1),
        leaving_since=instant(item.get("leaving")),
        gone_at=instant(item.get("gone")),
    )


def _encode_limit(limit: HostLimit) -> dict[str, Any]:
    return compact({"parallel": limit.max_parallel, "minute": limit.max_per_minute})


def _decode_limit(host: str, raw: Item) -> HostLimit:
    return HostLimit(host=host, max_parallel=raw.get("parallel"), max_per_minute=raw.get("minute"))


def _encode_key(key: SigningKey) -> dict[str, Any]:
    created = to_ms(key.created_at)
    return compact(
        {"id": key.id, "scheme": key.scheme, "secret": key.secret, "at": created, "public": key.public}
    )


def _decode_key(raw: Item) -> SigningKey:
    created = from_ms(raw["at"])
    return SigningKey(
        id=raw["id"], scheme=raw["scheme"], secret=raw["secret"], created_at=created, public=raw.get("public")
    )
