"""(c) Hosts that a team spares: never more calls at once than it said, and over time no more a minute."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from urllib.parse import urlsplit

from tests.simulation.checkers.facts import Facts, Item, Version, Violation
from tests.simulation.journal import ANSWER, Entry
from tests.simulation.kernel import MINUTE, SECOND

RULE = "c slots"
KNOWN = 90 * SECOND
"""How old a limit has to be for everybody to go by it."""
HOLDS_ON = 10 * SECOND
"""As long, at least, a place outlives the longest call."""
LONGEST_PAUSE = 16 * MINUTE
SPARE = 3


def check(facts: Facts) -> list[Violation]:
    """Host by host."""
    if not any("manners" in version.item for versions in facts.teams.values() for version in versions):
        return []
    ends = {entry[4].number: entry[1] for entry in facts.entries if entry[0] == ANSWER}
    by_host: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for entry in facts.calls:
        host = _host(facts, entry[4])
        if host is not None:
            by_host[entry[4].team, host].append(entry)
    found: list[Violation] = []
    for (team, host), calls in by_host.items():
        found += _at_once(facts, team, host, calls, ends)
        found += _a_minute(facts, team, host, calls)
    return found


def _host(facts: Facts, call: object) -> str | None:
    changes = facts.executions.get(call.execution, [])  # type: ignore[attr-defined]  # a `targets.Call`
    digest = next((change.new["detail"] for change in changes if change.new and "detail" in change.new), None)
    detail = facts.details.get(str(digest))
    return None if detail is None else urlsplit(detail["target"]["webhook"]["url"]).hostname


def _limits(facts: Facts, team: str, host: str, at: int, word: str) -> list[int | None]:
    """What the limit may have been for whoever calls at `at`."""
    versions = facts.teams.get(team, [])
    found: list[int | None] = []
    for place, version in enumerate(versions):
        ends = versions[place + 1].at if place + 1 < len(versions) else at + 1
        if version.at <= at and ends >= at - KNOWN:
            found.append(_limit(version.item, host, word))
    return found


def _limit(item: Item, host: str, word: str) -> int | None:
    limit: Mapping[str, int] = item.get("manners", {}).get(host, {})
    return limit.get(word)


def _at_once(
    facts: Facts, team: str, host: str, calls: list[Entry], ends: Mapping[int, int]
) -> list[Violation]:
    """Calls under way together. The probe of a circuit is never too many; whoever stood still lost its place."""
    probe = int(f"{team}/{host}" in facts.circuits or host in facts.circuits)
    under_way: list[tuple[int, Entry]] = []
    for entry in calls:
        at, call = entry[1], entry[4]
        under_way = [(end, other) for end, other in under_way if end > at]
        end = min(ends.get(call.number, at), at + HOLDS_ON)
        limits = _limits(facts, team, host, at, "parallel")
        if None in limits or not limits or _still(facts, entry):
            continue
        under_way.append((end, entry))
        most = max(each for each in limits if each is not None)
        if len(under_way) > most + probe:
            text = f"{len(under_way)} calls of {team} at once to {host}, which takes {most}"
            return [Violation(RULE, at, call.execution, text)]
    return []


def _still(facts: Facts, entry: Entry) -> bool:
    return any(
        str(strike[4]).startswith("pause")
        and strike[3] is not None
        and strike[3].host is entry[3].host
        and entry[1] - LONGEST_PAUSE <= strike[1] <= entry[1] + HOLDS_ON
        for strike in facts.strikes
    )


def _a_minute(facts: Facts, team: str, host: str, calls: list[Entry]) -> list[Violation]:
    """As long as a limit stays the same: no more calls than it has instants, but for a few that may be probes."""
    versions = [*facts.teams.get(team, []), Version(facts.rested_at, 0, {})]
    begins, most = 0, None
    for version in versions:
        limit = _limit(version.item, host, "minute")
        if limit == most:
            continue
        if most is not None:
            mine = [entry for entry in calls if begins + KNOWN <= entry[1] <= version.at]
            allowed = (version.at - begins) * most // MINUTE + SPARE
            if len(mine) > allowed:
                text = f"{len(mine)} calls of {team} to {host} in {(version.at - begins) // SECOND} s, at {most} a minute"
                return [Violation(RULE, version.at, f"{team}/{host}", text)]
        begins, most = version.at, limit
    return []
