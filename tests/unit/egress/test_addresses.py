"""R07: which resolved addresses may be connected to."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.domain.egress import LOOPBACK, PRIVATE, EgressPolicy, check_address
from tests.support.hostile import PUBLIC, inside_addresses

STRICT = EgressPolicy()
INSIDE = sorted(inside_addresses())
OPENED = {"loopback", "private", "shared", "unique-local"}


@pytest.mark.parametrize(("name", "address"), INSIDE, ids=[f"{name}-{address}" for name, address in INSIDE])
def test_R07_no_inside_address_is_connected_to_and_the_reason_is_told(name, address):
    reason = check_address(address, STRICT)
    assert reason is not None, name
    assert reason.startswith(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_R07_a_public_address_may_be_connected_to(address):
    assert check_address(address, STRICT) is None


@pytest.mark.parametrize(
    "text", ["", "example.com", "127.1", "0x7f000001", "fe80::1%eth0", "1.2.3.4 ", "::1%1"]
)
def test_R07_what_is_no_plain_address_is_refused(text):
    assert check_address(text, STRICT) is not None


@pytest.mark.parametrize(("name", "address"), INSIDE, ids=[f"{name}-{address}" for name, address in INSIDE])
def test_R07_opening_private_space_opens_nothing_else(name, address):
    opened = EgressPolicy(allow_private=LOOPBACK | PRIVATE)
    assert (check_address(address, opened) is None) == (name in OPENED), name


@pytest.mark.parametrize(("name", "address"), INSIDE, ids=[f"{name}-{address}" for name, address in INSIDE])
def test_R07_the_whole_internet_as_an_opening_names_no_loopback_and_no_metadata(name, address):
    wide = EgressPolicy(allow_private=frozenset({"0.0.0.0/0", "::/0"}))
    assert (check_address(address, wide) is None) == (name in OPENED - {"loopback"}), name


def test_R07_the_lambda_runtime_api_stays_shut_even_where_loopback_is_open():
    local = EgressPolicy.local()
    assert check_address("127.0.0.1", local, port=8080) is None
    assert "runtime API" in str(check_address("127.0.0.1", local, port=9001))
    assert "runtime API" in str(check_address("::1", local, port=9001))
    assert check_address("169.254.100.1", local, port=9001) is not None


@given(st.integers(min_value=0, max_value=2**32 - 1))
def test_R07_an_address_that_python_calls_private_never_passes(number):
    address = IPv4Address(number)
    if not address.is_global or address.is_multicast or address.is_reserved:
        assert check_address(str(address), STRICT) is not None


@given(st.integers(min_value=0, max_value=2**128 - 1))
def test_R07_ipv6_passes_only_in_global_unicast(number):
    address = IPv6Address(number)
    if check_address(str(address), STRICT) is None:
        assert number >> 125 == 1
        assert address.is_global
        assert address.ipv4_mapped is None
        assert address.sixtofour is None
        assert address.teredo is None


@given(st.integers(min_value=0, max_value=2**32 - 1), st.sampled_from(["::ffff:0:0", "64:ff9b::", "::"]))
def test_R07_no_prefix_smuggles_an_ipv4_address(number, prefix):
    assert check_address(str(IPv6Address(int(IPv6Address(prefix)) + number)), STRICT) is not None
