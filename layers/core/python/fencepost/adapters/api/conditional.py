"""Preconditions: entity tags are revisions, a job's with its uid, and whoever names one changes nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fencepost.domain.faults import Fault, Faults
from fencepost.domain.identity import UID_PATTERN

_TAG = re.compile(rf'"([1-9]\d{{0,17}})(?:\.({UID_PATTERN.pattern}))?"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Precondition:
    """`revision`: If-Match named it, and of which job (`uid`), or only the number. `present`: If-Match: *. `absent`: If-None-Match: *."""

    revision: int | None = None
    uid: str | None = None
    present: bool = False
    absent: bool = False


def precondition(headers: Mapping[str, str], *, of_job: bool = False) -> Precondition:
    """What the request's headers ask for. Raises Faults for a tag that no answer ever carried; only a job's has a uid."""
    match, none_match = headers.get("if-match"), headers.get("if-none-match")
    if none_match is not None and none_match.strip() != "*":
        rule = 'must be * on a write: "only if it is not there"'
        raise Faults([Fault(field="If-None-Match", value=none_match, rule=rule)])
    if match is None:
        return Precondition(absent=none_match is not None)
    if match.strip() == "*":
        return Precondition(present=True, absent=none_match is not None)
    tag = _TAG.fullmatch(match.strip())
    if tag is None or (tag[2] and not of_job):
        rule = 'must be one entity tag as an answer gave it, e.g. "3", or *'
        raise Faults([Fault(field="If-Match", value=match, rule=rule, suggestion=_quoted(match))])
    return Precondition(revision=int(tag[1]), uid=tag[2], absent=none_match is not None)


def unchanged(headers: Mapping[str, str], tag: str) -> bool:
    """Whether a reader has this version already (If-None-Match on a GET)."""
    known = headers.get("if-none-match")
    return known is not None and tag in {each.strip().removeprefix("W/") for each in known.split(",")}


def _quoted(text: str) -> str | None:
    bare = text.strip().removeprefix("W/").strip('"')
    return f'"{bare}"' if _TAG.fullmatch(f'"{bare}"') else None
