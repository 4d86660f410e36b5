"""`python -m tests.bench`: measures what Fencepost costs, prints it, and writes docs/performance.md.

`python -m tests.bench counts` measures AWS calls and units alone; `--write` commits to what was found.
"""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.table import Table

from tests.bench import counts, page
from tests.bench.paths import Ledger

COLUMNS = ("calls", "write_units", "read_units", "sqs_requests")


def main() -> None:
    """Runs what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__.split("\n")[0])
    parser.add_argument("section", nargs="?", default="all", choices=["all", "counts"])
    parser.add_argument("--write", action="store_true", help="commit to the counts that were found")
    asked = parser.parse_args()
    ledgers = counts.measured()
    show_counts(ledgers)
    found = counts.totals(ledgers)
    for line in (*counts.grown(found, counts.expected()), *counts.fallen(found, counts.expected())):
        print(line)
    if asked.write:
        counts.write(found)
    if asked.section == "all":
        everything(found)


def everything(found: dict[str, dict[str, float]]) -> None:
    """The other sections, and the page."""
    from tests.bench import api, bench_schedule, cpu, imports
    from tests.bench.spike import report

    told = report.told()
    report.draw(told)
    text = page.written(
        {
            "counts": found,
            "cpu": cpu.firing(),
            "flat": {"sizes": cpu.flat(cpu.SIZES), "sleeps": cpu.flat(cpu.SLEEPS)},
            "api": api.measured(),
            "imports": imports.measured(),
            "spike": report.figures(told),
        }
    )
    page.PAGE.write_text(text, encoding="utf-8")
    print(text)
    bench_schedule.main()


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
