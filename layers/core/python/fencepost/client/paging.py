"""Lists as iterators: the next page is fetched when the one before is used up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from fencepost.client.calls import Call, Caller
from fencepost.client.decoding import decode
from fencepost.client.errors import UnexpectedAnswerError

T = TypeVar("T")


def walk(caller: Caller, at: str, query: Mapping[str, object], kind: type[T]) -> Iterator[T]:
    """Every item of the list at path `at`, page after page."""
    cursor: object = None
    while True:
        answer = caller.call(Call(method="GET", path=at, query={**query, "cursor": cursor})).body
        if not isinstance(answer, Mapping) or not isinstance(answer.get("items"), list):
            raise UnexpectedAnswerError("a list was expected")
        for item in answer["items"]:
            yield decode(kind, item)
        cursor = answer.get("next")
        if cursor is None:
            return
