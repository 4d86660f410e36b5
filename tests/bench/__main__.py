"""`python -m tests.bench`: measures what Fencepost costs, prints it, and writes docs/performance.md.

`python -m tests.bench counts` measures AWS calls and units alone; `--write` commits to what was found. Any other
section's name measures that one and writes the page anew with the figures that are kept of the others; `page` measures
nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from fencepost.runtime.clock import monotonic_seconds, utc_now
from tests.bench import counts, figures
from tests.bench.paths import Ledger

COLUMNS = ("calls", "write_units", "read_units", "sqs_requests")


def main() -> None:
    """Runs what was asked for. A count that grew is its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__.split("\n")[0])
    parser.add_argument("section", nargs="?", default="all", choices=["all", "counts", "page", *SECTIONS])
    parser.add_argument("--write", action="store_true", help="commit to the counts that were found")
    asked = parser.parse_args()
    excess = measure_counts(write=asked.write) if asked.section in ("all", "counts") else []
    chosen = list(SECTIONS) if asked.section == "all" else [asked.section]
    begun = monotonic_seconds()
    for name in chosen:
        if name in SECTIONS:
            print(f"measuring {name} ...", file=sys.stderr, flush=True)
            figures.keep(**SECTIONS[name](), run={"day": f"{utc_now():%Y-%m-%d}"})
    if asked.section == "all":
        minutes = (monotonic_seconds() - begun) / 60
        run = {"minutes": round(minutes), "load": round(os.getloadavg()[2]), "day": f"{utc_now():%Y-%m-%d}"}
        figures.keep(run=run)
    if asked.section != "counts":
        from tests.bench import page

        print(page.write())
    sys.exit(bool(excess))


def measure_counts(*, write: bool) -> list[str]:
    """What grew, in words; printed with what fell."""
    ledgers = counts.measured()
    show_counts(ledgers)
    found = counts.totals(ledgers)
    excess = counts.grown(found, counts.expected())
    for line in (*excess, *counts.fallen(found, counts.expected())):
        print(line)
    if write:
        counts.write(found)
        return []
    return excess


def measure_cpu() -> dict[str, Any]:
    """Of a firing, and whether it is flat."""
    from tests.bench import cpu

    return {
        "cpu": cpu.firing(),
        "flat": {"sizes": cpu.flat(cpu.SIZES), "sleeps": cpu.flat(cpu.SLEEPS)},
    }


def measure_api() -> dict[str, Any]:
    """Of requests, and of cold starts."""
    from tests.bench import api, imports

    return {"api": api.measured(), "imports": imports.measured()}


def measure_spike() -> dict[str, Any]:
    """The stories' rows, and what their charts show."""
    from tests.bench.spike import report

    told = report.told()
    return {"spike": report.figures(told), "plots": report.curves(told)}


SECTIONS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "api": measure_api,
    "cpu": measure_cpu,
    "spike": measure_spike,
}


def show_counts(ledgers: dict[str, Ledger]) -> None:
    """One table: per firing, by path and phase."""
    table = Table("per firing", *COLUMNS, title="AWS calls and units, counted on the wire")
    for path, ledger in ledgers.items():
        table.add_row(f"[bold]{path}", *(f"{value:g}" for value in ledger.total.rounded().values()))
        for phase, cost in ledger.phases.items():
            table.add_row(f"  {phase}", *(f"{value:g}" for value in cost.rounded().values()), style="dim")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
