"""docs/performance.md: one page from what was measured. Every section says on what its figures rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fencepost.domain.sizing import Load, advise, bill, rivals
from fencepost.domain.sizing.prices import AS_OF
from tests.bench.spike.report import rows

PAGE = Path(__file__).resolve().parents[2] / "docs" / "performance.md"
DESIGN_POINT = Load(jobs=10_000_000, rate=116, spike=48_720)
Figures = Mapping[str, Mapping[str, float]]

_COUNTS = """# Performance and cost

Written by `make bench`. Counts are exact and held by a test. CPU is of one process on whatever machine ran it, the best
of interleaved rounds: compare ratios, not microseconds. Nothing here was measured on AWS.

## What a firing uses

AWS calls, DynamoDB units by the documented rules, and SQS requests, read off botocore's requests; claims in full groups
of 33, deliveries in batches as said. `tests/bench/expected.json` is the committed list: a count that grows fails
`make test`.
"""
_CPU = """
## CPU of a firing

*ours*: the use cases over their adapters. *over botocore*: the same through botocore's clients. *bare*: the very AWS
calls of it through botocore, parameters ready, nothing else. *signed*: the very requests signed by hand, the bound.
Microseconds per firing, then the ratio of ours to bare.
"""
_FLAT = """
## Flat

Scan and claim of 330 firings, over a store that makes the job for the key it is asked for: by how many jobs are
registered, and by how long nobody read their timers.
"""
_API = """
## API and cold starts

CPU of a request through the real handler, over a store in memory; CPU of importing and composing each function, beside
boto3 with clients of DynamoDB and SQS.
"""
_MONEY = """
## Dollars

`fencepost size --jobs 10000000 --rate 116 --spike 48720`: the design point, list prices of {as_of}, us-east-1. Only the
timers' table is priced as bought by the hour, since claims are spread over the minutes before; half of all firings are
reckoned to be due at full minutes. AWS prices are by transcriptions of its price lists, those of QStash and Temporal by
copies of the vendors' pages: read them again before quoting.
"""
_SPIKE = """
## Crowds, simulated

Real scans claim over a store in memory (two or four shards stand for 64); queues, pollers, functions, tables and targets
are a model (`tests/bench/spike`, whose `parameters.py` says what AWS documents and what is assumed: latencies, cold
starts, that SQS surfaces delayed messages to within 100 ms). Targets answer within 150 ms in the median. Seconds late,
then the most of everything in one second: write units of claims, executions and control, invocations, waiting firings.
"""
PLOTS = ("lateness", "crowd", "claims", "storm")


def table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A Markdown table, figures to the right."""
    rule = ["---", *["--:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *body)) + "\n"


def written(found: Mapping[str, Any]) -> str:
    """The page from the sections' figures."""
    return "".join(
        [
            _COUNTS,
            _counts(found["counts"]),
            _CPU,
            _cpu(found["cpu"]),
            _FLAT,
            _flat(found["flat"]),
            _API,
            _starts(found["api"], found["imports"]),
            _MONEY.format(as_of=AS_OF),
            _money(),
            _SPIKE,
            _spike(found["spike"]),
        ]
    )


def _counts(counts: Figures) -> str:
    names = ("calls", "write_units", "read_units", "sqs_requests")
    body = [[path, *(f"{values[name]:g}" for name in names)] for path, values in counts.items()]
    return "\n" + table(["per firing", "calls", "write units", "read units", "SQS requests"], body)


def _cpu(cpu: Figures) -> str:
    names = ("ours", "ours, ten threads", "ours over botocore", "bare", "signed")
    body = [
        [
            part,
            *(f"{values[name]:,.0f}" if name in values else "" for name in names),
            f"{values['ours'] / values['bare']:.2f}",
        ]
        for part, values in cpu.items()
    ]
    return "\n" + table(["", *names, "ours / bare"], body)


def _flat(flat: Mapping[str, Figures]) -> str:
    body = []
    for cases in flat.values():
        least = min(values["us"] for values in cases.values())
        body += [
            [name, f"{values['us']:,.0f}", f"{values['us'] / least:.2f}", f"{values['calls']:.3f}"]
            for name, values in cases.items()
        ]
    return "\n" + table(["", "microseconds", "of the least", "calls"], body)


def _starts(api: Mapping[str, float], imports: Mapping[str, float]) -> str:
    base = imports["boto3, clients of DynamoDB and SQS"]
    requests = table(["request", "microseconds"], [[name, f"{value:,.0f}"] for name, value in api.items()])
    starts = [[name, f"{value:,.0f}", f"{value / base:.2f}"] for name, value in imports.items()]
    return "\n" + requests + "\n" + table(["import", "milliseconds", "of boto3 with clients"], starts)


def _money() -> str:
    advice = advise(DESIGN_POINT)
    on_demand, bought = (bill(DESIGN_POINT, advice, provisioned=each) for each in (False, True))
    lines = [
        [a.what, f"{a.dollars:,.0f}", f"{b.dollars:,.0f}", b.basis]
        for a, b in zip(on_demand.lines, bought.lines, strict=True)
    ]
    lines.append(["**total**", f"**{on_demand.dollars:,.0f}**", f"**{bought.dollars:,.0f}**", ""])
    lines.append(["a million firings", f"{on_demand.per_million:.2f}", f"{bought.per_million:.2f}", ""])
    others = [
        [
            each.name,
            f"{each.dollars:,.0f}",
            f"{each.per_million(DESIGN_POINT):.2f}",
            f"{each.dollars - bought.dollars:+,.0f}",
            f"{each.note} ({each.source})",
        ]
        for each in rivals(DESIGN_POINT, bought)
    ]
    head = ["dollars a month", "on demand", "timers provisioned", "basis"]
    return (
        "\n" + table(head, lines) + "\n" + table(["instead", "a month", "a million", "than here", ""], others)
    )


def _spike(found: Sequence[Mapping[str, Any]]) -> str:
    head = [
        "story",
        "who",
        "firings",
        "p50",
        "p99",
        "max",
        "claims",
        "executions",
        "control",
        "invocations",
        "waiting",
    ]
    drawn = [name for name in PLOTS if (PAGE.parent / "plots" / f"{name}.svg").exists()]
    return "\n" + table(head, rows(found)) + "".join(f"\n![{name}](plots/{name}.svg)\n" for name in drawn)
