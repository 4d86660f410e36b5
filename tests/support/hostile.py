"""URLs that want to get inside, generated class by class, and the addresses behind which there is an inside."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address

INSIDE_V4 = {
    "loopback": ("127.0.0.1", "127.8.8.8", "127.255.255.254"),
    "private": ("10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.254", "192.168.0.1", "192.168.255.1"),
    "link-local": ("169.254.1.1", "169.254.255.254"),
    "metadata": ("169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "168.63.129.16"),
    "lambda": ("169.254.100.1", "169.254.79.129"),
    "shared": ("100.64.0.1", "100.127.255.254"),
    "multicast": ("224.0.0.1", "239.255.255.250"),
    "unspecified": ("0.0.0.0", "0.1.2.3"),  # noqa: S104 - a target, nothing is bound
    "reserved": ("240.0.0.1", "255.255.255.255", "192.0.0.8", "192.0.0.192"),
    "documentation": ("192.0.2.7", "198.51.100.7", "203.0.113.7", "198.18.0.1"),
    "relay": ("192.88.99.1",),
}
INSIDE_V6 = {
    "loopback": ("::1", "0:0:0:0:0:0:0:1"),
    "unspecified": ("::",),
    "mapped": ("::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:169.254.169.254", "0:0:0:0:0:ffff:0a00:0001"),
    "public, mapped": ("::ffff:93.184.216.34",),
    "translated": ("::ffff:0:127.0.0.1",),
    "compatible": ("::127.0.0.1", "::a00:1"),
    "nat64": ("64:ff9b::7f00:1", "64:ff9b::169.254.169.254", "64:ff9b:1::a00:1"),
    "6to4": ("2002:7f00:1::", "2002:a9fe:a9fe::1"),
    "teredo": ("2001:0:4136:e378:8000:63bf:80ff:fffe", "2001::1"),
    "isatap": ("2600::5efe:10.0.0.1", "2600::200:5efe:7f00:1"),
    "unique-local": ("fc00::1", "fd12:3456:789a::1"),
    "metadata": ("fd00:ec2::254", "fd00:ec2::123"),
    "link-local": ("fe80::1", "febf::1"),
    "site-local": ("fec0::1",),
    "multicast": ("ff02::1", "ff0e::1"),
    "documentation": ("2001:db8::1", "3fff::1"),
    "reserved": ("100::1", "2001:2::1", "4000::1", "5f00::1", "e000::1"),
}
PUBLIC = ("93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "1.1.1.1", "8.8.8.8", "52.94.236.248")


def inside_addresses() -> Iterator[tuple[str, str]]:
    """(class, address) of everything that no target may be."""
    for family in (INSIDE_V4, INSIDE_V6):
        for name, addresses in family.items():
            for address in addresses:
                yield name, address


def spellings(address: str) -> Iterator[tuple[str, str]]:
    """(class, spelling) of one IPv4 address as the C library would read it, the plain form not among them."""
    value = int(IPv4Address(address))
    a, b, c, d = value.to_bytes(4)
    yield "integer", str(value)
    yield "hexadecimal", f"0x{value:08x}"
    yield "hexadecimal", f"0X{value:X}"
    yield "octal", f"0{value:o}"
    yield "octal", f"0{a:o}.0{b:o}.0{c:o}.0{d:o}"
    yield "octal", f"{a:04o}.{b}.{c}.{d}"
    yield "hexadecimal", f"0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}"
    yield "mixed", f"0x{a:x}.{b}.0{c:o}.{d}"
    yield "padded", f"{a:03d}.{b:03d}.{c:03d}.{d:03d}"
    yield "short", f"{a}.{(b << 16) + (c << 8) + d}"
    yield "short", f"{a}.{b}.{(c << 8) + d}"
    yield "trailing dot", f"{address}."
    yield "escaped", "".join(f"%{ord(char):02x}" for char in address)
    yield "escaped", address.replace(".", "%2e")
    yield "full-width", address.translate(str.maketrans("0123456789.", "０１２３４５６７８９。"))
    yield "enclosed", address.translate(str.maketrans("123456789", "①②③④⑤⑥⑦⑧⑨"))


def _names() -> Iterator[tuple[str, str]]:
    for host in (
        "localhost",
        "LOCALHOST",
        "api.localhost",
        "localhost.localdomain",
        "printer.local",
        "db.internal",
    ):
        yield "inside name", f"https://{host}/"
    for host in (
        "metadata.google.internal",
        "instance-data",
        "kubernetes.default.svc",
        "router.home",
        "nas.lan",
    ):
        yield "inside name", f"https://{host}/"
    for host in ("1.0.0.127.in-addr.arpa", "wiki.corp", "hidden.onion", "intranet", "ad.private"):
        yield "inside name", f"https://{host}/"
    for host in ("localhost.", "example.com.", "example.com..", "metadata.google.internal."):
        yield "trailing dot", f"https://{host}/"
    for host in ("exаmple.com", "münchen.de", "ⓔxample.com", "example。com", "ﬁle.com", "ex\u200bample.com"):
        yield "homograph", f"https://{host}/"
    for host in (
        "exa mple.com",
        "-a.com",
        "a-.com",
        "a..com",
        ".example.com",
        "a_b.com",
        "*.example.com",
        "a$b.com",
    ):
        yield "broken name", f"https://{host}/"
    yield "broken name", f"https://{'a' * 64}.com/"
    yield "broken name", f"https://{'a.' * 130}com/"


def _shapes() -> Iterator[tuple[str, str]]:
    for scheme in (
        "http",
        "ftp",
        "file",
        "gopher",
        "dict",
        "ldap",
        "jar",
        "data",
        "javascript",
        "ws",
        "httpss",
    ):
        yield "scheme", f"{scheme}://example.com/"
    for url in (
        "//example.com/",
        "example.com",
        "https:example.com",
        "https:/example.com",
        "",
        "/",
        "https://",
    ):
        yield "no absolute URL", url
    for url in ("https:///path", "https://:443/", "https://?x", "https://[]/"):
        yield "no host", url
    for port in (22, 25, 80, 2375, 6379, 8443, 9001, 65535):
        yield "port", f"https://example.com:{port}/"
    for text in (
        "0",
        "65536",
        "-1",
        "443x",
        "0443",
        "+443",
        "4 43",
        "٤٤٣",
        "99999999999",
        "",
        "0x1bb",
        "443:443",
    ):
        yield "broken port", f"https://example.com:{text}/"
    for user in ("user", "user:pass", "example.com", "", "a%40b", "x:443", "169.254.169.254"):
        yield "user information", f"https://{user}@example.com/"
    yield "user information", "https://example.com@127.0.0.1/"
    yield "user information", "https://example.com:443@169.254.169.254/"
    yield "user information", "https://127.0.0.1\\@example.com/"
    for fragment in ("", "a", "@127.0.0.1/", "/../x"):
        yield "fragment", f"https://example.com/#{fragment}"
    yield "fragment", "https://example.com#@127.0.0.1/"


def _texts() -> Iterator[tuple[str, str]]:
    for char in (
        "\r\n",
        "\n",
        "\t",
        "\0",
        " ",
        "\x7f",
        "\u2028",
        "\ufeff",
        "\\",
        "<",
        '"',
        "{x}",
        "|",
        "^",
        "`",
    ):
        yield "broken text", f"https://example.com/a{char}b"
        yield "broken text", f"https://exam{char}ple.com/"
    for tail in ("%", "%2", "%zz", "%0", "a%g0"):
        yield "broken escape", f"https://example.com/{tail}"
    yield "padding", " https://example.com/"
    yield "padding", "https://example.com/ "
    yield "padding", "\thttps://example.com/"
    yield "too long", "https://example.com/" + "a" * 2048
    yield "header in a host", "https://example.com%0d%0aHost:%20127.0.0.1/"


def _literals() -> Iterator[tuple[str, str]]:
    for name, addresses in INSIDE_V4.items():
        for address in addresses:
            yield f"{name} address", f"https://{address}/"
    for address in ("127.0.0.1", "169.254.169.254", "10.0.0.1", "93.184.216.34"):
        for name, host in spellings(address):
            yield f"{name} IPv4", f"https://{host}/"
    for host in (
        "127.1",
        "0x7f.1",
        "017700000001",
        "0",
        "0x",
        "1.2.3.4.5",
        "256.1.1.1",
        "1.2.3.0x4",
        "a.b.9",
    ):
        yield "odd IPv4", f"https://{host}/"
    for name, addresses in INSIDE_V6.items():
        for address in addresses:
            yield f"{name} address", f"https://[{address}]/"
    for host in (
        "[fe80::1%eth0]",
        "[fe80::1%25eth0]",
        "[::1%lo]",
        "[fe80::1%251]",
        "[2606:4700::1111%25en0]",
    ):
        yield "zone", f"https://{host}/"
    for host in (
        "[127.0.0.1]",
        "[::1",
        "::1",
        "[::1]]",
        "[[::1]]",
        "[v1.x]",
        "[::g]",
        "[1:2]",
        "[::1]x",
        "x[::1]",
    ):
        yield "odd IPv6", f"https://{host}/"


def hostile_urls() -> Iterator[tuple[str, str]]:
    """(class, URL), every one to be refused by the strict policy."""
    yield from _literals()
    yield from _names()
    yield from _shapes()
    yield from _texts()
