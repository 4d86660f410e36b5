"""The command line `fencepost`, over the client library."""

from __future__ import annotations


def main() -> None:
    """The entry point of the program."""
    import sys  # noqa: PLC0415 - the package costs nothing until it is run

    from fencepost.cli.app import run  # noqa: PLC0415 - the same
    from fencepost.cli.session import Surroundings  # noqa: PLC0415 - the same

    sys.exit(run(sys.argv[1:], Surroundings.here()))
