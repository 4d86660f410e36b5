"""Other people's text on one's own terminal."""

from __future__ import annotations

import io

import pytest
from rich.table import Table
from rich.text import Text

from fencepost.cli.screen import Screen
from tests.support.api import Front


def printed(what: object) -> str:
    screen = Screen(file=io.StringIO(), width=80)
    screen.print(what)
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


@pytest.mark.parametrize("evil", ["\x1b[31mred", "\x1b]0;title\x07", "\x9b2J", "\u202eevil", "\x7f"])
def test_no_character_of_others_moves_the_terminal(evil):
    table = Table("note")
    table.add_row(evil)
    for what in (evil, Text(evil), table):
        assert evil[0] not in printed(what)
        assert "\N{REPLACEMENT CHARACTER}" in printed(what)


@pytest.mark.parametrize("text", ["[bold]x[/bold]", "[/red]", "[link=https://example.com]here[/link]"])
def test_what_looks_like_markup_is_shown_as_it_is(text):
    table = Table("note")
    table.add_row(text)
    assert text in printed(text)
    assert text in printed(table)


def test_colours_of_our_own_stay():
    screen = Screen(file=io.StringIO(), width=80, force_terminal=True)
    screen.print(Text("DEAD", style="red"))
    assert isinstance(screen.file, io.StringIO)
    assert "\x1b[31m" in screen.file.getvalue()


def test_a_jobs_description_and_the_note_of_a_pause_are_shown_as_they_are(fencepost, front: Front):
    front.job("nightly", description="\x1b[2J [/red] [bold]x[/bold]")
    front.post("/v1/teams/payments/jobs/nightly/pause", {"note": "\x1b]0;title\x07 [/red]"})

    shown = fencepost("job", "get", "nightly")
    told = fencepost("revisions", "--job", "nightly")

    assert (shown.status, told.status) == (0, 0)
    assert "[2J [/red] [bold]x[/bold]" in shown.out
    assert "[/red]" in told.out
    assert "\x1b" not in shown.out + told.out
