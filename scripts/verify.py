"""Proves what a deployed stage promises: a probe team fires at a queue of its own, and the ledger says how late.

Usage: python scripts/verify.py STAGE [--firings 300] [--ahead 270] [--endpoint URL] [--region REGION]

Wanted: credentials of one of the stage's administrators, with `ssm:GetParameter` on the stage's outputs. All firings
of a tier are due at the same second, far enough ahead that tick, scan, claim, queue and delivery all take part. The
probe's jobs are deleted afterwards, its records stay.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import boto3

from fencepost.client import Fencepost
from fencepost.client.bulk import BulkItem
from fencepost.client.shapes import at
from fencepost.runtime.clock import sleep_ms, utc_now

TEAM = "fencepost-probe"
TIERS = ("critical", "standard", "bulk")
ON_TIME_MS = 5_000
SKEW_MS = 2_000
PATIENCE = timedelta(minutes=5)
BULK = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one tier's firings did. `missing`: those that had not succeeded when patience ended."""

    tier: str
    lateness_ms: tuple[int, ...]
    missing: int

    @property
    def faults(self) -> tuple[str, ...]:
        """In what the promise was broken; nothing, if it was kept."""
        found = []
        if self.missing:
            found.append(f"{self.missing} did not succeed")
        if self.lateness_ms and percentile(self.lateness_ms, 99) > ON_TIME_MS:
            found.append(f"p99 is above {ON_TIME_MS} ms")
        if self.lateness_ms and min(self.lateness_ms) < -SKEW_MS:
            found.append(f"one began {-min(self.lateness_ms)} ms early")
        return tuple(found)

    def line(self) -> str:
        """As the table shows it."""
        late = self.lateness_ms
        shown = [percentile(late, 50), percentile(late, 99), max(late)] if late else ["-"] * 3
        on_time = sum(each <= ON_TIME_MS for each in late)
        cells = [self.tier, len(late), *shown, f"{100 * on_time / (len(late) + self.missing):.1f} %"]
        return "".join(f"{cell!s:>12}" for cell in cells) + ("   " + "; ".join(self.faults)).rstrip()


def percentile(values: Sequence[int], percent: float) -> int:
    """The smallest value that `percent` of all do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def measured(tier: str, wanted: int, lateness: Iterable[int | None]) -> Measured:
    """`lateness` of those that succeeded."""
    known = tuple(each for each in lateness if each is not None)
    return Measured(tier=tier, lateness_ms=known, missing=wanted - len(known))


@dataclass(frozen=True, kw_only=True)
class Probe:
    """The probe team of one stage, at work."""

    api: Fencepost
    queue: str
    role: str

    def declare(self, firings: int) -> None:
        """The team, with room for all of a tier at once."""
        cap = firings * len(TIERS)
        self.api.put_team(delivery_role=self.role, max_concurrency=cap, tiers=list(TIERS))

    def plant(self, due: datetime, firings: int) -> None:
        """One one-off job per firing. Raises RuntimeError where one was refused."""
        job = {"schedule": at(due), "target": {"sqs": {"queue_url": self.queue}}, "payload": {"probe": True}}
        items = [
            BulkItem(name=f"{tier}-{number}", job={**job, "tier": tier})
            for tier in TIERS
            for number in range(firings)
        ]
        for results in map(self.api.bulk, _in_lots(items)):
            refused = [result.problem for result in results if not result.done]
            if refused:
                raise RuntimeError(f"the stage refused: {refused[0]}")

    def collect(self, due: datetime, firings: int) -> list[Measured]:
        """Reads the records until all are final, or patience ends."""
        waiting = {(tier, number) for tier in TIERS for number in range(firings)}
        late: dict[str, list[int | None]] = {tier: [] for tier in TIERS}
        sleep_ms((due - utc_now()) // timedelta(milliseconds=1))
        while waiting and utc_now() < due + PATIENCE:
            sleep_ms(2_000)
            for tier, number in sorted(waiting):
                record = self.api.job(f"{tier}-{number}").why(due)
                if record is not None and record.finished:
                    late[tier].append(record.lateness_ms if record.state == "SUCCEEDED" else None)
                    waiting.discard((tier, number))
        return [measured(tier, firings, late[tier]) for tier in TIERS]

    def clear(self, firings: int) -> None:
        """Deletes the jobs, so that the next run may use their names."""
        names = [BulkItem(name=f"{tier}-{number}") for tier in TIERS for number in range(firings)]
        for lot in _in_lots(names):
            self.api.bulk(lot)


def _in_lots(items: Sequence[BulkItem]) -> Iterable[Sequence[BulkItem]]:
    return (items[start : start + BULK] for start in range(0, len(items), BULK))


def output(stage: str, name: str, region: str | None) -> str:
    """An output of the deployed stage."""
    ssm = boto3.client("ssm", region_name=region)
    return str(ssm.get_parameter(Name=f"/fencepost/{stage}/{name}")["Parameter"]["Value"])


def main(arguments: Sequence[str]) -> int:
    """0 where the promise was kept."""
    parser = argparse.ArgumentParser(prog="verify", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("stage")
    parser.add_argument("--firings", type=int, default=300, help="per tier, all due at one second")
    parser.add_argument("--ahead", type=int, default=270, help="seconds from now to due; above the horizon")
    parser.add_argument("--endpoint", help="the API's address; by default what the stage says")
    parser.add_argument("--region")
    given = parser.parse_args(arguments)
    endpoint = given.endpoint or output(given.stage, "api-url", given.region)
    probe = Probe(
        api=Fencepost(endpoint=endpoint.rstrip("/"), team=TEAM, region=given.region),
        queue=output(given.stage, "probe-queue-url", given.region),
        role=output(given.stage, "probe-role-arn", given.region),
    )
    due = (utc_now() + timedelta(seconds=given.ahead)).replace(microsecond=0)
    print(f"{given.firings} firings in each of {len(TIERS)} tiers, all due at {due:%H:%M:%S} UTC ...")
    probe.declare(given.firings)
    probe.clear(given.firings)
    probe.plant(due, given.firings)
    found = probe.collect(due, given.firings)
    probe.clear(given.firings)
    print("".join(f"{head:>12}" for head in ("tier", "firings", "p50 ms", "p99 ms", "max ms", "on time")))
    for tier in found:
        print(tier.line())
    return 1 if any(tier.faults for tier in found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
