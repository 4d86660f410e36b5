"""The command line `fencepost`, a thin layer over the API."""

from __future__ import annotations


def main() -> None:
    """The entry point of the program."""
    from fencepost.cli.app import app  # noqa: PLC0415 - the package costs nothing until it is run

    app()
