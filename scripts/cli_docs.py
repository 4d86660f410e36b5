"""Writes the table of commands into docs/cli.md, from the program's own help."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from fencepost.cli.app import app

PAGE = Path(__file__).resolve().parent.parent / "docs" / "cli.md"
BEGIN, END = "<!-- commands: written by scripts/cli_docs.py -->", "<!-- end of commands -->"
_EXAMPLE = re.compile(r"Example: (fencepost .+)")


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - Typer's own
    """Every command that does something, by its words."""
    below = getattr(command, "commands", {})
    if path and (not below or getattr(command, "invoke_without_command", False)):
        yield " ".join(path), command
    for name, each in below.items():
        yield from commands(each, (*path, name))


def paragraphs(command: Any) -> list[str]:  # noqa: ANN401 - Typer's own
    """The paragraphs of a command's help, each on one line."""
    return [" ".join(each.split()) for each in (command.help or "").split("\n\n") if each.strip()]


def section() -> str:
    """Commands with what they do, then their examples."""
    known = list(commands(typer.main.get_command(app)))
    rows = [f"| `{name}` | {paragraphs(command)[0]} |" for name, command in known]
    examples = [
        found[1]
        for _, command in known
        for each in paragraphs(command)
        if (found := _EXAMPLE.fullmatch(each)) is not None
    ]
    table = "\n".join(["| command | what it does |", "|---|---|", *rows])
    return f"{table}\n\n```sh\n" + "\n".join(examples) + "\n```\n"


def page(text: str) -> str:
    """The page with its table anew."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{section()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wrote {PAGE.name}")
