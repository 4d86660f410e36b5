"""A store before whose first transaction somebody else does something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Meanwhile:
    """`happens` once, when its caller has read what it goes by and is about to write."""

    def __init__(self, inner: Any, happens: Callable[[], None]) -> None:
        self._inner = inner
        self._happens = happens
        self._over = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def transact(self, actions: Any, token: str | None = None) -> Any:
        """As the store's own."""
        if not self._over:
            self._over = True
            self._happens()
        return self._inner.transact(actions, token)
