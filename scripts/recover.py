"""Wakes what a restored stage left unfinished: the sweep, in shares, with nothing left for later.

Usage: python scripts/recover.py STAGE [--shares 16] [--region REGION]

Run it once the service is deployed onto the restored tables, before its tick is enabled; again at any time, beside
everything else. Wanted: credentials that may invoke the stage's sweep. Every share reads its part of all jobs and records
once and fits into fifteen minutes; with ten million jobs that takes some 200 shares.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, cast

import boto3
from botocore.config import Config

LONGEST_SECONDS = 900


def event(share: int, shares: int) -> dict[str, Any]:
    """What the sweep is woken with."""
    return {"detail": {"recover": True, "share": share, "shares": shares}}


class Invoker(Protocol):
    """As much of Lambda's client as is wanted here."""

    def invoke(self, *, FunctionName: str, Payload: bytes) -> Mapping[str, Any]:  # noqa: N803 - boto3's names
        """Waits for the function's answer."""


def reports(client: Invoker, function: str, shares: int) -> Iterator[dict[str, Any]]:
    """What each share found. Raises RuntimeError where one failed: those before it need not be run again."""
    for share in range(shares):
        payload = json.dumps(event(share, shares)).encode()
        answer = client.invoke(FunctionName=function, Payload=payload)
        said = json.loads(answer["Payload"].read())
        if "FunctionError" in answer:
            raise RuntimeError(f"share {share} of {shares} failed: {said.get('errorMessage', said)}")
        yield said


def total(found: Sequence[dict[str, Any]]) -> Counter[str]:
    """The counts of all shares together."""
    counts: Counter[str] = Counter()
    for report in found:
        counts.update({name: value for name, value in report.items() if isinstance(value, int)})
        counts["unreadable"] += len(report.get("unreadable", ()))
    return counts


def main(arguments: Sequence[str]) -> int:
    """0 where every share was read to its end and nothing was unreadable."""
    parser = argparse.ArgumentParser(prog="recover")
    parser.add_argument("stage")
    parser.add_argument("--shares", type=int, default=16)
    parser.add_argument("--region")
    given = parser.parse_args(arguments)
    patient = Config(read_timeout=LONGEST_SECONDS, retries={"total_max_attempts": 1})
    client = cast("Invoker", boto3.client("lambda", region_name=given.region, config=patient))
    found = []
    for report in reports(client, f"fencepost-{given.stage}-sweep", given.shares):
        found.append(report)
        print(f"\rshare {len(found)} of {given.shares}", end="", file=sys.stderr, flush=True)
    counts = total(found)
    print(file=sys.stderr)
    for name, count in sorted(counts.items()):
        print(f"{count:>10} {name.replace('_', ' ')}")
    return 1 if counts["unreadable"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
