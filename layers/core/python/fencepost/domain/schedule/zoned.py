"""Where the wall clock meets the zone: the runs of a cron expression as instants.

One rule serves every expression and every policy. Between two changes of offset the wall clock is plain arithmetic;
a change adds at most one run (the end of a gap), and takes away one of two passes. An expression that begins with a
star is the policy "skip what is skipped, run in both passes".
"""

from __future__ import annotations

from datetime import datetime, timedelta

from fencepost.domain.schedule.fields import CronFields
from fencepost.domain.schedule.model import DstOverlap, DstPolicy, Gap
from fencepost.domain.schedule.search import next_match
from fencepost.domain.schedule.zones import Piece, piece_at

_MINUTE = timedelta(minutes=1)
_NONE = timedelta(0)
# Two days lie beyond the largest jump of any clock, so a change that far ahead repeats nothing from before.
_CLEAR = timedelta(days=2)
# Pieces looked at for one run. The rarest date needs five; three are spent on a match that its zone skips.
_LOOKS = 24


def next_run(
    fields: CronFields, zone: str, policy: DstPolicy, after: datetime, until: datetime | None = None
) -> datetime | None:
    """The first run strictly later than `after` and not later than `until` (both UTC).

    None if the next 50 years hold no matching wall clock, or if eight matches in a row are skipped by the zone:
    the second Sunday of March at half past two does not exist in New York.
    """
    piece = piece_at(zone, after)
    for _ in range(_LOOKS):
        first, end = _allowed(piece, policy)
        if piece.start > after and runs_after_gap(fields, policy, piece):
            return piece.start if until is None or piece.start <= until else None
        wall = piece.wall(after) if after >= first else piece.wall(first) - _MINUTE
        match = next_match(fields, wall)
        if match is None:
            return None
        run = piece.instant(match)
        if until is not None and min(run, piece.end) > until:
            return None
        if run < end:
            return run
        piece = _following(zone, piece, after, run)
    return None


def runs_after_gap(fields: CronFields, policy: DstPolicy, piece: Piece) -> bool:
    """Whether the first minute of `piece` stands for a run whose wall-clock time was skipped just before it."""
    if piece.gap == _NONE or policy.gap is not Gap.AFTER:
        return False
    resumed = piece.wall(piece.start)
    match = next_match(fields, resumed - piece.gap - _MINUTE)
    return match is not None and match < resumed


def _allowed(piece: Piece, policy: DstPolicy) -> tuple[datetime, datetime]:
    """The part [first, end) of a piece in which a matching wall clock counts."""
    match policy.overlap:
        case DstOverlap.FIRST:
            return piece.first_pass_from, piece.end
        case DstOverlap.LAST:
            return piece.start, piece.last_pass_until
        case DstOverlap.BOTH:
            return piece.start, piece.end


def _following(zone: str, piece: Piece, start: datetime, run: datetime) -> Piece:
    """The next piece worth looking at, given that no wall clock between here and that of `run` matches.

    Usually the neighbour. Far from any repeated hour the search leaps to two days before the match, which keeps the
    cost of a rare date independent of how many changes lie in between.
    """
    target = run - _CLEAR
    if piece.end - start > _CLEAR and target > piece.end:
        return piece_at(zone, target)
    return piece_at(zone, piece.end)
