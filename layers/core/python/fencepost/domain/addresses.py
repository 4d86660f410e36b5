"""What each address is for. One table; the first row that holds the address decides.

From the IANA special-purpose registries, with the addresses at which clouds answer about the machine that asks.
IPv6 is judged the other way round as well: outside global unicast (2000::/3) nothing is allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

CIDR = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Why an address is not for targets. `opt_in`: a stage may allow it by naming its network."""

    word: str
    reason: str
    opt_in: bool = False


_METADATA = "a metadata address"
_ROWS: tuple[tuple[str, str, str], ...] = (
    # The services a cloud offers to the machine itself: credentials, time, names, the function's runtime.
    ("169.254.169.254/32", "metadata", _METADATA),
    ("169.254.169.253/32", "metadata", "the network's resolver"),
    ("169.254.169.123/32", "metadata", "the network's time server"),
    ("169.254.170.0/24", "metadata", "a container credentials address"),
    ("169.254.100.1/32", "metadata", "the Lambda metadata address"),
    ("169.254.79.0/24", "metadata", "the Lambda tracing daemon"),
    ("100.100.100.200/32", "metadata", _METADATA),
    ("168.63.129.16/32", "metadata", _METADATA),
    ("192.0.0.192/32", "metadata", _METADATA),
    ("fd00:ec2::/32", "metadata", _METADATA),
    ("fd20:ce::/32", "metadata", _METADATA),
    # IPv4
    ("0.0.0.0/32", "unspecified", "the unspecified address"),
    ("0.0.0.0/8", "this-network", "in 'this network' (0.0.0.0/8)"),
    ("10.0.0.0/8", "private", "private"),
    ("172.16.0.0/12", "private", "private"),
    ("192.168.0.0/16", "private", "private"),
    ("100.64.0.0/10", "shared", "carrier-grade NAT space"),
    ("127.0.0.0/8", "loopback", "loopback"),
    ("169.254.0.0/16", "link-local", "link-local"),
    ("192.0.0.0/24", "reserved", "reserved for protocols"),
    ("192.0.2.0/24", "documentation", "for documentation only"),
    ("198.51.100.0/24", "documentation", "for documentation only"),
    ("203.0.113.0/24", "documentation", "for documentation only"),
    ("192.88.99.0/24", "6to4", "a 6to4 relay"),
    ("192.31.196.0/24", "reserved", "an AS112 sink"),
    ("192.52.193.0/24", "reserved", "reserved for multicast tunnels"),
    ("192.175.48.0/24", "reserved", "an AS112 sink"),
    ("198.18.0.0/15", "benchmark", "for benchmarks only"),
    ("224.0.0.0/4", "multicast", "multicast"),
    ("255.255.255.255/32", "broadcast", "broadcast"),
    ("240.0.0.0/4", "reserved", "reserved"),
    # IPv6, beginning with those that carry an IPv4 address inside
    ("::/128", "unspecified", "the unspecified address"),
    ("::1/128", "loopback", "loopback"),
    ("::ffff:0:0/96", "mapped", "an IPv4 address mapped into IPv6"),
    ("::ffff:0:0:0/96", "translated", "an IPv4 address translated into IPv6"),
    ("::/96", "compatible", "an IPv4-compatible IPv6 address"),
    ("64:ff9b::/96", "nat64", "NAT64"),
    ("64:ff9b:1::/48", "nat64", "NAT64 of a local network"),
    ("100::/64", "discard", "a discard address"),
    ("2001::/32", "teredo", "Teredo"),
    ("2001:db8::/32", "documentation", "for documentation only"),
    ("2001::/23", "reserved", "reserved for protocols"),
    ("2002::/16", "6to4", "6to4"),
    ("2620:4f:8000::/48", "reserved", "an AS112 sink"),
    ("3fff::/20", "documentation", "for documentation only"),
    ("fc00::/7", "unique-local", "unique local"),
    ("fe80::/10", "link-local", "link-local"),
    ("fec0::/10", "site-local", "site-local"),
    ("ff00::/8", "multicast", "multicast"),
)
_OPT_IN = frozenset({"private", "shared", "loopback", "unique-local"})


def parse_cidr(text: str) -> CIDR:
    """A network in CIDR notation. Raises ValueError when it is none, or has host bits set."""
    return ip_network(text)


def _row(cidr: str, word: str, reason: str) -> tuple[CIDR, Verdict]:
    return parse_cidr(cidr), Verdict(word=word, reason=reason, opt_in=word in _OPT_IN)


_TABLE = tuple(_row(*row) for row in _ROWS)
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_UNREADABLE = Verdict(word="unreadable", reason="no address")
_ZONED = Verdict(word="zoned", reason="bound to a zone of this machine")
_ISATAP = Verdict(word="isatap", reason="an IPv4 address inside an ISATAP one")
_RESERVED = Verdict(word="reserved", reason="not a public address")


@lru_cache(maxsize=4096)
def classify(ip: str) -> Verdict | None:
    """Why the address is special; None for a public one. What is unreadable is special, too."""
    try:
        address = ip_address(ip)
    except ValueError:
        return _UNREADABLE
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        return _ZONED
    for network, verdict in _TABLE:
        if address.version == network.version and address in network:
            return verdict
    if isinstance(address, IPv4Address):
        return None if address.is_global else _RESERVED
    return _ipv6(address)


def _ipv6(address: IPv6Address) -> Verdict | None:
    interface = (int(address) >> 32) & 0xFFFFFFFF
    if interface & ~0x02000000 == 0x00005EFE:  # the universal bit may be set or not
        return _ISATAP
    return None if address in _GLOBAL_UNICAST and address.is_global else _RESERVED
