"""The sockets: HTTP/1.1 with keep-alive on loopback, a thread per connection, bodies within API Gateway's limit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from fencepost.local.gateway.request import Request, Response, problem

BODY_LIMIT = 10 * 1024 * 1024
IDLE_SECONDS = 30.0
Answer = Callable[[Request], Response]


class HttpServer:
    """Listens on 127.0.0.1; `port` 0 takes any free one. The port is bound on construction, served from `start`."""

    def __init__(self, answer: Answer, port: int, *, name: str = "gateway") -> None:
        self._server = _Server(answer, port)
        self._thread = threading.Thread(target=self._server.serve_forever, name=name, daemon=True)

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Where to call."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Serves until `stop`."""
        self._thread.start()

    def stop(self) -> None:
        """Takes no further connection and lets the port go; answers under way may still be written."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, answer: Answer, port: int) -> None:
        self.answer = answer
        super().__init__(("127.0.0.1", port), _Exchange)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the base class says
        """A connection that broke off is the caller's affair."""


class _Exchange(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server_version = "Fencepost"
    sys_version = ""
    timeout = IDLE_SECONDS
    disable_nagle_algorithm = True
    server: _Server

    def handle_any(self) -> None:
        """Reads the body, asks for the answer, writes it in one piece."""
        body = self._body()
        if isinstance(body, Response):
            self.close_connection = True
            self._write(body)
            return
        path, _, query = self.path.partition("?")
        request = Request(
            method=self.command,
            path=path,
            query=query,
            headers=list(self.headers.items()),
            body=body,
            source_ip=str(self.client_address[0]),
        )
        self._write(self.server.answer(request))

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = handle_any  # noqa: N815 - the names that the base class looks for

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the base class cannot read, or has no method for: refused like everything else, and the last of its
        connection.
        """
        del explain
        self.close_connection = True
        title = HTTPStatus(code).phrase
        kind = title.title().replace(" ", "") + "Exception"
        self._write(problem(code, title, message or title, kind=kind))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as the base class says
        """Requests are logged by the API function."""

    def _body(self) -> bytes | Response:
        if self.headers.get("Transfer-Encoding") is not None:
            return problem(411, "Length Required", "send Content-Length", kind="LengthRequiredException")
        text = self.headers.get("Content-Length", "0")
        if not (text.isascii() and text.isdigit()):
            return problem(400, "Bad Request", "Content-Length is no number", kind="BadRequestException")
        if int(text) > BODY_LIMIT:
            detail = f"the body has {text} bytes; at most {BODY_LIMIT} are taken"
            return problem(413, "Content Too Large", detail, kind="RequestTooLargeException")
        return self.rfile.read(int(text))

    def _write(self, response: Response) -> None:
        lines = [f"HTTP/1.1 {response.status} {self.responses.get(response.status, ('',))[0]}"]
        given = [(name, value) for name, values in response.headers.items() for value in values]
        lines += [f"{name}: {value}".replace("\r", " ").replace("\n", " ") for name, value in given]
        lines.append(f"Content-Length: {len(response.body)}")
        if self.close_connection:
            lines.append("Connection: close")
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", errors="replace")
        self.wfile.write(head if self.command == "HEAD" else head + response.body)
