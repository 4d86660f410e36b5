"""Who of a team waits, and whose turn it is: the tier by weight, then the oldest due in it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from fencepost.application import keys
from fencepost.application.admission import lanes
from fencepost.application.admission.context import Context
from fencepost.application.admission.lanes import Entry, Heads
from fencepost.application.admission.marks import Marks
from fencepost.application.admission.waiting import TRANSIENT
from fencepost.application.memory import Memory
from fencepost.application.store import Key
from fencepost.domain import fair_share
from fencepost.domain.model import Team, Tier


def is_shut(lane: str, tiers: frozenset[Tier]) -> bool:
    """Nothing of the lane's tier may start. Of a lane whose name nobody can read, nothing is known to be shut."""
    try:
        return bool(tiers) and keys.tier_of_lane(lane) in tiers
    except (ValueError, IndexError):
        return False


class Line:
    """The open entries at the heads of a team's lanes, merged. Each is given to one caller of this process only."""

    def __init__(self, lanes: Mapping[str, Heads]) -> None:
        self._entries: dict[Key, Entry] = {
            entry.key: entry for heads in lanes.values() for entry in heads.open
        }
        self._cut = frozenset(lane for lane, heads in lanes.items() if heads.cut)
        self.empty = tuple(lane for lane, heads in lanes.items() if heads.empty)

    @property
    def entries(self) -> list[Entry]:
        """Those that nobody took out yet."""
        return list(self._entries.values())

    def next(self, tier_fraction: float, place_fraction: float) -> Entry | None:
        """Takes out whose turn it is. Among equally old ones any will do: rivals then seldom try the same one."""
        while present := self.entries:
            tier = fair_share.draw({entry.tier for entry in present}, tier_fraction)
            of_tier = [entry for entry in present if entry.tier is tier]
            due = min(entry.due for entry in of_tier)
            oldest = [entry for entry in of_tier if entry.due == due]
            taken = self._entries.pop(oldest[int(place_fraction * len(oldest))].key, None)
            if taken is not None:
                return taken
        return None

    def outdated(self, taken: Entry) -> bool:
        """`taken` was the last one known of a lane in which others wait behind it."""
        lane = taken.key.pk
        return lane in self._cut and all(entry.key.pk != lane for entry in self.entries)


class Lines:
    """The lines of all teams, each remembered for at most a second; claims settle what has changed since."""

    def __init__(self, context: Context, marks: Marks) -> None:
        self._context = context
        self._marks = marks
        self._lines: Memory[Line] = Memory(context.limits.backlog_memory)

    def read(self, team: Team, now: datetime) -> Line:
        """The team's line, read now: those who wait in tiers that are not shut. A lane that cannot be read holds up no
        other: it is left out. Raises StoreError where none could be read.
        """
        marked = self._marks.read_backlog_lanes(team.name, now)
        found, trouble = dict[str, Heads](), None
        for lane in marked:
            if is_shut(lane, team.shut):
                continue
            try:
                found[lane] = lanes.heads(self._context, lane, now)
            except TRANSIENT as error:
                trouble = error
        if trouble is not None and not found:
            raise trouble
        return self._lines.keep(team.name, Line(found), now)

    def next(self, team: Team, now: datetime) -> Entry | None:
        """Whose turn it is, as far as is known; None where nobody waits whose turn is not reserved."""
        line = self._lines.recall(team.name, now) or self.read(team, now)
        entropy = self._context.entropy
        entry = line.next(entropy.fraction(), entropy.fraction())
        if entry is None or line.outdated(entry):
            self._lines.forget(team.name)
        return entry

    def forget(self, team: str) -> None:
        """The next look reads anew."""
        self._lines.forget(team)
