"""The one target of all: an HTTP server in a process of its own that answers after 20 ms and writes down who came when.

`GET /arrivals` answers what came so far: pairs of the path and the epoch in seconds.
"""

from __future__ import annotations

import asyncio
import json
import sys

from fencepost.runtime.clock import utc_now

ANSWERS_AFTER = 0.02
_LENGTH = b"content-length:"


class Target:
    """Remembers every POST."""

    def __init__(self) -> None:
        self.arrivals: list[tuple[str, float]] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, request after request."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                at = utc_now().timestamp()
                line, *headers = head.lower().split(b"\r\n")
                length = next((int(each[len(_LENGTH) :]) for each in headers if each.startswith(_LENGTH)), 0)
                await reader.readexactly(length)
                method, path, _ = line.decode().split(" ")
                writer.write(await self._answer(method, path, at))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _answer(self, method: str, path: str, at: float) -> bytes:
        if method == "get":
            body = json.dumps(self.arrivals).encode()
        else:
            self.arrivals.append((path, at))
            await asyncio.sleep(ANSWERS_AFTER)
            body = b""
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


async def main() -> None:
    """Serves on a free port, which is printed, until it is ended."""
    server = await asyncio.start_server(Target().serve, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
