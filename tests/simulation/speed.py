"""Pure functions of the code under test remember what they answered, since a history asks them the same many times.

Stored items never change and decoded values are frozen, so an item that was decoded once need not be decoded again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from fencepost.application import codec, keys
from fencepost.domain.schedule.occurrences import next_occurrence

_REMEMBERED = 20_000
_decoded: dict[tuple[str, int], tuple[Any, Any]] = {}
_original = codec.decoding


def _decoding(what: str, item: Any, read: Callable[[Any], Any]) -> Any:
    """As `codec.decoding`; the item is kept beside its value, so that its identity stays its own."""
    known = _decoded.get((what, id(item)))
    if known is not None and known[0] is item:
        return known[1]
    value = _original(what, item, read)
    if len(_decoded) >= _REMEMBERED:
        _decoded.clear()
    _decoded[what, id(item)] = (item, value)
    return value


def _everywhere(old: object, new: object) -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith("fencepost."):
            for attribute, value in list(vars(module).items()):
                if value is old:
                    setattr(module, attribute, new)


def remember() -> None:
    """From here on, in this process; every module of the package has to be imported by now."""
    if codec.decoding is not _decoding:
        _everywhere(_original, _decoding)
        keys.bucket_partition = lru_cache(maxsize=5_000)(keys.bucket_partition)
        keys.parse_bucket = lru_cache(maxsize=5_000)(keys.parse_bucket)
        _everywhere(next_occurrence, lru_cache(maxsize=50_000)(next_occurrence))
