"""A stage on restored tables fires nothing until it is opened: whoever reads its item finds every tier held."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from fencepost.adapters.seam import PortCall
from fencepost.application import keys
from fencepost.application.restoring import holding
from fencepost.runtime.stage import Stage

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Held:
    """An around of the store of the copy `restored`."""

    restored: str

    def __call__(self, call: PortCall, proceed: Callable[[], T], /) -> T:
        """The answer, the stage's item in it as it counts here. A batch that did not bring it stays without."""
        result: Any = proceed()
        asked: Any = call.args[0] if call.args else next(iter(call.kwargs.values()), None)
        key = keys.stage()
        if call.method == "get" and asked == key:
            result = holding.as_read(result, self.restored)
        elif call.method == "batch_get" and key in result:
            result = {**result, key: holding.as_read(result[key], self.restored)}
        return cast("T", result)


def waits(stage: Stage) -> bool:
    """Whether the stage stands on a restored copy that nobody has opened: then nothing shall be claimed."""
    if stage.settings.restored is None:
        return False
    return holding.unopened(stage.store.get(keys.stage())) is not None
