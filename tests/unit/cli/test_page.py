"""The page about the program says what its help says."""

from __future__ import annotations

from scripts.cli_docs import PAGE, page


def test_the_table_of_commands_is_current():
    text = PAGE.read_text(encoding="utf-8")

    assert text == page(text), "run: python scripts/cli_docs.py"
