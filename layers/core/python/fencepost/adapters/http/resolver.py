"""Names to addresses, in bounded time."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Protocol

LOOKUPS_AT_ONCE = 64

Found = tuple[str, ...]
Lookup = Callable[[str, int], Found]


class UnresolvedError(Exception):
    """The name has no address, or none was found in time. Nothing was sent."""


class Resolver(Protocol):
    """Obligation: returns *every* address that the name has now, at least one, or raises UnresolvedError."""

    def resolve(self, host: str, port: int, deadline: float) -> Found:
        """The addresses in the order in which to try them; `deadline` is an instant of the monotonic clock."""


def system_lookup(host: str, port: int) -> Found:
    """What the operating system's resolver says; blocks for as long as that likes. Raises OSError."""
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return tuple(dict.fromkeys(str(answer[4][0]) for answer in answers))


class SystemResolver:
    """The operating system's resolver, which knows no deadline: each lookup has a thread, abandoned when late.

    At most 64 lookups are under way, so that a dead name server costs threads only up to there.
    """

    def __init__(self, *, monotonic: Callable[[], float], lookup: Lookup = system_lookup) -> None:
        self._monotonic = monotonic
        self._lookup = lookup
        self._room = threading.BoundedSemaphore(LOOKUPS_AT_ONCE)

    def resolve(self, host: str, port: int, deadline: float) -> Found:
        left = deadline - self._monotonic()
        if left <= 0 or not self._room.acquire(timeout=left):
            raise UnresolvedError(f"{host}: no time left to look it up")
        answers: SimpleQueue[Found | OSError | UnicodeError] = SimpleQueue()
        threading.Thread(target=self._ask, args=(host, port, answers), daemon=True).start()
        try:
            answer = answers.get(timeout=max(0.0, deadline - self._monotonic()))
        except Empty:
            raise UnresolvedError(f"{host}: the name server did not answer in time") from None
        if isinstance(answer, Exception):
            raise UnresolvedError(f"{host}: {answer.args[-1] if answer.args else 'no such name'}")
        if not answer:
            raise UnresolvedError(f"{host}: has no address")
        return answer

    def _ask(self, host: str, port: int, answers: SimpleQueue[Found | OSError | UnicodeError]) -> None:
        try:
            answers.put(self._lookup(host, port))
        except (OSError, UnicodeError) as error:
            answers.put(error)
        finally:
            self._room.release()
