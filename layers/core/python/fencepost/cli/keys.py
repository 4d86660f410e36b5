"""`fencepost key`: what receivers verify the team's calls with."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from fencepost.cli import drawing
from fencepost.cli.session import session
from fencepost.client.keys import MadeKey, SigningKeys

app = typer.Typer(no_args_is_help=True, help="Signing keys: what receivers verify the team's calls with.")

Scheme = Annotated[str, typer.Option(help="v1, a shared secret, or v1a, a pair whose public half is shown.")]
Note = Annotated[str | None, typer.Option(help="Why, for the audit trail.")]


@app.command("list")
def browse(context: typer.Context) -> None:
    """List the team's signing keys, without their secrets.

    Example: fencepost key list
    """
    run = session(context)
    found = run.mine.signing_keys.list()
    run.show(found, lambda: _keys(found))


@app.command()
def make(context: typer.Context, scheme: Scheme = "v1", note: Note = None) -> None:
    """Make one more key; two are valid at once. Its secret is shown this once.

    Example: fencepost key make --scheme v1a --note "for receivers without a secret store"
    """
    run = session(context)
    found = run.mine.signing_keys.make(scheme, note)
    run.show(found, lambda: _made(found))


@app.command()
def rotate(context: typer.Context, scheme: Scheme = "v1", note: Note = None) -> None:
    """Make a new key in the place of the older of two. Its secret is shown this once.

    Example: fencepost key rotate --note "every quarter"
    """
    run = session(context)
    found = run.mine.signing_keys.rotate(scheme, note)
    run.show(found, lambda: _made(found))


@app.command()
def drop(
    context: typer.Context,
    key_id: Annotated[str, typer.Argument(metavar="KEY")],
    compromised: Annotated[
        bool, typer.Option("--compromised", help="At once, whatever receivers know.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Let a key sign no more.

    Example: fencepost key drop $KEY --compromised --yes
    """
    run = session(context)
    run.sure(f"Drop the key {key_id} of {run.team}?", yes=yes)
    found = run.mine.signing_keys.drop(key_id, compromised=compromised)
    run.show(found, lambda: _keys(found))


def _keys(found: SigningKeys) -> RenderableType:
    made = drawing.table("key", "scheme", "since", "public")
    for each in found.items:
        made.add_row(each.id, each.scheme, drawing.moment(each.created_at), each.public or drawing.NOTHING)
    if found.overlap_until is None:
        return made
    return Group(made, Text(f"none is dropped before {drawing.moment(found.overlap_until)}", style="dim"))


def _made(found: MadeKey) -> RenderableType:
    if found.secret is None:
        return _keys(found)
    return Group(_keys(found), Text(f"secret, shown this once: {found.secret}", style="bold"))
