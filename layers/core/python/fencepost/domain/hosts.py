"""Hosts as they are written: one plain spelling each, all others refused with the plain one as a hint."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, ip_address

MAX_HOST_LENGTH = 253

_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")
_DOTTED_QUAD = re.compile(r"(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})")
_INSIDE_SUFFIXES = (
    "localhost",
    "localdomain",
    "local",
    "svc",
    "internal",
    "intranet",
    "private",
    "corp",
    "home",
    "lan",
    "arpa",
    "onion",
)


def host_rule(raw: str) -> tuple[str, str | None] | None:
    """The rule that the host's spelling breaks, with the spelling that would do."""
    if not raw or raw == "[]":
        return "must name a host", None
    if raw.startswith("["):
        return _ipv6_rule(raw[1:-1])
    if "%" in raw:
        return "host must not be escaped with %", None
    if raw.endswith("."):
        return "host must not end in a dot", raw.rstrip(".") or None
    if len(raw) > MAX_HOST_LENGTH:
        return f"host must be at most {MAX_HOST_LENGTH} characters", None
    labels = raw.lower().split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _ipv4_rule(raw)
    if not all(_LABEL.fullmatch(label) for label in labels):
        return "host must be labels of letters, digits and inner hyphens, 1..63 each, parted by dots", None
    return None


def _ipv4_rule(raw: str) -> tuple[str, str | None] | None:
    """A host that ends in a number is an address to some readers: only the one plain spelling passes."""
    if _DOTTED_QUAD.fullmatch(raw) and literal(raw) is not None:
        return None
    return "an IPv4 address must be four decimal numbers 0..255 without leading zeros", _plain_ipv4(raw)


def _ipv6_rule(raw: str) -> tuple[str, str | None] | None:
    if "%" in raw:
        return "an IPv6 address must not have a zone", None
    if literal(raw) is None:
        return "the brackets must hold an IPv6 address", None
    return None


def _plain_ipv4(raw: str) -> str | None:
    """What the C library would read in an integer, octal, hexadecimal or short spelling; None if nothing."""
    parts = raw.split(".")
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    try:
        numbers = [_c_number(part) for part in parts]
    except ValueError:
        return None
    *heads, last = numbers
    room = 4 - len(heads)
    if any(number > 255 for number in heads) or last >= 256**room:
        return None
    value = sum(number << (8 * (3 - index)) for index, number in enumerate(heads)) + last
    return str(IPv4Address(value))


def _c_number(text: str) -> int:
    if text[:2].lower() == "0x":
        return int(text[2:] or "0", 16)
    return int(text, 8) if text.startswith("0") and len(text) > 1 else int(text[:20])


def inside_name(host: str) -> str | None:
    """Why a name means something only inside a network; None when it may be public."""
    if "." not in host:
        return f"{host} is a name without a domain"
    for suffix in _INSIDE_SUFFIXES:
        if host.endswith("." + suffix):
            return f"names under .{suffix} are internal"
    return None


def listed(host: str, patterns: tuple[str, ...]) -> bool:
    """Whether a team's list names the host: exactly, or by ``*.suffix`` (which does not name the suffix itself)."""
    return any(
        host.endswith(pattern[1:]) and host != pattern[2:] if pattern.startswith("*.") else host == pattern
        for pattern in patterns
    )


def literal(host: str) -> IPv4Address | IPv6Address | None:
    """The address that a host is written as, None for a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None
