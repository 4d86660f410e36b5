"""The way out, against a real server on this machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from fencepost.client.transport import HttpRequest, NoAnswerError, Urllib3Transport


class Served(BaseHTTPRequestHandler):
    asked: list[tuple[str, str, bytes]]
    release: threading.Event

    def do_GET(self) -> None:
        self.answer()

    def do_PUT(self) -> None:
        self.answer()

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.asked.append((self.command, self.path, body))
        if self.path == "/never":
            self.release.wait(10)
            return
        if self.path == "/cut":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            return
        self.send_response(302 if self.path == "/moved" else 418)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's word
        pass


@pytest.fixture
def served() -> Iterator[tuple[str, type[Served]]]:
    class handler(Served):  # noqa: N801 - one for each test
        asked: list[tuple[str, str, bytes]] = []  # noqa: RUF012 - what this test's requests were
        release = threading.Event()

    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", handler
    handler.release.set()
    server.shutdown()
    server.server_close()
    thread.join()


def test_any_status_is_an_answer_and_bytes_arrive_as_they_are(served):
    url, handler = served

    answer = Urllib3Transport().send(
        HttpRequest(method="PUT", url=f"{url}/a%2Fb?x=%20y", headers={}, body=b"\x00\xff")
    )

    assert (answer.status, answer.body, answer.headers["content-length"]) == (418, b"{}", "2")
    assert handler.asked == [("PUT", "/a%2Fb?x=%20y", b"\x00\xff")]


def test_no_redirect_is_followed(served):
    url, handler = served

    assert Urllib3Transport().send(HttpRequest(method="GET", url=f"{url}/moved", headers={})).status == 302
    assert len(handler.asked) == 1


@pytest.mark.parametrize("path", ["/never", "/cut"])
def test_no_answer_in_time_is_none(served, path):
    url, handler = served

    with pytest.raises(NoAnswerError):
        Urllib3Transport(read=0.2).send(HttpRequest(method="GET", url=url + path, headers={}))

    assert len(handler.asked) == 1


def test_a_closed_port_is_told_in_few_words():
    with pytest.raises(NoAnswerError, match=r"^[^<>]{5,60}$"):
        Urllib3Transport().send(HttpRequest(method="GET", url="http://127.0.0.1:9/", headers={}))
