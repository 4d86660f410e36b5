"""R07: what a team may write as a URL."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.domain.egress import ANY_PORT, EgressPolicy, check_allowed_hosts, check_url, split_url
from tests.support.hostile import hostile_urls, spellings

STRICT = EgressPolicy()
MATRIX = sorted(set(hostile_urls()))


def test_R07_the_matrix_is_as_wide_as_promised():
    assert len({url for _, url in MATRIX}) >= 150
    assert len({name for name, _ in MATRIX}) >= 12


@pytest.mark.parametrize(("name", "url"), MATRIX, ids=[f"{name}-{url!a}"[:80] for name, url in MATRIX])
def test_R07_a_hostile_url_is_refused_and_the_rule_is_named(name, url):
    faults = check_url(url, STRICT, field="target.webhook.url")
    assert faults, name
    assert all(fault.field == "target.webhook.url" and fault.rule for fault in faults)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "https://example.com/",
        "https://EXAMPLE.com:443/a/b?c=d&e=%20f",
        "https://xn--mnchen-3ya.de/hook",
        "https://a-b.example.co.uk/;p=1/(x)!$'*,",
        "https://93.184.216.34/",
        "https://[2606:2800:220:1:248:1893:25c8:1946]:443/x",
        "https://hooks.example.com/.well-known/../up",
        "https://127.0.0.1.nip.io/",
        "https://1.example.com/",
    ],
)
def test_R07_an_ordinary_url_passes(url):
    assert check_url(url, STRICT) == ()


def test_R07_all_faults_of_a_url_are_told_at_once():
    faults = check_url("http://user@10.0.0.1:8080/#x", STRICT)
    told = " ".join(fault.rule for fault in faults)
    assert len(faults) == 5
    for word in ("scheme", "user name", "fragment", "port 8080", "private"):
        assert word in told


@pytest.mark.parametrize("address", ["127.0.0.1", "169.254.169.254", "10.1.2.3", "192.168.7.9"])
def test_R07_a_strange_spelling_is_answered_with_the_plain_one(address):
    numeric = {"integer", "hexadecimal", "octal", "mixed", "short"}
    for name, spelling in spellings(address):
        (fault,) = check_url(f"https://{spelling}/", STRICT)
        if name in numeric:
            assert fault.suggestion == address, spelling


@given(st.integers(min_value=0, max_value=2**32 - 1))
def test_R07_no_number_passes_as_a_host(number):
    for host in (str(number), hex(number), f"0{number:o}"):
        assert check_url(f"https://{host}/", STRICT)


@given(st.text(max_size=60))
def test_R07_any_text_is_judged_and_what_passes_is_read_in_one_way(text):
    url = f"https://{text}"
    if check_url(url, STRICT) == ():
        parts = split_url(url)
        assert parts.port == 443
        assert parts.host.isascii()
        assert parts.host == parts.host.lower()
        assert not set(parts.host) & set("@/\\?#% ")


def test_R07_the_parts_are_those_that_were_judged():
    parts = split_url("HTTPS://[2606:2800:220:1:248:1893:25C8:1946]:8443/a?b=c")
    assert (parts.scheme, parts.port, parts.target) == ("https", 8443, "/a?b=c")
    assert parts.host == "2606:2800:220:1:248:1893:25c8:1946"
    assert parts.authority == "[2606:2800:220:1:248:1893:25c8:1946]:8443"
    assert split_url("https://Example.com?x").target == "/?x"
    assert split_url("https://Example.com:443/").authority == "example.com"
    assert split_url("http://example.com:443/").authority == "example.com:443"
    with pytest.raises(ValueError, match="not a URL that was accepted"):
        split_url("https:///x")


def test_R07_a_team_reaches_only_the_hosts_on_its_list():
    policy = EgressPolicy(allowed_hosts=("hooks.example.com", "*.partner.org"))
    for host in ("hooks.example.com", "HOOKS.example.com", "a.partner.org", "a.b.partner.org"):
        assert check_url(f"https://{host}/", policy) == ()
    for host in (
        "example.com",
        "x.hooks.example.com",
        "partner.org",
        "evilpartner.org",
        "partner.org.evil.com",
    ):
        (fault,) = check_url(f"https://{host}/", policy)
        assert "list of allowed hosts" in fault.rule
    assert check_url("https://hooks.example.com/", EgressPolicy(allowed_hosts=()))


def test_R07_an_unreadable_entry_of_a_list_is_named():
    bad = ("*", "*.*.com", "http://x", "a..b", "Example.com", "")
    faults = check_allowed_hosts(("ok.example.com", "*.example.com", *bad))
    assert [fault.field for fault in faults] == [f"allowed_hosts.{index}" for index in range(2, 8)]


def test_R07_a_local_policy_opens_this_machine_and_no_metadata():
    local = EgressPolicy.local()
    for url in ("http://127.0.0.1:8081/x", "http://localhost:3000/", "https://10.0.0.5/", "http://[::1]:80/"):
        assert check_url(url, local) == ()
    for url in (
        "http://169.254.169.254/latest/meta-data/",
        "http://[fd00:ec2::254]/",
        "http://100.100.100.200/",
        "http://169.254.170.2/v2/credentials",
        "http://127.0.0.1:9001/2018-06-01/runtime/invocation/next",
        "http://[::ffff:127.0.0.1]/",
        "http://0.0.0.0:8080/",
        "http://2130706433/",
        "ftp://127.0.0.1/",
    ):
        assert check_url(url, local), url


def test_R07_a_policy_with_an_unreadable_network_is_a_mistake_at_once():
    with pytest.raises(ValueError, match="host bits"):
        EgressPolicy(allow_private=frozenset({"10.0.0.1/8"}))
    assert 443 in ANY_PORT
    assert 0 not in ANY_PORT
