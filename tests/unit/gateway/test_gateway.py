"""From the socket to the API function and back: who gets in, what the function sees, what the caller sees."""

from __future__ import annotations

import http.client
import json
import os
import socket
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from shutil import which
from typing import Any

import pytest

from fencepost.domain.iam import TeamRole, iam_policy
from fencepost.local.gateway.credentials import Credential, CredentialsFile, entry, session_arn
from fencepost.local.gateway.gateway import Gateway, plain
from fencepost.local.gateway.policy import full_access
from fencepost.local.gateway.request import Request, Response
from fencepost.local.gateway.server import HttpServer
from fencepost.local.gateway.signature import Verifier, sign
from fencepost.runtime.clock import SystemClock

REGION = "us-east-1"
OWNER: dict[str, Any] = {
    "access_key_id": "AKIDOWNER",
    "secret_access_key": "owners-secret",
    "arn": session_arn("payments-owner", "laptop"),
    "policy": iam_policy("payments", TeamRole.OWNER),
}


class Api:
    """Stands for the API function: keeps what it is called with."""

    def __init__(self):
        self.events = []
        self.result: Any = {"statusCode": 200, "headers": {"ETag": '"1"'}, "body": '{"ok":true}'}

    def __call__(self, event, _context):
        self.events.append(event)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


@pytest.fixture
def api():
    return Api()


@pytest.fixture
def keys(tmp_path):
    file = CredentialsFile(tmp_path / "credentials.json")
    file.add([entry(**OWNER)])
    return file


@pytest.fixture
def failures():
    return []


@pytest.fixture
def gateway(api, keys, failures):
    return Gateway(
        api=api,
        verifier=Verifier(keys.find, REGION),
        clock=SystemClock(),
        new_id=lambda: "request-1",
        failed=failures.append,
        region=REGION,
    )


def call(method, path, *, query="", body=b"", headers=(), key=OWNER["access_key_id"], secret=None, late=0):
    named = [("Host", "127.0.0.1:8080"), ("Content-Type", "application/json"), *headers]
    request = Request(method=method, path=path, query=query, headers=named, body=body)
    credential = Credential(access_key_id=key, secret_access_key=secret or OWNER["secret_access_key"], arn="")
    signed = sign(request, credential, REGION, SystemClock().now() + timedelta(minutes=late))
    return Request(method=method, path=path, query=query, headers=signed, body=body)


def detail(response):
    body = json.loads(response.body)
    assert response.headers["Content-Type"] == ["application/problem+json"]
    assert body["status"] == response.status
    return body["detail"]


def test_the_function_sees_what_api_gateway_would_send(gateway, api):
    response = gateway.answer(
        call("PUT", "/v1/teams/payments/jobs/nightly", query="a=1&a=2&note=x%20y", body=b'{"tier":"bulk"}')
    )
    assert (response.status, response.body) == (200, b'{"ok":true}')
    assert response.headers["ETag"] == ['"1"']
    (event,) = api.events
    assert (event["httpMethod"], event["path"]) == ("PUT", "/v1/teams/payments/jobs/nightly")
    assert event["body"] == '{"tier":"bulk"}'
    assert event["isBase64Encoded"] is False
    assert event["queryStringParameters"] == {"a": "2", "note": "x y"}
    assert event["multiValueQueryStringParameters"] == {"a": ["1", "2"], "note": ["x y"]}
    assert event["headers"]["Content-Type"] == "application/json"
    context = event["requestContext"]
    assert context["identity"]["userArn"] == "arn:aws:sts::000000000000:assumed-role/payments-owner/laptop"
    assert (context["stage"], context["requestId"]) == ("local", "request-1")


def test_unsigned_calls_do_not_pass(gateway, api):
    unsigned = Request(method="GET", path="/v1/health", headers=[("Host", "127.0.0.1:8080")])
    response = gateway.answer(unsigned)
    assert response.status == 403
    assert response.headers["x-amzn-ErrorType"] == ["MissingAuthenticationTokenException"]
    assert "signed" in detail(response)
    assert api.events == []


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"secret": "guessed"}, "InvalidSignatureException"),
        ({"key": "AKIDNOBODY"}, "UnrecognizedClientException"),
        ({"late": -6}, "InvalidSignatureException"),
        ({"late": 6}, "InvalidSignatureException"),
    ],
)
def test_a_bad_signature_does_not_pass(gateway, api, changes, kind):
    response = gateway.answer(call("GET", "/v1/teams/payments", **changes))
    assert (response.status, response.headers["x-amzn-ErrorType"]) == (403, [kind])
    assert api.events == []


@pytest.mark.parametrize("path", ["/v1/teams/logistics", "/v1/teams/", "/v1/teams/paymentsx/jobs", "/"])
def test_the_policy_is_the_boundary(gateway, api, path):
    response = gateway.answer(call("GET", path))
    assert response.status == 403
    assert "not allowed to perform execute-api:Invoke" in detail(response)
    assert api.events == []


@pytest.mark.parametrize(
    "path",
    [
        "/v1/teams/payments/../logistics",
        "/v1/teams/payments/%2e%2e/logistics",
        "/v1//teams/payments",
        "/v1/teams/payments/jobs%2f..%2f..",
        "/v1/teams/payments/./jobs",
        "/v1/teams/payments/a%0ab",
        "/v1/teams/payments/a%5cb",
        "http://127.0.0.1:8080/v1/health",
    ],
)
def test_a_path_with_two_readings_is_refused_before_anybody_reads_it(gateway, api, path):
    assert not plain(path)
    response = gateway.answer(call("GET", path))
    assert response.status == 400
    assert api.events == []


def test_a_page_that_pretends_to_be_this_machine_is_refused(gateway, api):
    request = Request(method="GET", path="/v1/health", headers=[("Host", "evil.example:8080")])
    assert gateway.answer(request).status == 403
    assert api.events == []


def test_a_failing_function_is_a_502_and_is_told(gateway, api, failures):
    for result in (
        RuntimeError("boom"),
        "no answer",
        {"statusCode": "200"},
        {"statusCode": 200, "body": "!", "isBase64Encoded": True},
    ):
        api.result = result
        response = gateway.answer(call("GET", "/v1/teams/payments"))
        assert response.status == 502
        assert detail(response) == "Internal server error"
    assert [str(each) for each in failures] == ["boom"]


def test_an_answer_in_base64_is_given_back_as_bytes(gateway, api):
    api.result = {
        "statusCode": 200,
        "body": "AAE=",
        "isBase64Encoded": True,
        "multiValueHeaders": {"X": ["1", "2"]},
    }
    response = gateway.answer(call("GET", "/v1/teams/payments"))
    assert (response.body, response.headers["X"]) == (b"\x00\x01", ["1", "2"])


def test_a_key_that_is_added_works_at_once(gateway, keys):
    assert gateway.answer(call("GET", "/v1/teams/any", key="AKIDROOT", secret="r")).status == 403
    keys.add(
        [
            entry(
                access_key_id="AKIDROOT",
                secret_access_key="r",
                arn=session_arn("admin", "me"),
                policy=full_access(),
            )
        ]
    )
    assert gateway.answer(call("GET", "/v1/teams/any", key="AKIDROOT", secret="r")).status == 200
    assert gateway.answer(call("GET", "/v1/teams/payments")).status == 200


def test_only_the_owner_can_read_the_keys(keys, tmp_path):
    mode = (tmp_path / "credentials.json").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "{}",
        "[1]",
        '[{"access_key_id": "a"}]',
        '[{"access_key_id": "a", "secret_access_key": "b", "arn": "arn:aws:iam::1:role/x", "policies": [{}]}]',
    ],
)
def test_an_unreadable_credentials_file_lets_nobody_in_and_says_why(gateway, api, tmp_path, text):
    (tmp_path / "credentials.json").write_text(text)
    response = gateway.answer(call("GET", "/v1/teams/payments"))
    assert response.status == 503
    assert api.events == []


def test_without_auth_the_owner_is_taken_for_the_named_one_and_other_sites_are_refused(gateway, api):
    anyone = Credential(access_key_id="NOAUTH", secret_access_key="", arn=session_arn("admin", "local"))
    opened = replace(gateway, anyone=anyone)
    host = ("Host", "localhost:8080")
    assert opened.answer(Request(method="GET", path="/v1/teams/x", headers=[host])).status == 200
    assert api.events[0]["requestContext"]["identity"]["userArn"] == anyone.arn
    foreign = Request(method="GET", path="/v1/teams/x", headers=[host, ("Origin", "https://evil.example")])
    assert opened.answer(foreign).status == 403
    own = Request(method="GET", path="/v1/teams/x", headers=[host, ("Origin", "http://localhost:8080")])
    assert opened.answer(own).status == 200


def test_what_is_mounted_beside_the_api_answers_for_itself(gateway, api):
    page = Response(status=200, body=b"page")
    mounted = replace(
        gateway, mounts=(lambda request: page if request.path.startswith("/console") else None,)
    )
    assert mounted.answer(Request(method="GET", path="/console/", headers=[("Host", "127.0.0.1")])) is page
    assert mounted.answer(call("GET", "/v1/teams/payments")).status == 200


@pytest.fixture
def server(gateway) -> Iterator[HttpServer]:
    running = HttpServer(gateway.answer, 0)
    running.start()
    yield running
    running.stop()


def send(server, method, path, *, body=b"", headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_one_connection_serves_many_requests(server, api):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    for _ in range(3):
        connection.request("GET", "/v1/health")
        answer = connection.getresponse()
        assert answer.status == 403
        assert json.loads(answer.read())["title"] == "Forbidden"
    connection.close()


def test_too_much_is_refused_before_it_is_read(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.putrequest("PUT", "/v1/teams/payments")
    connection.putheader("Content-Length", str(11 * 1024 * 1024))
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


@pytest.mark.parametrize(
    ("name", "value", "status"), [("Transfer-Encoding", "chunked", 411), ("Content-Length", "-1", 400)]
)
def test_a_body_of_unknown_length_is_refused(server, name, value, status):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.putrequest("PUT", "/v1/teams/payments")
    connection.putheader(name, value)
    connection.endheaders()
    assert connection.getresponse().status == status
    connection.close()


@pytest.mark.parametrize(
    ("line", "status", "says"),
    [
        ("TRACE /v1/health HTTP/1.1", 501, "Unsupported method ('TRACE')"),
        ("BREW /pot HTTP/1.1", 501, "Unsupported method ('BREW')"),
        ("PRI * HTTP/2.0", 505, "Invalid HTTP version (2.0)"),
        ("GET /v1/health HTTP/x", 400, "Bad request version ('HTTP/x')"),
        ("hello", 400, "Bad request syntax ('hello')"),
        ("GET /" + "x" * 66_000 + " HTTP/1.1", 414, "Request-URI Too Long"),
        ("GET / HTTP/1.1\r\nX: " + "x" * 66_000, 431, "Line too long"),
    ],
    ids=["trace", "brew", "http2", "version", "no-http", "uri", "header"],
)
def test_what_is_no_request_of_the_api_is_refused_as_a_problem(server, api, line, status, says):
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as wire:
        wire.sendall(line.encode() + b"\r\n" + (b"" if status in {414, 431} else b"\r\n"))
        answer = http.client.HTTPResponse(wire)
        answer.begin()
        body = json.loads(answer.read())
        assert answer.status == body["status"] == status
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.headers["Connection"] == "close"
        assert body == {
            "type": "about:blank",
            "status": status,
            "title": http.client.responses[status],
            "detail": says,
            "faults": [],
        }
    assert api.events == []


@pytest.mark.skipif(which("curl") is None, reason="curl is not installed here")
def test_curl_signs_its_way_in(server, api):
    def curl(*words):
        command = [
            "curl",
            "-sS",
            "--aws-sigv4",
            f"aws:amz:{REGION}:execute-api",
            "--user",
            "AKIDOWNER:owners-secret",
        ]
        done = subprocess.run(
            [*command, *words], capture_output=True, text=True, check=True, env={"PATH": os.environ["PATH"]}
        )
        return json.loads(done.stdout)

    assert curl(f"{server.url}/v1/teams/payments") == {"ok": True}
    put = curl(
        "-X",
        "PUT",
        "-d",
        '{"tier": "bulk"}',
        "-H",
        "Content-Type: application/json",
        f"{server.url}/v1/teams/payments/jobs/a",
    )
    assert put == {"ok": True}
    assert api.events[-1]["body"] == '{"tier": "bulk"}'
    assert curl(f"{server.url}/v1/teams/logistics")["title"] == "Forbidden"
