"""The connector against real sockets: the right name to the judged address, and an end to everything."""

from __future__ import annotations

import socket
import threading
from datetime import UTC, datetime

import pytest

from fencepost.adapters.http.client import GuardedHttp
from fencepost.adapters.http.connector import HttpRequest, UrllibConnector
from fencepost.domain.egress import EgressPolicy
from fencepost.domain.outcome import Accepted, Delivered, Failed, Refused, TimedOut
from fencepost.runtime.clock import monotonic_ms
from tests.support.certificates import Authority
from tests.support.egress import ScriptedResolver
from tests.support.tcp_target import TcpTarget, drips, floods, resets, says, silent

SENT_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
LOCAL = EgressPolicy.local()
PATIENT = 10.0
IMPATIENT = 0.4
SLACK = 3.0  # a busy machine may wake us late, never so late


def monotonic() -> float:
    return monotonic_ms() / 1000


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


def call(
    port, *, scheme="http", host="target.example", tls=None, timeout=PATIENT, headers=None, body=b'{"a":1}'
):
    guard = GuardedHttp(
        resolver=ScriptedResolver(default=("127.0.0.1",)),
        connector=UrllibConnector(monotonic=monotonic, tls=tls),
        monotonic=monotonic,
    )
    url = f"{scheme}://{host}:{port}/hook?x=1"
    request = HttpRequest(url=url, headers=headers or {}, body=body, sent_at=SENT_AT)
    return guard.call(request, policy=LOCAL, timeout=timeout)


def answer(status: str, *headers: str, body: bytes = b"") -> bytes:
    head = "\r\n".join((f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""))
    return head.encode() + body


def test_R07_the_judged_address_hears_the_name_and_exactly_the_request():
    with TcpTarget(says(answer("200 OK", body=b"thanks"))) as target:
        outcome = call(target.port, headers={"X-One": "1", "Content-Type": "application/json"})
    assert outcome == Delivered(status=200, excerpt="thanks")
    (heard,) = target.requests
    head, _, body = heard.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /hook?x=1 HTTP/1.1"
    assert f"Host: target.example:{target.port}" in lines
    assert "X-One: 1" in lines
    assert "Content-Length: 7" in lines
    assert "Connection: close" in lines
    assert sum(line.lower().startswith("host:") for line in lines) == 1
    assert body == b'{"a":1}'


def test_R07_tls_is_asked_and_proven_for_the_name_not_for_the_address(authority):
    with TcpTarget(says(answer("202 Accepted")), authority, names=("target.example",)) as target:
        outcome = call(target.port, scheme="https", tls=authority.trusting())
    assert outcome == Accepted(status=202)
    assert target.server_names == ["target.example"]
    assert b"Host: target.example" in target.requests[0]


@pytest.mark.parametrize("names", [("other.example",), ("127.0.0.1",), ("*.target.example",)])
def test_R07_a_certificate_for_another_name_ends_the_call_before_anything_is_sent(authority, names):
    with TcpTarget(says(answer("200 OK")), authority, names=names) as target:
        outcome = call(target.port, scheme="https", tls=authority.trusting())
    assert isinstance(outcome, Failed)
    assert "certificate is not trusted" in outcome.error
    assert target.requests == []


def test_R07_a_certificate_of_an_unknown_authority_is_not_trusted(authority):
    with TcpTarget(says(answer("200 OK")), authority, names=("target.example",)) as target:
        outcome = call(target.port, scheme="https")
    assert isinstance(outcome, Failed)
    assert "certificate is not trusted" in outcome.error
    assert target.requests == []


def test_R07_an_address_as_host_is_proven_as_an_address(authority):
    with TcpTarget(says(answer("200 OK")), authority, names=("127.0.0.1",)) as target:
        outcome = call(target.port, scheme="https", host="127.0.0.1", tls=authority.trusting())
    assert isinstance(outcome, Delivered)


def test_R07_proxy_variables_are_not_looked_at(monkeypatch):
    with TcpTarget(says(answer("200 OK"))) as proxy, TcpTarget(says(answer("200 OK"))) as target:
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert isinstance(call(target.port), Delivered)
    assert proxy.requests == []
    assert len(target.requests) == 1


def test_R07_a_redirect_inwards_is_not_followed():
    with TcpTarget(says(answer("200 OK", body=b"secret"))) as inside:
        location = f"Location: http://127.0.0.1:{inside.port}/latest/meta-data/"
        with TcpTarget(says(answer("302 Found", location))) as target:
            outcome = call(target.port)
    assert isinstance(outcome, Failed)
    assert outcome.status == 302
    assert inside.requests == []


def test_R01_a_target_that_never_answers_is_unknown():
    began = monotonic()
    with TcpTarget(silent) as target:
        outcome = call(target.port, timeout=IMPATIENT)
    assert outcome == TimedOut(error="timed out waiting for the answer")
    assert monotonic() - began < IMPATIENT + SLACK
    assert len(target.requests) == 1


@pytest.mark.parametrize(
    ("head", "drop"),
    [
        (b"", b"H"),
        (b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n"),
        (b"HTTP/1.1 200 OK\r\nX-Long: ", b"a"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
    ids=["status", "headers", "one header", "interim answers"],
)
def test_R01_a_head_that_drips_does_not_outlive_the_deadline(head, drop):
    began = monotonic()
    with TcpTarget(drips(head, drop)) as target:
        outcome = call(target.port, timeout=IMPATIENT)
    assert outcome.kind == "timed_out"
    assert monotonic() - began < IMPATIENT + SLACK


def test_R01_a_body_that_drips_does_not_outlive_the_deadline_and_the_status_counts():
    began = monotonic()
    with TcpTarget(drips(b"HTTP/1.1 200 OK\r\n\r\n", b"z")) as target:
        outcome = call(target.port, timeout=IMPATIENT)
    assert isinstance(outcome, Delivered)
    assert set(outcome.excerpt) == {"z"}
    assert monotonic() - began < IMPATIENT + SLACK


def test_R01_a_tls_handshake_that_never_comes_is_a_failure_since_nothing_was_sent():
    with TcpTarget(silent, reads=False) as target:
        outcome = call(target.port, scheme="https", timeout=IMPATIENT)
    assert outcome == Failed(error="the connection timed out")


def test_a_target_that_reads_nothing_does_not_hold_the_sender():
    with TcpTarget(silent, reads=False) as target:
        outcome = call(target.port, body=b"x" * 32_000_000, timeout=IMPATIENT)
    assert outcome == TimedOut(error="timed out while the request was being sent")


@pytest.mark.parametrize("framing", [b"Content-Length: 99999999999\r\n", b""])
def test_a_huge_body_is_read_up_to_the_cap_and_left(framing):
    with TcpTarget(floods(b"HTTP/1.1 200 OK\r\n" + framing + b"\r\n", b"A" * 65536)) as target:
        outcome = call(target.port)
    assert isinstance(outcome, Delivered)
    assert outcome.excerpt == "A" * 512


def test_a_body_in_ever_smaller_chunks_ends_at_the_cap_of_the_whole_answer():
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    with TcpTarget(floods(head, b"1\r\nA\r\n" * 4096)) as target:
        outcome = call(target.port)
    assert isinstance(outcome, Delivered)
    assert outcome.excerpt == "A" * 512


@pytest.mark.parametrize(
    ("head", "flood"),
    [
        (b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n" * 512),
        (b"HTTP/1.1 200 OK\r\nX-Long: ", b"a" * 65536),
        (b"HTTP/1.1 200 " + b"O" * 70000, b"K" * 65536),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 512),
    ],
    ids=["many headers", "one long header", "a long status", "interim answers"],
)
def test_a_header_bomb_is_a_failure(head, flood):
    with TcpTarget(floods(head, flood)) as target:
        outcome = call(target.port)
    assert isinstance(outcome, Failed)
    assert outcome.status is None


@pytest.mark.parametrize(
    "garbage",
    [
        b"SSH-2.0-OpenSSH_9.0\r\n",
        b"\x00\xff" * 200,
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"<html>",
        b"\r\n\r\n",
        b"HTTP/1.1",
    ],
)
def test_what_is_not_http_is_a_failure(garbage):
    with TcpTarget(says(garbage)) as target:
        outcome = call(target.port)
    assert isinstance(outcome, Failed)
    assert outcome.error == "the answer is not HTTP"


def test_a_connection_that_is_closed_without_a_word_is_a_failure():
    with TcpTarget(says()) as target:
        outcome = call(target.port)
    assert outcome == Failed(error="the connection was closed without an answer")


def test_a_connection_that_is_reset_is_a_failure():
    with TcpTarget(resets) as target:
        outcome = call(target.port)
    assert outcome == Failed(error="the connection was reset")


def test_nobody_listening_is_a_failure():
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    assert call(port) == Failed(error="the connection was refused")


def test_an_early_no_to_a_large_body_is_heard():
    """The target answers and closes before it has read all: the answer counts, not the broken pipe."""

    def refuses(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(answer("410 Gone"))
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536) and not over.is_set():
            pass

    with TcpTarget(refuses, reads=False) as target:
        outcome = call(target.port, body=b"x" * 4_000_000)
    assert isinstance(outcome, Refused)


def test_a_compressed_body_is_not_unpacked():
    packed = b"\x1f\x8b" + b"\x00" * 50
    with TcpTarget(says(answer("200 OK", "Content-Encoding: gzip", body=packed))) as target:
        outcome = call(target.port)
    assert isinstance(outcome, Delivered)
    assert outcome.excerpt.startswith("\ufffd")


def test_the_first_of_two_equal_headers_counts():
    with TcpTarget(says(answer("429 Slow", "Retry-After: 7", "retry-after: 3000"))) as target:
        outcome = call(target.port)
    assert isinstance(outcome, Failed)
    assert outcome.retry_after is not None
    assert outcome.retry_after.total_seconds() == 7
