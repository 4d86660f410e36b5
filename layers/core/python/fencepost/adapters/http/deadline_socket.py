"""A socket for one exchange: every read and write gets only the time that is left, and reading ends at a size.

A timeout on a socket bounds one read; a peer that sends a byte now and then outlives it for ever. Here the time for
each read shrinks towards one deadline.
"""

from __future__ import annotations

import io
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

_CHUNK = 16_384


class AnswerTooLargeError(OSError):
    """The peer sent more than one exchange may receive."""


class DeadlineSocket:
    """Takes the place of a connected socket in `http.client`. Whoever made it ends it with `shut`."""

    def __init__(
        self, sock: socket.socket, *, deadline: float, monotonic: Callable[[], float], limit: int
    ) -> None:
        self._sock = sock
        self._deadline = deadline
        self._monotonic = monotonic
        self._room = limit

    def sendall(self, data: ReadableBuffer) -> None:
        """All of `data`, or TimeoutError at the deadline."""
        view = memoryview(data).cast("B")
        while view:
            self._arm()
            view = view[self._sock.send(view[:_CHUNK]) :]

    def recv_into(self, buffer: WriteableBuffer) -> int:
        """What has come, 0 at the end; TimeoutError at the deadline, AnswerTooLargeError beyond the limit."""
        self._arm()
        count = self._sock.recv_into(buffer)
        self._room -= count
        if self._room < 0:
            raise AnswerTooLargeError("the answer is too large")
        return count

    def makefile(self, mode: str = "rb", *_: object, **__: object) -> io.BufferedReader:
        """The reading end that `http.client` asks for."""
        if mode != "rb":
            raise ValueError(f"only reading is offered, not {mode}")
        return io.BufferedReader(_Reader(self), _CHUNK)

    def settimeout(self, timeout: float | None) -> None:
        """The deadline stands, whatever timeout is asked for."""

    def close(self) -> None:
        """`http.client` closes before it has read to the end; the owner of the exchange shuts instead."""

    def shut(self) -> None:
        """Ends the connection."""
        self._sock.close()

    def _arm(self) -> None:
        left = self._deadline - self._monotonic()
        if left <= 0:
            raise TimeoutError("the deadline passed")
        self._sock.settimeout(left)


class _Reader(io.RawIOBase):
    """Raw reads from a DeadlineSocket."""

    def __init__(self, sock: DeadlineSocket) -> None:
        self._sock = sock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        return self._sock.recv_into(buffer)
