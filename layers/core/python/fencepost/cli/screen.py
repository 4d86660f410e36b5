"""What people see. Names, notes and answers are other people's text, and stay text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import IO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

_MOVING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but tab and newline, and those that turn the direction of writing."""
INSTEAD = "\N{REPLACEMENT CHARACTER}"


class Screen(Console):
    """A console that reads no markup in what it prints, and passes no character on that could move a terminal."""

    def __init__(
        self,
        *,
        stderr: bool = False,
        width: int | None = None,
        file: IO[str] | None = None,
        force_terminal: bool | None = None,
    ) -> None:
        super().__init__(
            stderr=stderr,
            width=width,
            file=file,
            force_terminal=force_terminal,
            highlight=False,
            markup=False,
        )

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """As rich renders, with a mark for each such character."""
        for segment in super().render(renderable, options):
            if segment.control is None and _MOVING.search(segment.text):
                yield Segment(_MOVING.sub(INSTEAD, segment.text), segment.style)
            else:
                yield segment
