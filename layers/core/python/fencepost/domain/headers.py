"""The headers that a team adds to its webhook calls: names and values that can neither break nor forge a request."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fencepost.domain.faults import Fault

MAX_HEADERS = 32
MAX_NAME = 64
MAX_VALUE = 1024
MAX_TOTAL = 8192

RESERVED_NAMES = frozenset(
    {
        # hop by hop: they speak of the connection, which is ours
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        # the framing of the request
        "host",
        "content-length",
        "expect",
        "accept-encoding",
        # the receiver's means to tell one firing from another
        "idempotency-key",
    }
)
RESERVED_PREFIXES = ("fencepost-", "webhook-")

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+\-.^_`|~]+")
_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?")


def check_headers(raw: object, *, field: str = "headers") -> tuple[Fault, ...]:
    """Every rule that a team's headers break, all at once."""
    if not isinstance(raw, Mapping):
        return (Fault(field=field, value=raw, rule="must be an object of names and values"),)
    faults: list[Fault] = []
    if len(raw) > MAX_HEADERS:
        faults.append(Fault(field=field, value=len(raw), rule=f"must be at most {MAX_HEADERS} headers"))
    total = 0
    seen: set[str] = set()
    for name, value in raw.items():
        faults.extend(_check_one(name, value, f"{field}.{name}"))
        lowered = str(name).lower()
        if lowered in seen:
            faults.append(Fault(field=f"{field}.{name}", value=name, rule="is named twice"))
        seen.add(lowered)
        total += len(str(name)) + len(str(value))
    if total > MAX_TOTAL:
        faults.append(Fault(field=field, value=total, rule=f"must be at most {MAX_TOTAL} bytes in all"))
    return tuple(faults)


def _check_one(name: object, value: object, field: str) -> list[Fault]:
    faults: list[Fault] = []
    if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name) > MAX_NAME:
        rule = f"a header name is a token of 1..{MAX_NAME} characters"
        faults.append(Fault(field=field, value=name, rule=rule))
    elif name.lower() in RESERVED_NAMES or name.lower().startswith(RESERVED_PREFIXES):
        faults.append(Fault(field=field, value=name, rule="this header is Fencepost's own"))
    if not isinstance(value, str):
        faults.append(Fault(field=field, value=value, rule="a header value must be a string"))
    elif value and (not _VALUE.fullmatch(value) or len(value) > MAX_VALUE):
        rule = f"a header value is at most {MAX_VALUE} visible ASCII characters, spaces only inside"
        faults.append(Fault(field=field, value=value, rule=rule))
    return faults
