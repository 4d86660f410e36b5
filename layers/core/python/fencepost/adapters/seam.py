"""The one seam around every port: telemetry, counts and faults are attached here, never inside adapters.

`seamed(store, "store", counter, telemetry)` behaves like `store`; each call goes through `counter`, which goes on
through `telemetry`, which goes on to the store. What a method yields page by page goes through once per page.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial, wraps
from inspect import isgeneratorfunction
from itertools import count
from typing import Any, Protocol, TypeVar, cast

T = TypeVar("T")
P = TypeVar("P")


@dataclass(frozen=True, slots=True, kw_only=True)
class PortCall:
    """One call of a port's method, or one page of it (`page` counts from 0)."""

    port: str
    method: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    page: int = 0


class End:
    """The result of asking for a page when none is left."""


END = End()


class Around(Protocol):
    """What is put around calls. Obligation: returns what `proceed` returned, or says by an exception why not.

    It may call `proceed` not at all, once, or (where the port allows repeats) again; and it may raise after it, which
    is how lost answers are tested.
    """

    def __call__(self, call: PortCall, proceed: Callable[[], T], /) -> T:
        """The result of the call."""


def seamed(port: P, name: str, *arounds: Around) -> P:
    """`port` behind the seam; the first of `arounds` is the outermost."""
    return cast("P", _Seam(port, name, arounds)) if arounds else port


class _Seam:
    """Stands for the port, attribute by attribute; its methods are wrapped when they are first asked for."""

    def __init__(self, port: object, name: str, arounds: tuple[Around, ...]) -> None:
        self._port = port
        self._name = name
        self._arounds = arounds

    def __getattr__(self, attribute: str) -> Any:  # noqa: ANN401 - whatever the port has
        target = getattr(self._port, attribute)
        if not callable(target):
            return target
        wrapped = self._pages(target) if isgeneratorfunction(target) else self._call(target)
        self.__dict__[attribute] = wrapped
        return wrapped

    def _call(self, target: Callable[..., T]) -> Callable[..., T]:
        @wraps(target)
        def call(*args: object, **kwargs: object) -> T:
            described = PortCall(port=self._name, method=target.__name__, args=args, kwargs=kwargs)
            return _through(self._arounds, described, partial(target, *args, **kwargs))

        return call

    def _pages(self, target: Callable[..., Iterator[T]]) -> Callable[..., Iterator[T]]:
        @wraps(target)
        def pages(*args: object, **kwargs: object) -> Iterator[T]:
            source = target(*args, **kwargs)
            for number in count():
                described = PortCall(
                    port=self._name, method=target.__name__, args=args, kwargs=kwargs, page=number
                )
                page = _through(self._arounds, described, partial(next, source, END))
                if isinstance(page, End):
                    return
                yield page

        return pages


def _through(arounds: tuple[Around, ...], call: PortCall, innermost: Callable[[], T]) -> T:
    """There is at least one: a port without arounds stands behind no seam."""
    if len(arounds) == 1:
        return arounds[0](call, innermost)
    return arounds[0](call, lambda: _through(arounds[1:], call, innermost))


class CallCounter:
    """An around that counts calls by port and method, pages one by one; failed calls count too. Thread-safe."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def __call__(self, call: PortCall, proceed: Callable[[], T], /) -> T:
        """Counts the call unless it found that no page was left."""
        result: T | None = None
        try:
            result = proceed()
        finally:
            if not isinstance(result, End):
                with self._lock:
                    self._counts[call.port, call.method] += 1
        return result

    def of(self, port: str, method: str | None = None) -> int:
        """How many calls of the port's method, or of the port."""
        with self._lock:
            return sum(
                number
                for (each, name), number in self._counts.items()
                if each == port and method in {None, name}
            )

    def clear(self) -> None:
        """Counts from nothing again."""
        with self._lock:
            self._counts.clear()
