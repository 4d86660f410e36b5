"""`fencepost recover`: a stage on restored tables, share by share, and then open."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer
from rich.console import RenderableType

from fencepost.cli import drawing
from fencepost.cli.session import Session, session
from fencepost.client.upkeep import Recovered

MOST = 1_000_000
FINER = 4
COUNTS = ("retired", "brought", "woken", "planted", "jobs", "unfinished")
UNREADABLE, LEFT = "unreadable", 1


def recover(
    context: typer.Context,
    shares: Annotated[int, typer.Option(help="In how many parts; more, where one takes too long.")] = 64,
    ledger: Annotated[bool, typer.Option(help="Compare with the ledger of the replaced tables.")] = True,
    open_: Annotated[bool, typer.Option("--open/--keep-held", help="Let it fire when all is done.")] = True,
    note: Annotated[str | None, typer.Option(help="Why, for the audit trail.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """After a restore: retire what fired already, wake what is unfinished, then let the stage fire.

    Example: fencepost recover --note "back to 18:00" --yes
    """
    run = session(context)
    run.sure("Recover the stage" + (" and let it fire?" if open_ else "?"), yes=yes)
    counts, unreadable = _all(run, shares, ledger=ledger)
    for key in unreadable:
        run.warn(f"cannot be read: {key}")
    opened = open_ and not unreadable
    if opened:
        run.client.stage.open(note)
    if run.choice.json:
        run.json({**{name: counts[name] for name in COUNTS}, UNREADABLE: unreadable, "opened": opened})
    else:
        run.around.out.print(_picture(counts, opened=opened))
    if unreadable:
        raise typer.Exit(LEFT)


def _all(run: Session, shares: int, *, ledger: bool) -> tuple[Counter[str], list[str]]:
    """Every share, to its end. Where one takes too long all are cut finer: what was done already is done faster."""
    while True:
        counts, unreadable = Counter[str](), list[str]()
        with run.progress("recovering", shares) as step:
            for share in range(shares):
                found = run.client.stage.recover(share, shares, ledger=ledger)
                if not found.finished:
                    break
                _add(counts, found)
                unreadable += found.unreadable
                step()
            else:
                return counts, unreadable
        if shares * FINER > MOST:
            raise typer.BadParameter(
                f"a share of {shares} takes too long, and there can be no more than {MOST:,}"
            )
        shares *= FINER
        run.warn(f"that takes too long: going on in {shares:,} shares")


def _add(counts: Counter[str], found: Recovered) -> None:
    for name in COUNTS:
        counts[name] += getattr(found, name)


def _picture(counts: Counter[str], *, opened: bool) -> RenderableType:
    rows: list[tuple[str, RenderableType]] = [
        ("jobs", f"{counts['jobs']:,} active, {counts['planted']:,} given a timer"),
        ("unfinished", f"{counts['unfinished']:,}, {counts['woken']:,} woken"),
        ("retired", f"{counts['retired']:,} that had ended in the replaced ledger"),
        ("brought", f"{counts['brought']:,} other records of the replaced ledger"),
        ("stage", "open" if opened else "held: fencepost recover opens it"),
    ]
    return drawing.facts(rows)
