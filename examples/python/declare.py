"""Declares a job, shows when it will fire, and runs it once by hand.

FENCEPOST_ENDPOINT=https://... FENCEPOST_TEAM=payments python declare.py
"""

from __future__ import annotations

from fencepost.client import Fencepost, cron, webhook


def main() -> None:
    nightly = Fencepost().job("nightly")
    job = nightly.put(
        schedule=cron("30 2 * * *", "Europe/Berlin"),
        target=webhook("https://hooks.example.com/close-books", timeout_seconds=20),
        payload={"task": "close-books"},
        retry={"max_attempts": 3},
        overlap="skip",
    )
    print(f"{job.name}: {job.says}")
    for occurrence in job.next:
        print(f"  {occurrence.at:%Y-%m-%d %H:%M}Z  {occurrence.local}")

    run = nightly.run("to see that it works", key="first-run")
    print(f"{run.id}: {run.state}")


if __name__ == "__main__":
    main()
