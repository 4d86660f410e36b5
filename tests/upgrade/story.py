"""A stage on which everything happens that leaves something behind, told through the API and by letting time pass."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from unittest import mock

from fencepost.adapters.seam import Around, seamed
from fencepost.application import keys
from fencepost.application.messages import wake_body
from fencepost.application.ports import Outgoing, QueueName
from fencepost.application.store import Key, Put, Table
from fencepost.domain import delivery as wire
from fencepost.domain.identity import ExecutionId
from fencepost.domain.outcome import Accepted, Delivered, Failed, Outcome, Refused
from fencepost.runtime import delivering
from tests.support.api import ADMIN, OWNER_ROLE, Front, Reply
from tests.support.clients import Machine

START = "2026-03-01T12:00:30Z"
PAYMENTS = "/v1/teams/payments"
MINUTELY = {"cron": "* * * * *", "timezone": "Europe/Berlin"}
KEY = {"Idempotency-Key": "once"}
REASON = {"note": "the ledger is down"}
ACCOUNT = "111122223333"
FAR = "2026-12-24T18:00:00Z"


def hook(name: str, host: str = "example.com", **more: Any) -> dict[str, Any]:
    """A webhook of its own for a job."""
    return {"webhook": {"url": f"https://{host}/{name}", "timeout_seconds": 5, **more}}


class Story:
    """Chapters on one stage; each says what it leaves behind."""

    def __init__(self, *arounds: Around) -> None:
        self.front = Front.at(START, team=False)
        stage: Any = self.front.stage
        stage.queues = seamed(stage.queues, "queues", *arounds)
        stage.targets.then = self._answer
        self.front.through(seamed(self.front.memory, "store", *arounds))
        with mock.patch.object(
            delivering, "MAX_BATCH", 1
        ):  # one after the other, so that each telling is the same
            self.machine = Machine(self.front)

    def tell(self) -> None:
        """All of it; about twenty minutes pass."""
        self.teams()
        self.calendars()
        self.schedules()
        self.targets()
        self.firings()
        self.minutes(3)
        self.work()
        self.changes()
        self.minutes(2)
        self.backfills()
        self.switches()
        self.minutes(4)
        self.deaths()
        self.departure()
        self.nonsense()
        self.minutes(2)
        self.outage()
        self.minutes(4)

    def minutes(self, count: int) -> None:
        """Lets time pass."""
        self.machine.run(self.front.clock.now() + timedelta(minutes=count))

    def ask(self, method: str, path: str, body: Any = None, **how: Any) -> Reply:
        """A call that has to succeed."""
        reply = self.front.call(method, path, body, **how)
        assert reply.status < 300, (method, path, reply.status, reply.body)
        return reply

    def job(self, name: str, schedule: dict[str, Any], **more: Any) -> None:
        """Puts a job; its webhook's path is its name."""
        headers = more.pop("headers", {})
        body = {"schedule": schedule, "target": hook(name), **more}
        self.ask("PUT", f"{PAYMENTS}/jobs/{name}", body, headers=headers)

    def teams(self) -> None:
        """One that says everything, and one with a single slot."""
        said = {
            "principals": [OWNER_ROLE],
            "notify": {
                "sns": f"arn:aws:sns:eu-central-1:{ACCOUNT}:alerts",
                "webhook": "https://example.com/alerts",
                "event_bus": f"arn:aws:events:eu-central-1:{ACCOUNT}:event-bus/jobs",
            },
            "notify_on": ["dead", "succeeded", "skipped", "late", "paused", "circuit_open"],
            "allowed_hosts": ["example.com", "*.example.com"],
            "hosts": {"calm.example.com": {"max_parallel": 1, "max_per_minute": 60}},
            "delivery_role": f"arn:aws:iam::{ACCOUNT}:role/fencepost-delivery-payments",
            "retention_days": 20,
            "max_records": 100_000,
        }
        self.ask("PUT", PAYMENTS, said, by=ADMIN)
        self.ask("PUT", "/v1/teams/small", {"principals": [OWNER_ROLE], "max_concurrency": 1}, by=ADMIN)
        for scheme in ("v1", "v1a"):
            self.ask("POST", PAYMENTS + "/keys", {"scheme": scheme, **REASON})

    def calendars(self) -> None:
        """Two versions of one, and what is left of another."""
        for day in ("2026-12-25", "2026-12-26"):
            self.ask("PUT", PAYMENTS + "/calendars/holidays", {"dates": [day], "timezone": "Europe/Berlin"})
        instants = {"instants": ["2026-03-01T12:04:00Z/2026-03-01T12:05:00Z"]}
        self.ask("PUT", PAYMENTS + "/calendars/window", instants)
        self.ask("PUT", PAYMENTS + "/calendars/mistake", {"dates": ["2026-01-01"]})
        self.ask("DELETE", PAYMENTS + "/calendars/mistake")

    def schedules(self) -> None:
        """Every kind of schedule, every bound and policy."""
        bounds = {"start_at": "2026-03-01T00:00:00Z", "end_at": FAR, "max_firings": 1000}
        dst = {"gap": "skip", "overlap": "both"}
        self.job(
            "report",
            {
                "cron": "0-59 0-23 * * *",
                "timezone": "Europe/Berlin",
                **bounds,
                "jitter_seconds": 5,
                "exclude": ["holidays", "window"],
                "dst": dst,
            },
            payload={"any": ["json", 1, None]},
            description="what was said of it",
            labels={"cost": "ledger"},
            retry={"max_attempts": 3, "multiplier": 1.5},
            misfire={"policy": "catch_up", "window_seconds": 3600, "max_runs": 5},
            notify_on=["dead", "succeeded", "skipped"],
            pause_after_dead=3,
            keep_newest=10,
            tier="critical",
        )
        self.job(
            "interval",
            {"every": "PT2M", "anchor": "2026-03-01T00:00:30Z"},
            tier="bulk",
            misfire={"policy": "skip"},
        )
        self.job("once", {"in": "PT2M"}, delete_after_completion=True, headers=KEY)
        self.job("dated", {"at": FAR})

    def targets(self) -> None:
        """Every kind of target, far ahead."""
        named = f"eu-central-1:{ACCOUNT}"
        kinds: dict[str, dict[str, Any]] = {
            "sqs": {"queue_url": f"https://sqs.eu-central-1.amazonaws.com/{ACCOUNT}/work"},
            "lambda": {"function_arn": f"arn:aws:lambda:{named}:function:work"},
            "sns": {"topic_arn": f"arn:aws:sns:{named}:work"},
            "eventbridge": {
                "bus_arn": f"arn:aws:events:{named}:event-bus/jobs",
                "source": "us.jobs",
                "detail_type": "Nightly",
            },
            "step_functions": {"state_machine_arn": f"arn:aws:states:{named}:stateMachine:work"},
        }
        for kind, target in kinds.items():
            body = {"schedule": {"at": FAR}, "target": {kind: target}}
            self.ask("PUT", f"{PAYMENTS}/jobs/to-{kind.replace('_', '-')}", body)
        headed = hook("headed", method="POST", headers={"X-Ours": "yes"})
        self.ask("PUT", f"{PAYMENTS}/jobs/headed", {"schedule": {"at": FAR}, "target": headed})

    def firings(self) -> None:
        """Attempts that succeed, fail, are put off, take long, and wait for each other, for a slot, for a host."""
        patient = {"initial_delay_seconds": 3600, "max_delay_seconds": 3600, "max_attempts": 3}
        self.job("flaky", MINUTELY)
        self.job("patient", MINUTELY, retry=patient)
        self.job("doomed", MINUTELY, pause_after_dead=50)
        self.job("stubborn", MINUTELY, retry={"max_attempts": 9, "initial_delay_seconds": 1, "multiplier": 1})
        self.job("long", MINUTELY, lease_seconds=60, max_run_seconds=600, overlap="skip")
        self.job("silent", {"in": "PT1M"}, lease_seconds=30)
        self.job("inline", MINUTELY, lease_seconds=600, overlap="queue")
        calm = hook("calm", "calm.example.com")
        failing = hook("failing", "failing.example.com")
        for name, target in {"calm": calm, "calm-too": calm, "failing": failing}.items():
            self.ask("PUT", f"{PAYMENTS}/jobs/{name}", {"schedule": MINUTELY, "target": target})
        for name in ("first", "second"):
            body = {"schedule": MINUTELY, "target": hook("inline"), "lease_seconds": 600}
            self.ask("PUT", f"/v1/teams/small/jobs/{name}", body)
        self.ask("POST", PAYMENTS + "/jobs/report/run", REASON, headers={"Idempotency-Key": "by-hand"})

    def work(self) -> None:
        """A worker that reports, completes, and reports too late."""
        for name, says in {"long": "complete", "inline": "fail"}.items():
            path, record = self._running(name)
            self.ask("POST", path + "/heartbeat", {"fence": record["fence"]})
            self.ask("POST", f"{path}/{says}", {"fence": record["fence"]})
            self.front.post(path + "/complete", {"fence": record["fence"] - 1})

    def _running(self, job: str) -> tuple[str, dict[str, Any]]:
        items = self.ask("GET", f"{PAYMENTS}/jobs/{job}/executions?limit=100").body["items"]
        record = next(each for each in items if each["state"] == "RUNNING")
        return f"{PAYMENTS}/executions/{record['id']}", record

    def changes(self) -> None:
        """Edits, pauses, a job that is deleted."""
        self.ask(
            "PATCH",
            PAYMENTS + "/jobs/interval",
            {"schedule": {"every": "PT3M", "anchor": "2026-03-01T00:00:30Z"}, "labels": {"a": "b"}},
        )
        self.ask("POST", PAYMENTS + "/jobs/patient/pause", {**REASON, "cancel_started": True})
        self.ask("POST", PAYMENTS + "/jobs/patient/resume", REASON)
        self.ask("POST", PAYMENTS + "/jobs/flaky/pause", {**REASON, "until": "2026-03-01T12:09:00Z"})
        self.job("unwanted", MINUTELY)
        self.ask("DELETE", PAYMENTS + "/jobs/unwanted")
        self.ask("PATCH", PAYMENTS, {"max_concurrency": 40}, by=ADMIN)
        self.ask("POST", PAYMENTS + "/keys/rotate", {"scheme": "v1"})

    def backfills(self) -> None:
        """One that goes on, one that is over, one that was called off."""
        past = {"from": "2026-03-01T11:00:00Z", "to": "2026-03-01T11:10:00Z", **REASON}
        self.ask("POST", PAYMENTS + "/jobs/report/backfills", {**past, "rate": 1, "force": True})
        self.ask("POST", PAYMENTS + "/jobs/calm/backfills", {**past, "rate": 600, "overlap": "skip"})
        asked = self.ask("POST", PAYMENTS + "/jobs/interval/backfills", {**past, "rate": 1}).body
        self.ask("DELETE", f"{PAYMENTS}/jobs/interval/backfills/{asked['id']}")

    def switches(self) -> None:
        """A team's tiers and the stage, held and free again."""
        held = {**REASON, "until": "2026-03-01T12:08:00Z", "tiers": ["bulk", "standard"]}
        self.ask("POST", PAYMENTS + "/pause", held)
        self.ask("POST", "/v1/stage/pause", {**REASON, "tiers": ["bulk"]}, by=ADMIN)
        self.minutes(2)
        self.ask("POST", "/v1/stage/resume", REASON, by=ADMIN)
        self.ask(
            "POST", "/v1/stage/pause", {"until": "2026-03-02T00:00:00Z", "tiers": ["recovery"]}, by=ADMIN
        )

    def deaths(self) -> None:
        """A dead letter that is sent again, and others that lie."""
        letters = self.ask("GET", PAYMENTS + "/dead-letters?limit=100").body["items"]
        self.ask(
            "POST", f"{PAYMENTS}/executions/{letters[0]['id']}/redrive", headers={"Idempotency-Key": "again"}
        )

    def departure(self) -> None:
        """A team that comes back under its name, and one that is on its way out."""
        for name in ("born-again", "leaving"):
            path = f"/v1/teams/{name}"
            self.ask("PUT", path, {"principals": [OWNER_ROLE]}, by=ADMIN)
            self.ask("PUT", f"{path}/jobs/last", {"schedule": {"at": FAR}, "target": hook("last")})
            if name == "born-again":
                self.ask("DELETE", path + "?purge=true", by=ADMIN)
                self.minutes(4)
                self.ask("PUT", path, {"principals": [OWNER_ROLE]}, by=ADMIN)
        self.ask("DELETE", "/v1/teams/leaving?purge=true", by=ADMIN)

    def nonsense(self) -> None:
        """A timer and a message that nobody understands."""
        self.job("broken", MINUTELY)
        claim = self.front.memory.get(keys.name_claim("payments", "broken"))
        assert claim is not None
        for item in self.front.memory.everything(Table.TIMERS):
            if str(item["sk"]).split("#")[2] == claim["uid"]:
                broken = {name: value for name, value in item.items() if name not in {"pk", "sk", "due"}}
                self.front.memory.write(Put(key=Key(Table.TIMERS, item["pk"], item["sk"]), item=broken))
        self.front.stage.queues.send([Outgoing(queue=QueueName.PUMP, body='{"v":1,"nobody":"knows"}')])

    def outage(self) -> None:
        """No tick for ten minutes, and a firing whose workers all died before they began."""
        [due, *_] = [
            item
            for item in self.front.memory.everything(Table.EXECUTIONS)
            if item.get("state") == "QUEUED" and item["job"] == "calm"
        ]
        lost = ExecutionId.parse(f"{due['pk']}-{str(due['sk']).replace('#', '-', 1)}")
        self.front.stage.queues.send([Outgoing(queue=QueueName.DEAD_STANDARD, body=wake_body(lost))])
        self.minutes(1)
        self.front.clock.advance(minutes=10)

    @staticmethod
    def _answer(delivery: wire.Delivery) -> Outcome:
        job, attempt = delivery.facts.job, delivery.facts.attempt
        match job:
            case "doomed":
                return Refused(status=410, error="answered 410: never again")
            case "failing" | "stubborn":
                return Failed(status=503, error="answered 503")
            case "flaky" | "patient" if attempt == 1:
                return Failed(status=500, error="answered 500")
            case "long" | "silent" | "inline" | "first" | "second":
                return Accepted()
            case _:
                return Delivered(status=200, excerpt="thanks")
