"""What `fencepost doctor` looks at. Every finding stands by itself: one fault does not hide the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum

from fencepost.cli import drawing
from fencepost.cli.session import Session
from fencepost.client import ApiError, FencepostError, Health, NotAllowedError, NotFoundError
from fencepost.client.calls import Call, Reply, path
from fencepost.client.credentials import SigV4Signer
from fencepost.client.decoding import decode
from fencepost.domain.instants import MINUTE
from fencepost.domain.limits import Limits
from fencepost.domain.schedule import tzdata_version

SKEW = timedelta(seconds=30)
SIGNABLE = timedelta(minutes=5)


class Verdict(StrEnum):
    """How a finding is."""

    GOOD = "good"
    ODD = "odd"
    BAD = "bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at."""

    what: str
    verdict: Verdict
    says: str


def examine(run: Session) -> list[Finding]:
    """Everything, in the order in which one would look."""
    findings = [_guarded("credentials", lambda: _credentials(run))]
    try:
        reply = run.client.caller.call(Call(method="GET", path=path("health")))
        health = decode(Health, reply.body)
    except FencepostError as error:
        kind = "the service refuses you" if isinstance(error, ApiError) else "no way to it"
        return [*findings, _bad("endpoint", f"{run.endpoint}: {kind}: {error}")]
    findings.append(_good("endpoint", f"{run.endpoint} answers"))
    findings += _about_service(reply, health, run.around.clock.now())
    return [*findings, *_stage(run), *_team(run)]


def _guarded(what: str, look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except FencepostError as error:
        return _bad(what, str(error))


def _credentials(run: Session) -> Finding:
    signer = run.client.caller.signer
    if isinstance(signer, SigV4Signer):
        return _good("credentials", f"{signer.access_key_id} signs for {signer.region}")
    says = (
        "calls are not signed: no key in .fencepost/credentials.json here, where FENCEPOST_DATA_DIR may name "
        "another directory than .fencepost; a local service may allow it"
    )
    return Finding(what="credentials", verdict=Verdict.ODD, says=says)


def _about_service(reply: Reply, health: Health, now: datetime) -> Iterator[Finding]:
    yield _clock(_skew(reply, health, now))
    ours = tzdata_version()
    if health.tzdata == ours:
        yield _good("time zones", f"{ours} on both sides")
    else:
        says = f"the service decides by {health.tzdata}, this program previews files by {ours}"
        yield Finding(what="time zones", verdict=Verdict.ODD, says=says)
    yield _ticks(health)


def _ticks(health: Health) -> Finding:
    """How far back the service still looks for firings: some minutes in any case, the first ones of its life too. Where
    it cannot write, that alone.
    """
    age = health.watermark_age_seconds
    usual = f"{Limits().watermark_lag // MINUTE} minutes"
    oldest = (
        "no minute is done with yet"
        if age is None
        else f"the oldest minute still looked at began {age:,} s ago"
    )
    match health.status:
        case "ok":
            why = (
                f"every tick looks back over some {usual} on purpose, so that nothing written late is missed"
            )
            return _good("ticks", f"they come, and firings are on time: {why} ({oldest})")
        case "starting":
            return Finding(what="ticks", verdict=Verdict.ODD, says=f"the service is starting: {oldest}")
        case "failing":
            return _bad("store", f"nothing fires: {health.trouble or 'the store refuses writes'}")
        case _:
            return _bad("ticks", f"firings are late: {oldest}, where some {usual} are usual")


def _skew(reply: Reply, health: Health, now: datetime) -> timedelta:
    """How far our clock is from theirs: by the answer's Date where there is one, else by the service's own word."""
    stated = reply.headers.get("date")
    try:
        theirs = parsedate_to_datetime(stated) if stated else health.now
    except ValueError:
        theirs = health.now
    return now - theirs


def _clock(skew: timedelta) -> Finding:
    seconds = abs(skew).total_seconds()
    word = "ahead of" if skew > timedelta(0) else "behind"
    says = f"this clock is {seconds:,.1f} s {word} the service's"
    if abs(skew) > SIGNABLE:
        return _bad("clock", f"{says}: signatures are refused")
    return Finding(what="clock", verdict=Verdict.ODD if abs(skew) > SKEW else Verdict.GOOD, says=says)


def _stage(run: Session) -> Iterator[Finding]:
    """The stage's switches, where one is off: else there is nothing to say."""
    try:
        pauses = run.client.stage.get().pauses
    except FencepostError:
        return  # whoever may not see them is told about the team
    for each in pauses:
        yield Finding(what="stage", verdict=Verdict.ODD, says=f"paused: {drawing.pause(each)}")


def _team(run: Session) -> Iterator[Finding]:
    team = run.client.team
    if team is None:
        yield Finding(what="team", verdict=Verdict.ODD, says="none is chosen: --team, or FENCEPOST_TEAM")
        return
    try:
        found = run.client.get_team()
    except NotFoundError:
        yield _bad("team", f"there is no team {team}: an administrator creates it")
    except NotAllowedError as error:
        yield _bad("team", f"{error}: see `fencepost iam-policy` and the team's principals")
    except FencepostError as error:
        yield _bad("team", str(error))
    else:
        paused = f", paused: {found.paused_note or 'no note'}" if found.paused else ""
        verdict = Verdict.ODD if found.paused else Verdict.GOOD
        yield Finding(what="team", verdict=verdict, says=f"{team} is yours to see{paused}")
        for each in () if found.paused else found.pauses:
            yield Finding(what="team", verdict=Verdict.ODD, says=f"paused: {drawing.pause(each)}")


def _good(what: str, says: str) -> Finding:
    return Finding(what=what, verdict=Verdict.GOOD, says=says)


def _bad(what: str, says: str) -> Finding:
    return Finding(what=what, verdict=Verdict.BAD, says=says)
