"""Composes what the API's routes need."""

from __future__ import annotations

from dataclasses import replace

from fencepost.adapters.api.cursors import Cursors
from fencepost.adapters.api.services import Services, Trouble, no_trouble
from fencepost.adapters.api.upkeep import Upkeep
from fencepost.adapters.signing_keys import SealedKeys
from fencepost.application import keys
from fencepost.application.backfills.asking import Backfills
from fencepost.application.codec import VERSION
from fencepost.application.registry.departures import Departures
from fencepost.application.registry.ports import RegistryPorts
from fencepost.application.restoring.opening import Opening
from fencepost.application.restoring.recovery import Recovery
from fencepost.application.store import Absent, Lost, Put, Store
from fencepost.application.switches.flipping import Switches
from fencepost.domain.instants import ZERO
from fencepost.domain.model import Caller
from fencepost.runtime import scanning, upkeep
from fencepost.runtime.delivering import deliveries
from fencepost.runtime.entropy import token_bytes
from fencepost.runtime.keeping import ClaimAtOnce
from fencepost.runtime.stage import SecretiveStage, Stage

CURSOR_KEY_BYTES = 32


def services(
    stage: SecretiveStage, *, anonymous: Caller | None = None, trouble: Trouble = no_trouble
) -> Services:
    """`anonymous`: who an unsigned call is, on one's own machine only. `trouble`: see `Services`."""
    delivery = deliveries(stage)
    registry = RegistryPorts(
        store=stage.store,
        clock=stage.clock,
        entropy=stage.entropy,
        claim_now=ClaimAtOnce(scanning.claimer(stage)),
        cancel=delivery.cancel,
        limits=stage.settings.limits,
        egress=stage.settings.egress,
    )
    return Services(
        registry=registry,
        delivery=delivery,
        cursors=Cursors(cursor_key(stage.store)),
        keys=SealedKeys(stage.secrets.seal, token_bytes),
        secrets=stage.secrets,
        upkeep=Upkeep(
            backfills=Backfills(tools=delivery.cancel.tools),
            switches=Switches(ports=registry, queues=stage.queues),
            errands=upkeep.errands(stage),
            departures=Departures(ports=registry),
            opening=Opening(ports=registry),
            recovery=None if stage.settings.restored is None else recovery(stage, stage.replaced),
            queues=stage.queues,
        ),
        admins=stage.settings.admins,
        anonymous=anonymous,
        trouble=trouble,
    )


def recovery(stage: Stage, replaced: Store | None) -> Recovery:
    """What an administrator runs after a restore: the second net, wondering about everything at once."""
    return Recovery(
        store=stage.store,
        replaced=replaced,
        sweep=replace(scanning.sweep(stage), overdue=ZERO),
        clock=stage.clock,
        limits=stage.settings.limits,
    )


def cursor_key(store: Store) -> bytes:
    """The stage's key for cursors: drawn by whoever needs it first, the same for all after."""
    drawn = Put(
        key=keys.cursor_key(), item={"v": VERSION, "key": token_bytes(CURSOR_KEY_BYTES)}, condition=Absent()
    )
    known = store.get(keys.cursor_key())
    if known is None:
        outcome = store.write(drawn)
        known = outcome.item if isinstance(outcome, Lost) else drawn.item
    if known is None:
        raise LookupError("the key of cursors was there and is not: this is a bug")
    return bytes(known["key"])
