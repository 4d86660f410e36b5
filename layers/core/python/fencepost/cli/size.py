"""`fencepost size`: how large a stage has to be for a load, and what it costs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fencepost.cli import drawing
from fencepost.cli.session import session
from fencepost.domain.sizing import Advice, Bill, Load, advise, bill, rivals
from fencepost.domain.sizing.advice import INVOKES_PER_POLLER
from fencepost.domain.sizing.prices import AS_OF

_PAGE = "infra/stages.py"


def size(
    context: typer.Context,
    jobs: Annotated[int, typer.Option(min=1, help="Jobs that are registered.")],
    rate: Annotated[float, typer.Option(min=0.001, help="Firings a second, on average over a month.")],
    spike: Annotated[int, typer.Option(min=0, help="The most that come due in one second.")] = 0,
    target_ms: Annotated[int, typer.Option(min=1, max=30_000, help="Until a target answers.")] = 200,
    payload_kb: Annotated[float, typer.Option(min=0.001, max=256, help="What a firing sends.")] = 1.0,
) -> None:
    """Show the settings of a stage that bears a load, and its monthly bill; nothing is asked of a stage.

    Example: fencepost size --jobs 10000000 --rate 116 --spike 48720
    """
    run = session(context)
    load = Load(jobs=jobs, rate=rate, spike=spike, target_seconds=target_ms / 1000, payload_kb=payload_kb)
    advice = advise(load)
    bills = {"on demand": bill(load, advice), "timers provisioned": bill(load, advice, provisioned=True)}
    if run.choice.json:
        run.json(_wire(load, advice, bills))
    else:
        run.around.out.print(
            Group(_settings(load, advice), Text(), _bills(bills), Text(), _others(load, bills))
        )


def _wire(load: Load, advice: Advice, bills: dict[str, Bill]) -> dict[str, Any]:
    cheapest = min(bills.values(), key=lambda each: each.dollars)
    return {
        "load": asdict(load),
        "settings": asdict(advice),
        "bills": {
            name: {
                "dollars_a_month": round(found.dollars, 2),
                "dollars_per_million": round(found.per_million, 4),
                "lines": [asdict(line) for line in found.lines],
            }
            for name, found in bills.items()
        },
        "others": [
            {**asdict(each), "dollars_per_million": each.per_million(load)} for each in rivals(load, cheapest)
        ],
        "prices_as_of": AS_OF,
    }


def _settings(load: Load, advice: Advice) -> RenderableType:
    pollers = f"{advice.pollers}, with {advice.delivery_concurrency:,} of reserved concurrency ({INVOKES_PER_POLLER} each)"
    pairs: list[tuple[str, RenderableType]] = [
        ("shards", f"{advice.shards}  (fixed when the store is created)"),
        ("pollers of the standard tier, at least", pollers),
        ("scan concurrency", f"{advice.scan_concurrency:,}"),
        ("Lambda's concurrency quota", f"{advice.account_concurrency:,} at least"),
        ("warm writes a second: timers", f"{advice.timer_writes:,}"),
        ("warm writes a second: executions", f"{advice.record_writes:,}"),
        ("warm writes a second: control", f"{advice.slot_writes:,}"),
        ("warm reads a second: jobs", f"{advice.job_reads:,}"),
        ("if one team has the whole spike", f"max_concurrency {advice.largest_team:,}"),
    ]
    title = f"A stage for {load.jobs:,} jobs, {load.rate:g} firings a second, {load.spike:,} in one second ({_PAGE})"
    return Group(Text(title, style="bold"), drawing.facts(pairs))


def _bills(bills: dict[str, Bill]) -> RenderableType:
    table = drawing.table("dollars a month", *bills, "", right=tuple(bills))
    first = next(iter(bills.values()))
    for number, line in enumerate(first.lines):
        amounts = [f"{found.lines[number].dollars:,.0f}" for found in bills.values()]
        table.add_row(line.what, *amounts, Text(line.basis, style="dim"))
    table.add_row("total", *(f"{found.dollars:,.0f}" for found in bills.values()), style="bold")
    table.add_row(
        "for a million firings", *(f"{found.per_million:.2f}" for found in bills.values()), style="bold"
    )
    return table


def _others(load: Load, bills: dict[str, Bill]) -> Table:
    cheapest = min(bills.values(), key=lambda each: each.dollars)
    table = drawing.table(
        "instead",
        "dollars a month",
        "a million",
        "more than here",
        "",
        right=("dollars a month", "a million", "more than here"),
    )
    for each in rivals(load, cheapest):
        gap = f"{each.dollars - cheapest.dollars:+,.0f}"
        note = Text(f"{each.note} ({each.source})", style="dim")
        table.add_row(each.name, f"{each.dollars:,.0f}", f"{each.per_million(load):.2f}", gap, note)
    table.caption = f"list prices of {AS_OF}, us-east-1"
    table.caption_justify = "left"
    return table
