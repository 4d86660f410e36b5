"""The program's commands, put together."""

from __future__ import annotations

import typer

from fencepost.cli.local import app as local

app = typer.Typer(
    name="fencepost",
    help="Cron as a service for many teams: on time, one owner per firing, proven afterwards.",
    no_args_is_help=True,
    add_completion=True,
)
app.add_typer(local, name="local")


@app.callback()
def fencepost() -> None:
    """Cron as a service for many teams: on time, one owner per firing, proven afterwards."""
