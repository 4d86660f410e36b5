"""docs/performance.md: one page from the figures that are kept. Every section says on what its figures rest."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fencepost.domain.sizing import Bill, Load, advise, bill, rivals
from fencepost.domain.sizing.advice import DRAIN_SECONDS, PER_POLLER
from fencepost.domain.sizing.prices import AS_OF, POLLER_MONTH
from tests.bench import counts, figures
from tests.bench.counts import FULL_BATCHES
from tests.bench.imports import LEAN
from tests.bench.spike import report
from tests.bench.spike.report import rows

PAGE = Path(__file__).resolve().parents[2] / "docs" / "performance.md"
DESIGN_POINT = Load(jobs=10_000_000, rate=116, spike=48_720)
CLIENTS = "boto3, clients of DynamoDB and SQS"
PROMISED = ("critical", "standard")
ORDINARY_CROWD = 1.0
"""Of a minute's firings, how many pollers that stand should begin within the promise if they were due at once."""
RAISED_MINUTES = 3
"""Of each hour in which pollers would be raised."""
Figures = Mapping[str, Mapping[str, float]]

_COUNTS = """# Performance and cost

Written by `make bench` ({took}) and `make bench-peers`,
from `tests/bench/figures.json`, where they keep what they measured; a test holds page, plots and figures to each other.
Counts are exact and held by a test. CPU is of one process on whatever machine ran it, the best of interleaved rounds:
compare ratios, not microseconds. Nothing here was measured on AWS.

## What a firing uses

AWS calls, DynamoDB units by the documented rules, and SQS requests, read off botocore's requests; claims in full groups
of 33, deliveries in batches as said. `tests/bench/expected.json` is the committed list: a count that grows fails
`make test`. Asked for were at most 9 write units and 5 calls in full batches of one team: {budget}.
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
boto3 with clients of DynamoDB and SQS. Tick, scan, deliver and pump, which firings wait for, shall take no more than 1.7
of that: {lean}.
"""
_MONEY = """
## Dollars

`fencepost size --jobs 10000000 --rate 116 --spike 48720`: the design point, list prices of {as_of}, us-east-1. Only the
timers' table is priced as bought by the hour, since claims are spread over the minutes before; half of all firings are
reckoned to be due at full minutes. AWS prices are by transcriptions of its price lists, those of QStash and Temporal by
copies of the vendors' pages: read them again before quoting.

The gap to EventBridge Scheduler, like for like, is **${gap:,.0f} a month** when timers are bought by the hour. It is what
Fencepost does and Scheduler does not: the claim ahead of time and its reads ({claims}), slots ({slots}), the hold until
the very second ({hold}), and what looks after the ledger each day ({daily}). Against it stand the ${fires:,.0f} that Scheduler
takes for firing. The next that could be had, and is not built: pollers raised ahead of a crowd that claims have shown
minutes before, instead of {pollers} that stand for it all month (about ${raised:,.0f} less where crowds come on the hour;
that a mapping follows within two minutes would have to be measured); an audit every other day (${audit:,.0f}); slots leased
in blocks, which saves only where a batch holds many of one team.
"""
_PEERS = """
## Beside other schedulers, on one machine

`make bench-peers`: {jobs} jobs each (fewer over the engine), due at the same full minutes, {minutes} of them counted after one to warm up; each calls
the same HTTP server on loopback, which answers after 20 ms. Run one after the other on {day}, {machine};
the load of the machine was {load}. Where others are at work on the same cores, lateness tells as much about the machine as
about anybody: repeat it on a quiet one before quoting it. Milliseconds late of those that came within the minute, how many
did not, then CPU in milliseconds for each firing that was expected, of the scheduler's own processes and of the server
under it (a whole minute's idling included). Fencepost here is the local service, which keeps a ledger, leases and slots for
each firing; nothing of it says anything about AWS, and the engine under it is a stand-in written in Python.
"""
_SPIKE = """
## Crowds, simulated

Real scans claim over a store in memory (two or four shards stand for 64); queues, pollers, functions, tables and targets
are a model (`tests/bench/spike`, whose `parameters.py` says what AWS documents and what is assumed: latencies, cold
starts, that SQS surfaces delayed messages to within 100 ms). Targets answer within 150 ms in the median. Seconds late,
then the most of everything in one second: write units of claims, executions and control, invocations, waiting firings.
Where nothing else is said, a tenth of the firings is `critical`, a fifth `bulk`; `critical` and `standard` have the pollers
of the stage of the design point, `bulk` those that come by and by. Teams are 200, and told without bulk.
"""
_TARGETS = """
Asked for were a 99th percentile of 1 s at 812 a second and of 5 s at 48,720 in one second: {targets}.
"""


def table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A Markdown table, figures to the right."""
    rule = ["---", *["--:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *body)) + "\n"


def written(found: Mapping[str, Any], counts: Figures) -> str:
    """The page from the sections' figures and the committed counts; the dollars are worked out anew."""
    return "".join(
        [
            _COUNTS.format(took=_took(found), budget=_budget(counts)),
            _counts(counts),
            _CPU,
            _cpu(found["cpu"]),
            _FLAT,
            _flat(found["flat"]),
            _API.format(lean=_lean(found["imports"])),
            _starts(found["api"], found["imports"]),
            _money(),
            _SPIKE,
            _spike(found["spike"]),
            _TARGETS.format(targets=_targets(found["spike"])),
            "".join(f"\n![{name}](plots/{name}.svg)\n" for name in found["plots"]),
            _peers(found.get("peers")),
        ]
    )


def write() -> str:
    """Writes page and plots from what is kept; the page."""
    found = figures.kept()
    text = written(found, counts.expected())
    PAGE.write_text(text, encoding="utf-8")
    report.draw(found["plots"])
    return text


def _took(found: Mapping[str, Any]) -> str:
    run = found["run"]
    if "minutes" not in run:
        return f"its sections one by one, on {run['day']}"
    return f"{run['minutes']:.0f} minutes with the machine's load at {run['load']:.0f}, on {run['day']}"


def _budget(counts: Figures) -> str:
    full = counts[FULL_BATCHES]
    return f"it is {full['write_units']:g} and {full['calls']:g}"


def _lean(imports: Mapping[str, float]) -> str:
    base = imports[CLIENTS]
    worst = max(LEAN, key=lambda name: imports[f"functions/{name}"])
    share = imports[f"functions/{worst}"] / base
    return f"the most is {share:.2f}, {worst}'s" + ("" if share <= 1.7 else ", which is too much")


def _targets(rows_: Sequence[Mapping[str, Any]]) -> str:
    """By how much each is kept, or missed."""
    said = []
    for story, limit in (("812 a second", 1.0), ("48,720 in one second", 5.0)):
        worst = max(
            row["p99"] for row in rows_ if str(row["story"]).startswith(story) and row["group"] in PROMISED
        )
        said.append(f"{worst:.2f} s" + ("" if worst <= limit else f", {worst - limit:.2f} s too much"))
    return " and ".join(said)


def _peers(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return ""
    head = ["", "version", "as", "under it", "jobs", "p50", "p99", "max", "missing", "CPU", "CPU under it"]
    body = []
    for row in found["rows"]:
        if "cpu_ms" in row:
            late = [f"{row[name]:,.0f}" for name in ("p50", "p99", "max")]
            figures_ = [*late, str(int(row["missing"])), f"{row['cpu_ms']:.1f}", _under(row)]
        else:
            figures_ = [row["missing"], *[""] * 5]
        body.append([row["name"], row["version"], row["how"], row["under"], str(row["jobs"]), *figures_])
    return _PEERS.format(**found) + "\n" + table(head, body)


def _under(row: Mapping[str, Any]) -> str:
    return f"{row['under_ms']:.1f}" if row["under_ms"] else ""


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
    base = imports[CLIENTS]
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
    text = _MONEY.format(as_of=AS_OF, **_gap(bought, advice.pollers))
    first, second = text.split("\nThe gap to", 1)
    tables = table(head, lines) + "\n" + table(["instead", "a month", "a million", "than here", ""], others)
    return first + "\n" + tables + "\nThe gap to" + second


def _gap(bought: Bill, pollers: int) -> dict[str, Any]:
    paid = {line.what: line.dollars for line in bought.lines}

    def sums(*names: str) -> str:
        return f"${sum(paid[name] for name in names):,.0f}"

    scheduler = rivals(DESIGN_POINT, bought)[0]
    standing = math.ceil(ORDINARY_CROWD * DESIGN_POINT.rate * 60 / (PER_POLLER * DRAIN_SECONDS))
    hourly = (pollers - standing) * (1 - RAISED_MINUTES / 60)
    return {
        "gap": bought.dollars - scheduler.dollars,
        "claims": sums("claims: timers", "claims: records", "reads", "passes over shards", "scan functions"),
        "slots": sums("slots"),
        "hold": sums("the hold before due"),
        "daily": sums("the daily second net", "the daily audit"),
        "fires": scheduler.dollars - bought.shared,
        "pollers": pollers,
        "raised": hourly * POLLER_MONTH,
        "audit": paid["the daily audit"] / 2,
    }


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
    return "\n" + table(head, rows(found))
