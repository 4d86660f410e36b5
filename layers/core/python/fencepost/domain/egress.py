"""Where Fencepost may send: which URLs a target may have, and which addresses may be connected to.

Two questions, both pure. `check_url` reads what a team wrote and refuses every spelling that two readers could
understand differently. `check_address` judges one resolved address. Whoever calls out asks both, the second one for
*every* address of the name, and then connects to the address that was judged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address

from fencepost.domain.addresses import CIDR, classify, parse_cidr
from fencepost.domain.faults import Fault
from fencepost.domain.hosts import MAX_HOST_LENGTH, host_rule, inside_name, listed, literal

MAX_URL_LENGTH = 2048
ANY_PORT = frozenset(range(1, 65536))
LOOPBACK = frozenset({"127.0.0.0/8", "::1/128"})
PRIVATE = frozenset({"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"})
RUNTIME_API_PORT = 9001  # Lambda's runtime API listens here on loopback; it hands out and forges invocations

_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)"
    r"(?P<path>/[^?#]*)?(?P<query>\?[^#]*)?(?P<fragment>#.*)?"
)
_ALLOWED = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]*")
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_AUTHORITY = re.compile(r"(?P<host>\[[^\]]*\]|[^\[\]:]*)(?::(?P<port>.*))?")
_PATTERN = re.compile(r"(?:\*\.)?[a-z0-9.:-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressPolicy:
    """What a stage and a team allow. The default is the strict one: https, port 443, public addresses, any host.

    `allowed_hosts` is the team's list (exact, or ``*.suffix``), None for any host. `allow_private` holds CIDRs of
    private, shared or loopback space that may be reached; loopback only by a CIDR that lies within loopback, and
    metadata, link-local and multicast addresses by none. Raises ValueError for an unreadable CIDR.
    """

    allow_http: bool = False
    ports: frozenset[int] = frozenset({443})
    allowed_hosts: tuple[str, ...] | None = None
    allow_private: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for cidr in self.allow_private:
            parse_cidr(cidr)

    @classmethod
    def local(cls) -> EgressPolicy:
        """One machine and its network: plain http, any port, loopback and private space; metadata stays refused."""
        return cls(allow_http=True, ports=ANY_PORT, allow_private=LOOPBACK | PRIVATE)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpUrl:
    """A URL in the one reading that was judged; whoever connects uses these parts and never reads the text again.

    `host` is lower case and without brackets; `target` is the request target, path and query.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def address(self) -> IPv4Address | IPv6Address | None:
        """The address, when the host is written as one."""
        return literal(self.host)

    @property
    def authority(self) -> str:
        """The Host header: the port only where it is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _default_port(self.scheme) else f"{host}:{self.port}"


def check_url(url: str, policy: EgressPolicy, *, field: str = "url") -> tuple[Fault, ...]:
    """Every rule that `url` breaks; empty when it may be called (its addresses permitting)."""
    found = _Findings(field=field, url=url)
    parsed = _shape(url, found)
    if parsed is None:
        return tuple(found.faults)
    _check_scheme(parsed["scheme"], policy, found)
    if "@" in parsed["authority"]:
        found.add("must not carry a user name or password; use a header")
    if parsed["fragment"]:
        found.add("must not have a fragment")
    authority = parsed["authority"].rpartition("@")[2]
    match = _AUTHORITY.fullmatch(authority)
    if match is None:
        found.add("host and port are not readable")
        return tuple(found.faults)
    port = _check_port(match["port"], parsed["scheme"], policy, found)
    _check_host(match["host"], port, policy, found)
    return tuple(found.faults)


def split_url(url: str) -> HttpUrl:
    """The parts of a URL that `check_url` accepts under some policy. Raises ValueError for any other."""
    match = _URL.fullmatch(url)
    authority = _AUTHORITY.fullmatch(match["authority"]) if match else None
    if match is None or authority is None or not authority["host"]:
        raise ValueError(f"{url[:120]!r} is not a URL that was accepted")
    scheme = match["scheme"].lower()
    port = int(authority["port"]) if authority["port"] else _default_port(scheme)
    return HttpUrl(
        scheme=scheme,
        host=authority["host"].strip("[]").lower(),
        port=port,
        target=(match["path"] or "/") + (match["query"] or ""),
    )


def check_address(ip: str, policy: EgressPolicy, *, port: int | None = None) -> str | None:
    """Why `ip` must not be connected to; None when it may be. `ip` is one resolved address in text."""
    verdict = classify(ip)
    if verdict is None:
        return None
    if port == RUNTIME_API_PORT and verdict.word == "loopback":
        return f"{ip} port {port} is the Lambda runtime API"
    if verdict.opt_in and _opted_in(ip, verdict.word, policy):
        return None
    return f"{ip} is {verdict.reason}"


def check_allowed_hosts(patterns: tuple[str, ...], *, field: str = "allowed_hosts") -> tuple[Fault, ...]:
    """Every entry of a team's list that is neither a host name nor ``*.suffix``."""
    rule = "is a lower-case host name, or *. and one"
    return tuple(
        Fault(field=f"{field}.{index}", value=pattern, rule=rule)
        for index, pattern in enumerate(patterns)
        if not _PATTERN.fullmatch(pattern) or ".." in pattern or len(pattern) > MAX_HOST_LENGTH
    )


class _Findings:
    """Collects the faults of one URL."""

    def __init__(self, *, field: str, url: str) -> None:
        self.faults: list[Fault] = []
        self._field = field
        self._url = url[:MAX_URL_LENGTH]

    def add(self, rule: str, suggestion: str | None = None) -> None:
        self.faults.append(Fault(field=self._field, value=self._url, rule=rule, suggestion=suggestion))


def _shape(url: str, found: _Findings) -> re.Match[str] | None:
    """What can be said of the text alone. A text that is no URL ends the inquiry."""
    if len(url) > MAX_URL_LENGTH:
        found.add(f"must be at most {MAX_URL_LENGTH} characters")
        return None
    if not _ALLOWED.fullmatch(url):
        found.add(
            "must consist of the characters of RFC 3986: write an international host as xn--..., "
            "escape the rest with %"
        )
        return None
    if _BROKEN_ESCAPE.search(url):
        found.add("has a % that is not followed by two hexadecimal digits")
    match = _URL.fullmatch(url)
    if match is None:
        found.add("must be an absolute URL", "https://example.com/path")
    return match


def _check_scheme(scheme: str, policy: EgressPolicy, found: _Findings) -> None:
    allowed = {"https", "http"} if policy.allow_http else {"https"}
    if scheme.lower() not in allowed:
        found.add(f"scheme must be {' or '.join(sorted(allowed))}")


def _check_port(text: str | None, scheme: str, policy: EgressPolicy, found: _Findings) -> int | None:
    if text is None:
        port = _default_port(scheme.lower())
    elif re.fullmatch(r"[1-9][0-9]{0,4}", text, re.ASCII) and int(text) in ANY_PORT:
        port = int(text)
    else:
        found.add("port must be a plain number from 1 to 65535")
        return None
    if port not in policy.ports:
        listed = ", ".join(str(each) for each in sorted(policy.ports)[:8])
        found.add(f"port {port} is not allowed; allowed: {listed}")
    return port


def _check_host(raw: str, port: int | None, policy: EgressPolicy, found: _Findings) -> None:
    rule = host_rule(raw)
    if rule is not None:
        found.add(*rule)
        return
    host = raw.strip("[]").lower()
    address = literal(host)
    if address is not None:
        reason = check_address(str(address), policy, port=port)
    else:
        reason = _inside_name(host, policy)
    if reason is not None:
        found.add(f"must not point inside a network: {reason}")
    if policy.allowed_hosts is not None and not listed(host, policy.allowed_hosts):
        found.add(f"{host} is not on the team's list of allowed hosts")


def _inside_name(host: str, policy: EgressPolicy) -> str | None:
    """Names that mean something only inside a network. Where private space is allowed, their addresses decide."""
    if policy.allow_private:
        return None
    return inside_name(host)


@lru_cache(maxsize=256)
def _cidr(text: str) -> CIDR:
    return parse_cidr(text)


def _opted_in(ip: str, word: str, policy: EgressPolicy) -> bool:
    """Loopback is opened only by a network that lies in loopback: 0.0.0.0/0 opens private space, not this host."""
    address = ip_address(ip)
    for text in policy.allow_private:
        network = _cidr(text)
        if address in network and (word != "loopback" or network.network_address.is_loopback):
            return True
    return False


def _default_port(scheme: str) -> int:
    return 80 if scheme == "http" else 443
