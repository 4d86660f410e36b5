"""Lists as iterators: the next page is fetched when the one before is used up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from fencepost.client.calls import Call, Caller
from fencepost.client.decoding import decode
from fencepost.client.errors import UnexpectedAnswerError

T = TypeVar("T")
U = TypeVar("U")


class Listing(Iterator[T], Generic[T, U]):
    """The items of a list, page after page, and what its pages name as there though nobody can read it."""

    def __init__(
        self, pages: Iterator[Mapping[str, Any]], item: Callable[[Any], T], unread: Callable[[Any], U]
    ) -> None:
        self._unread = unread
        self._unreadable: list[U] = []
        self._items = self._walk(pages, item)

    def __next__(self) -> T:
        """The next item."""
        return next(self._items)

    @property
    def unreadable(self) -> tuple[U, ...]:
        """What the pages fetched so far could not show: all of it, once the list is used up."""
        return tuple(self._unreadable)

    def _walk(self, pages: Iterator[Mapping[str, Any]], item: Callable[[Any], T]) -> Iterator[T]:
        for page in pages:
            self._unreadable += [self._unread(each) for each in page.get("unreadable", ())]
            for each in page["items"]:
                yield item(each)


def walk(caller: Caller, at: str, query: Mapping[str, object], kind: type[T]) -> Iterator[T]:
    """Every item of the list at path `at`, page after page."""
    for page in pages(caller, at, query):
        for item in page["items"]:
            yield decode(kind, item)


def pages(caller: Caller, at: str, query: Mapping[str, object]) -> Iterator[Mapping[str, Any]]:
    """The pages of the list at path `at`, as they came. Raises UnexpectedAnswerError for what is no list."""
    cursor: object = None
    while True:
        answer = caller.call(Call(method="GET", path=at, query={**query, "cursor": cursor})).body
        if not isinstance(answer, Mapping) or not isinstance(answer.get("items"), list):
            raise UnexpectedAnswerError("a list was expected")
        yield answer
        cursor = answer.get("next")
        if cursor is None:
            return
