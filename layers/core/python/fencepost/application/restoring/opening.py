"""Opening a restored copy: one write, with its entry in the audit trail."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fencepost.application import keys
from fencepost.application.registry.documents import pauses
from fencepost.application.registry.ports import RegistryPorts
from fencepost.application.registry.results import Conflict, NotAllowed
from fencepost.application.registry.revisions import Entry, encode_entry
from fencepost.application.restoring.holding import OPENED, RESTORER, unopened
from fencepost.application.store import Absent, Cancelled, Put, Update, either, equals
from fencepost.application.switches.codec import StageSwitches, decode_stage, encode_stage
from fencepost.domain.instants import floor_ms
from fencepost.domain.model import Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """One per process."""

    ports: RegistryPorts

    def waits(self) -> str | None:
        """The name of the restored copy that is not opened yet; None where nothing was restored, or it is open."""
        return unopened(self.ports.store.get(keys.stage()))

    def open(self, caller: Caller, note: str | None) -> StageSwitches | NotAllowed | Conflict:
        """Lets the restored copy fire. Its own switches, as they stood in the copy, go on."""
        item, now = self.ports.store.get(keys.stage()), floor_ms(self.ports.clock.now())
        restored = unopened(item)
        if restored is None:
            return NotAllowed("the stage is open: no restored copy waits")
        before = decode_stage(item)
        kept = tuple(halt for halt in before.halts if halt.by != RESTORER)
        after = replace(before, revision=before.revision + 1, halts=kept)
        stored = encode_stage(after)
        entry = Entry(
            revision=after.revision,
            what="open",
            actor=caller.principal,
            source=caller.source,
            at=now,
            note=note,
            before={"pauses": pauses(before.halts, now)},
            after={"pauses": pauses(kept, now), "restored": restored},
        )
        outcome = self.ports.store.transact(
            [
                Update(
                    key=keys.stage(),
                    set={**stored, OPENED: restored},
                    remove=() if "halts" in stored else ("halts",),
                    condition=either(Absent(), equals("rev", before.revision)),
                ),
                Put(key=keys.stage_revision(after.revision), item=encode_entry(entry)),
            ]
        )
        return Conflict(revision=None) if isinstance(outcome, Cancelled) else after
