"""The global options may stand anywhere on the line; Typer wants them before the command, so they are moved there."""

from __future__ import annotations

from collections.abc import Sequence

VALUED = frozenset({"--endpoint", "--team", "--profile", "--region"})
FLAGS = frozenset({"--json"})


def hoisted(arguments: Sequence[str]) -> list[str]:
    """The same line with the global options first. What follows ``--`` stays as it is."""
    first: list[str] = []
    rest: list[str] = []
    waiting = list(arguments)
    while waiting:
        word = waiting.pop(0)
        name, equals, _ = word.partition("=")
        if word == "--":
            return [*first, *rest, word, *waiting]
        if word in FLAGS or (equals and name in VALUED):
            first.append(word)
        elif word in VALUED:
            first += [word, *waiting[:1]]
            del waiting[:1]
        else:
            rest.append(word)
    return [*first, *rest]
