"""Nobody but the page that this run's token opened reaches the stage; what it sends arrives signed and as it was."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

import pytest

from fencepost.client import Fencepost
from fencepost.client.errors import ConfigurationError
from fencepost.client.transport import HttpAnswer, NoAnswerError
from fencepost.console.guard import Guard
from fencepost.console.pages import POLICY
from fencepost.console.serving import console, serving
from fencepost.console.site import Console
from fencepost.local.gateway.request import Request
from tests.support.clients import ENDPOINT, keys_of

HOST = "127.0.0.1:4321"
OWN = {"Host": HOST, "Origin": f"http://{HOST}", "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}
VISIT = {"Host": HOST, "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}
SESSION = "fencepost-console-4321=the-session"
CALL = {**OWN, "Cookie": SESSION, "Fencepost-Console": "1"}


class Stage:
    """`Transport`: keeps what it is sent, answers as told."""

    def __init__(self):
        self.requests = []
        headers = {"content-type": "application/json", "etag": '"7"', "set-cookie": "a=b", "server": "x"}
        self.answer: HttpAnswer | Exception = HttpAnswer(status=200, headers=headers, body=b'{"ok":true}')

    def send(self, request):
        self.requests.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def stage():
    return Stage()


@pytest.fixture
def site(stage):
    caller = Fencepost(endpoint=ENDPOINT, team="payments", keys=keys_of(), transport=stage).caller
    return Console(caller=caller, team="payments", guard=Guard(token="the-token", session="the-session"))


def ask(site, path, headers=CALL, method="GET", query="", body=b""):
    request = Request(method=method, path=path, query=query, headers=list(headers.items()), body=body)
    return site(request)


class TestOpening:
    def test_the_token_buys_a_cookie_and_leaves_the_address_bar(self, site):
        answer = ask(site, "/console/", VISIT, query="token=the-token")
        assert (answer.status, answer.headers["Location"]) == (303, ["/console/"])
        (cookie,) = answer.headers["Set-Cookie"]
        assert cookie == f"{SESSION}; Path=/console; HttpOnly; SameSite=Strict"
        assert "the-token" not in cookie

    @pytest.mark.parametrize("token", ["", "wrong", "the-toke", "the-token2"])
    def test_another_token_opens_nothing(self, site, token):
        answer = ask(site, "/console/", VISIT, query=f"token={token}&token={token}")
        assert "Set-Cookie" not in answer.headers
        assert answer.status in {200, 403}

    def test_the_page_itself_holds_no_secret_and_is_shown_to_any_visitor(self, site):
        answer = ask(site, "/console/", VISIT)
        assert (answer.status, "Set-Cookie" in answer.headers) == (200, False)
        assert b"the-token" not in answer.body
        assert b"the-session" not in answer.body

    def test_each_run_has_its_own(self, site):
        one, other = console(site.caller, None).guard, console(site.caller, None).guard
        assert len({one.token, one.session, other.token, other.session}) == 4
        assert min(map(len, (one.token, one.session))) >= 32
        assert "token" not in repr(one).replace("Guard", "")

    def test_nothing_else_is_the_consoles(self, site):
        assert ask(site, "/v1/teams/payments") is None
        assert ask(site, "/consoles") is None
        assert ask(site, "/console", VISIT).headers["Location"] == ["/console/"]


class TestStrangers:
    @pytest.mark.parametrize(
        "strange",
        [
            {"Host": "evil.example.com:4321"},
            {"Host": "127.0.0.1.evil.example.com"},
            {"Host": ""},
            {"Origin": "http://evil.example.com"},
            {"Origin": "http://127.0.0.1:9999"},
            {"Origin": "http://localhost:4321"},
            {"Origin": "https://127.0.0.1:4321"},
            {"Origin": "null"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
            {"Sec-Fetch-Site": "none"},
        ],
        ids=str,
    )
    @pytest.mark.parametrize("method", ["GET", "POST"])
    def test_a_page_of_another_origin_reaches_nothing(self, site, stage, strange, method):
        answer = ask(site, "/console/api/v1/teams/payments/jobs", {**CALL, **strange}, method)
        assert (answer.status, stage.requests) == (403, [])

    def test_no_host_no_answer(self, site, stage):
        without = {name: value for name, value in CALL.items() if name != "Host"}
        assert ask(site, "/console/api/v1/health", without).status == 403
        twice = Request(
            method="GET", path="/console/api/v1/health", headers=[*CALL.items(), ("Host", "evil.example.com")]
        )
        assert site(twice).status == 403
        assert stage.requests == []

    def test_a_change_without_an_origin_is_refused(self, site, stage):
        without = {name: value for name, value in CALL.items() if name != "Origin"}
        assert ask(site, "/console/api/v1/teams/payments/jobs/x/run", without, "POST").status == 403
        assert stage.requests == []

    def test_it_cannot_be_asked_what_it_would_allow(self, site, stage):
        asking = {"Host": HOST, "Origin": "http://evil.example.com", "Access-Control-Request-Method": "PUT"}
        answer = ask(site, "/console/api/v1/teams/payments/jobs/x", asking, "OPTIONS")
        assert (answer.status, stage.requests) == (403, [])
        own = ask(site, "/console/api/v1/teams/payments/jobs/x", CALL, "OPTIONS")
        assert (own.status, stage.requests) == (404, [])
        assert not [name for name in (*answer.headers, *own.headers) if name.startswith("Access-Control")]

    @pytest.mark.parametrize(
        "without",
        [
            {"Cookie": ""},
            {"Cookie": "fencepost-console-4321=another"},
            {"Cookie": "fencepost-console-4322=the-session"},
            {"Cookie": "fencepost-console-4321=the-token"},
            {"Fencepost-Console": ""},
            {"Fencepost-Console": "2"},
        ],
        ids=str,
    )
    @pytest.mark.parametrize("path", ["/console/api/v1/health", "/console/session"])
    def test_a_call_without_cookie_or_header_is_refused(self, site, stage, without, path):
        answer = ask(site, path, {**CALL, **without})
        assert (answer.status, stage.requests) == (401, [])
        assert "Open the address" in json.loads(answer.body)["detail"]

    def test_a_broken_cookie_is_no_session(self, site):
        assert ask(site, "/console/session", {**CALL, "Cookie": 'x="\x00; ;;=' + SESSION}).status == 401

    def test_a_visit_from_elsewhere_gets_the_empty_page_and_nothing_more(self, site, stage):
        linked = {"Host": HOST, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        assert ask(site, "/console/", linked).status == 200
        assert ask(site, "/console/api/v1/health", {**linked, "Fencepost-Console": "1"}).status == 401
        assert stage.requests == []


class TestPages:
    @pytest.mark.parametrize(
        ("name", "kind"),
        [
            ("", "text/html; charset=utf-8"),
            ("console.js", "text/javascript; charset=utf-8"),
            ("console.css", "text/css; charset=utf-8"),
            ("inter.woff2", "font/woff2"),
            ("icon.svg", "image/svg+xml"),
            ("licenses.txt", "text/plain; charset=utf-8"),
        ],
    )
    def test_every_file_is_shut_in(self, site, name, kind):
        answer = ask(site, f"/console/{name}", {**OWN, "Sec-Fetch-Mode": "no-cors"})
        assert (answer.status, answer.headers["Content-Type"]) == (200, [kind])
        assert answer.headers["Content-Security-Policy"] == [POLICY]
        assert answer.headers["X-Content-Type-Options"] == ["nosniff"]
        assert answer.headers["Referrer-Policy"] == ["no-referrer"]
        assert answer.headers["Cache-Control"] == ["no-store"]

    def test_the_page_may_talk_to_its_own_server_alone(self):
        rules = dict(rule.split(" ", 1) for rule in POLICY.split("; "))
        assert rules.pop("default-src") == "'none'"
        assert set(rules.values()) <= {"'self'", "'none'"}
        assert rules["frame-ancestors"] == "'none'"

    def test_no_file_names_another_host(self, site):
        for name in ("index.html", "console.css"):
            body = ask(site, f"/console/{name}", VISIT).body
            assert b"http://" not in body
            assert b"https://" not in body

    @pytest.mark.parametrize(
        "path", ["/console/nothing", "/console/../guard.py", "/console/static/", "/console/x.py"]
    )
    def test_nothing_else_is_served(self, site, path):
        assert ask(site, path, VISIT).status == 404

    def test_pages_are_read_only(self, site):
        assert ask(site, "/console/", CALL, "POST").status == 405


class TestForwarding:
    def test_a_call_arrives_signed_and_as_it_was(self, site, stage):
        headers = {**CALL, "Content-Type": "application/json", "If-Match": '"3"', "Idempotency-Key": "k"}
        answer = ask(
            site,
            "/console/api/v1/teams/payments/jobs/~abc",
            headers,
            "PUT",
            query="dry_run=true&label=a%3Ab+c&label=%7E",
            body=b'{"tier":"bulk"}',
        )
        (sent,) = stage.requests
        assert (sent.method, sent.body) == ("PUT", b'{"tier":"bulk"}')
        assert sent.url == f"{ENDPOINT}/v1/teams/payments/jobs/~abc?dry_run=true&label=a%3Ab%20c&label=~"
        assert sent.headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIDOWNER/")
        assert (sent.headers["If-Match"], sent.headers["Idempotency-Key"]) == ('"3"', "k")
        assert not {"Cookie", "Origin", "Host", "Fencepost-Console"} & set(sent.headers)
        assert (answer.status, answer.body) == (200, b'{"ok":true}')
        assert answer.headers["etag"] == ['"7"']
        assert not {"set-cookie", "server"} & set(answer.headers)

    def test_refusals_of_the_stage_are_passed_on(self, site, stage):
        stage.answer = HttpAnswer(
            status=422, headers={"content-type": "application/problem+json"}, body=b'{"a":1}'
        )
        answer = ask(site, "/console/api/v1/health")
        assert (answer.status, answer.body) == (422, b'{"a":1}')

    @pytest.mark.parametrize(
        "path",
        [
            "/console/api/",
            "/console/api/v2/health",
            "/console/api/v1",
            "/console/api/v1/",
            "/console/api/v1//health",
        ],
    )
    def test_only_calls_of_the_api_are_passed_on(self, site, stage, path):
        assert ask(site, path).status in {400, 404}
        assert stage.requests == []

    @pytest.mark.parametrize(
        "path", ["/console/api/v1/../v1/health", "/console/api/v1/%2e%2e/x", "/console/api/v1/a%2Fb"]
    )
    def test_a_path_with_two_readings_is_refused(self, site, stage, path):
        assert (ask(site, path).status, stage.requests) == (400, [])

    def test_what_keeps_the_stage_away_is_told(self, site, stage):
        stage.answer = NoAnswerError("timed out")
        told = json.loads(ask(site, "/console/api/v1/health").body)
        assert (told["status"], told["detail"]) == (502, f"no answer from {ENDPOINT}: timed out")
        stage.answer = ConfigurationError("no AWS credentials: the token has expired")
        assert "has expired" in json.loads(ask(site, "/console/api/v1/health").body)["detail"]

    def test_the_page_learns_where_it_is_and_no_credential(self, site):
        answer = ask(site, "/console/session")
        assert json.loads(answer.body) == {
            "endpoint": ENDPOINT,
            "team": "payments",
            "local": False,
            "region": "eu-central-1",
        }


def test_it_is_served_on_loopback_for_as_long_as_it_is_wanted(site):
    with serving(site, 0) as url:
        parts = urlsplit(url)
        assert (parts.hostname, parts.path, parts.query) == ("127.0.0.1", "/console/", "token=the-token")
        connection = http.client.HTTPConnection(parts.netloc, timeout=10)
        connection.request("GET", "/")
        answer = connection.getresponse()
        assert (answer.status, answer.headers["Location"]) == (303, "/console/")
        answer.read()
        connection.request("GET", f"{parts.path}?{parts.query}")
        assert connection.getresponse().headers["Set-Cookie"].startswith("fencepost-console-")
        connection.close()
    with pytest.raises(ConnectionRefusedError):
        http.client.HTTPConnection(parts.netloc, timeout=10).request("GET", "/")
