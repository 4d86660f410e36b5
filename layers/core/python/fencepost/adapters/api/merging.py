"""What a PATCH makes of a declaration: it changes what it names and nothing else (RFC 7386, with three exceptions).

The payload is replaced as a whole. Schedule and target are merged within their kind, so that a new expression keeps
its zone; naming another kind drops what belongs to the old one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SCHEDULE_KINDS = {
    "cron": ("cron", "timezone", "dst"),
    "every": ("every", "anchor"),
    "at": ("at",),
    "in": ("in",),
}


def merged(declaration: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """The declaration after the patch. Null takes a field back to its default."""
    result = dict(declaration)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif name == "schedule":
            result[name] = _schedule(declaration.get(name), value)
        elif name == "target":
            result[name] = _target(declaration.get(name), value)
        elif name == "misfire":
            result[name] = _misfire(declaration.get(name), value)
        elif name == "payload":
            result[name] = value
        else:
            result[name] = deep_merged(declaration.get(name), value)
    return result


def deep_merged(old: object, new: object) -> object:
    """RFC 7386 below the first level."""
    if not isinstance(new, Mapping):
        return new
    result = dict(old) if isinstance(old, Mapping) else {}
    for name, value in new.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = deep_merged(result.get(name), value)
    return result


def _schedule(old: object, new: object) -> object:
    if not isinstance(new, Mapping) or not isinstance(old, Mapping):
        return new
    kept = dict(old)
    if any(kind in new and kind not in old for kind in _SCHEDULE_KINDS):
        dropped = {name for names in _SCHEDULE_KINDS.values() for name in names}
        kept = {name: value for name, value in old.items() if name not in dropped}
    return deep_merged(kept, new)


def _target(old: object, new: object) -> object:
    if not isinstance(new, Mapping) or not isinstance(old, Mapping) or set(new) != set(old):
        return new
    return deep_merged(old, new)


def _misfire(old: object, new: object) -> object:
    """Another policy brings its own window and cap, unless they are named too."""
    if (
        isinstance(new, Mapping)
        and isinstance(old, Mapping)
        and new.get("policy", old.get("policy")) != old.get("policy")
    ):
        return new
    return deep_merged(old, new)
