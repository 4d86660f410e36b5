"""A team as it might be: what the pictures of the documentation show, and what the accessibility checker looks at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.browser.target import Target
from tests.support.live import LiveService, declaration

TEAM = "payments"
PLACES = [
    "at",
    "be",
    "bg",
    "cz",
    "de",
    "dk",
    "es",
    "fi",
    "fr",
    "gr",
    "hu",
    "ie",
    "it",
    "lv",
    "nl",
    "pl",
    "pt",
    "ro",
    "se",
]
BERLIN = "Europe/Berlin"
_SOON = {"initial_delay_seconds": 1, "multiplier": 1, "max_delay_seconds": 2}


def tell(service: LiveService, target: Target) -> None:
    """Declares the team and its jobs; the rest is a matter of time."""
    service.put_team(
        TEAM,
        max_concurrency=12,
        notify={"webhook": f"{target.url}/told"},
        notify_on=["dead", "paused"],
        principals=["arn:aws:iam::000000000000:role/payments-deploy"],
        retention_days=30,
    )
    service.put_jobs(TEAM, jobs(target))
    service.call("POST", f"/v1/teams/{TEAM}/keys", {"scheme": "v1", "note": "for the receivers"})
    edit(service, target)
    pause = {"note": "Ledger migration until Monday", "cancel_started": False}
    service.call("POST", f"/v1/teams/{TEAM}/jobs/balance-snapshot/pause", pause)


def edit(service: LiveService, target: Target) -> None:
    """A definition with a history."""
    path = f"/v1/teams/{TEAM}/jobs/card-settlement"
    service.call("POST", f"{path}/pause", {"note": "Acquirer outage, asked by the desk"})
    service.call("POST", f"{path}/resume", {"note": "Acquirer is back"})
    service.call("PATCH", path, {"retry": {"max_attempts": 4}, "overlap": "skip"})


def jobs(target: Target) -> Mapping[str, Mapping[str, Any]]:
    """By name."""

    def job(schedule: Mapping[str, Any], path: str, **facts: Any) -> Mapping[str, Any]:
        return declaration(schedule, f"{target.url}/{path}", **facts)

    ledger, rates = {"app": "ledger"}, {"app": "rates", "env": "prod"}
    found = {
        "balance-snapshot": job(
            {"cron": "*/10 * * * *", "timezone": BERLIN}, "ok", labels=ledger, tier="bulk"
        ),
        "card-settlement": job(
            {"every": "PT5S"},
            "ok",
            labels=ledger,
            tier="critical",
            description="Sends what was captured to the acquirer.",
            payload={"batch": "settlement", "currencies": ["EUR", "CHF", "SEK"]},
        ),
        "exchange-rates": job({"every": "PT20S"}, "flaky", labels=rates, retry={"max_attempts": 5, **_SOON}),
        "fraud-sweep": job({"every": "PT10S"}, "ok", labels={"app": "risk"}, tier="critical"),
        "invoice-run": job({"cron": "0 6 1 * *", "timezone": BERLIN}, "ok", labels=ledger, overlap="queue"),
        "legacy-export": job({"every": "PT25S"}, "broken", retry={"max_attempts": 3, **_SOON}),
        "month-end": job(
            {"cron": "30 2 28 * *", "timezone": BERLIN},
            "ok",
            labels=ledger,
            description="Closes the books of the month.",
            payload={"task": "close-books"},
        ),
        "opening-notice": job({"in": "PT8S"}, "ok"),
        "statement-import": job({"every": "PT40S"}, "work", lease_seconds=60),
    }
    for number in range(1, 16):
        found[f"scan-{number:02}"] = job(
            {"every": "PT2M", "anchor": "2026-01-01T00:00:00Z"}, "slow", tier="bulk"
        )
    for place in PLACES:
        for number in range(1, 6):
            mail = job({"cron": "0 0 * * *"}, "ok", tier="bulk", labels={"country": place})
            found[f"statement-mail-{place}-{number}"] = mail
    for place in PLACES[::3]:
        found[f"reminders-{place}"] = job(
            {"cron": f"{len(found) % 60} * * * *"}, "ok", labels={"country": place}
        )
    return found
