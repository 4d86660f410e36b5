"""The custom resource: a stack declares its jobs, changes them, and takes them away again; nobody else's."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from fencepost.client import DeclarationError, Fencepost, NotDeclaredError, every, webhook
from fencepost.client.cloudformation import LABEL, Outcome, handler, on_event, tag
from tests.support.api import Front
from tests.support.clients import ENDPOINT, InProcess, client, lost

HOOK = webhook("https://example.com/hook")
HOURLY = {"schedule": every("PT1H"), "target": HOOK}


@pytest.fixture
def front() -> Front:
    return Front.at()


@pytest.fixture
def payments(front: Front) -> Fencepost:
    return client(front)


def event(
    kind: str, jobs: Any, *, request: str = "r-1", stack: str = "ledger", **more: Any
) -> dict[str, Any]:
    return {
        "RequestType": kind,
        "RequestId": request,
        "StackId": f"arn:aws:cloudformation:eu-central-1:111122223333:stack/{stack}/guid",
        "LogicalResourceId": "Jobs",
        "ResourceProperties": {
            "Endpoint": ENDPOINT,
            "Team": "payments",
            "Jobs": json.dumps({"version": 1, "jobs": jobs}),
        },
        **more,
    }


def happen(payments: Fencepost, what: dict[str, Any]) -> Outcome:
    return on_event(what, lambda properties: payments.for_team(properties["Team"]))


def names(payments: Fencepost) -> list[str]:
    return [job.name for job in payments.jobs()]


def test_a_stack_declares_changes_and_removes_its_jobs(payments):
    made = happen(payments, event("Create", {"a": HOURLY, "b": HOURLY}))
    assert (names(payments), made.data) == (["a", "b"], {"Jobs": 2})

    changed = happen(payments, event("Update", {"b": {**HOURLY, "tier": "bulk"}, "c": HOURLY}, request="r-2"))
    assert names(payments) == ["b", "c"]
    assert payments.job("b").get().tier == "bulk"
    assert changed.physical_id == made.physical_id

    gone = event("Delete", {"b": HOURLY}, request="r-3", PhysicalResourceId=made.physical_id)
    assert happen(payments, gone).physical_id == made.physical_id
    assert names(payments) == []


def test_jobs_that_others_declared_are_never_touched(payments):
    payments.job("theirs").put(**HOURLY)
    happen(payments, event("Create", {"mine": HOURLY}))

    with pytest.raises(NotDeclaredError, match="theirs: is there already, and not this stack's"):
        happen(payments, event("Update", {"mine": HOURLY, "theirs": HOURLY}, request="r-2"))
    with pytest.raises(NotDeclaredError, match="mine: is there already"):
        happen(payments, event("Create", {"mine": HOURLY}, stack="other"))
    happen(payments, event("Delete", {"theirs": HOURLY}, request="r-3", PhysicalResourceId="x"))

    assert names(payments) == ["theirs"]
    assert payments.job("theirs").get().revision == 1


def test_a_refused_job_stops_the_whole_deployment(payments):
    jobs = {"good": HOURLY, "bad": {**HOURLY, "tier": "gold"}}

    with pytest.raises(NotDeclaredError, match="bad: tier"):
        happen(payments, event("Create", jobs))
    with pytest.raises(DeclarationError):
        happen(payments, event("Create", {"good": {"shedule": {}}}))

    assert names(payments) == []


def test_an_event_that_comes_twice_changes_nothing(payments):
    for _ in range(2):
        happen(payments, event("Create", {"a": HOURLY}))

    assert payments.job("a").get().revision == 1


def test_a_lost_answer_is_no_second_change(front):
    wire = InProcess(front)
    payments = client(front, transport=wire)
    wire.troubles.extend([lambda answer: answer] * 2)  # the plan's dry run and the list
    wire.troubles.append(lost)

    happen(payments, event("Create", {"a": HOURLY}))

    assert [each.url.rpartition("/")[2] for each in wire.requests].count("bulk") == 2
    assert [entry.revision for entry in payments.job("a").history()] == [1]


def test_a_rolled_back_update_finds_its_own_jobs_again(payments):
    happen(payments, event("Create", {"a": HOURLY}))
    happen(payments, event("Update", {"b": HOURLY}, request="r-2"))

    happen(payments, event("Update", {"a": HOURLY}, request="r-3"))

    assert names(payments) == ["a"]


def test_deleting_what_is_gone_already_succeeds(payments):
    gone = event("Delete", {}, PhysicalResourceId="x")
    gone["ResourceProperties"]["Team"] = "nobody"

    admin = Fencepost(
        endpoint=ENDPOINT,
        team="nobody",
        keys=client(payments.transport.front, by="AKIDADMIN").keys,
        transport=payments.transport,
    )
    assert on_event(gone, lambda _: admin).physical_id == "x"


def test_another_team_or_endpoint_is_another_resource(payments):
    first = happen(payments, event("Create", {"a": HOURLY}))
    other = event("Update", {"a": HOURLY}, request="r-2")
    other["ResourceProperties"]["Endpoint"] = "https://elsewhere.example"

    assert happen(payments, other).physical_id != first.physical_id


def test_the_label_names_the_stacks_resource(payments):
    happen(payments, event("Create", {"a": {**HOURLY, "labels": {"app": "ledger"}}}))

    assert payments.job("a").get().labels == {"app": "ledger", LABEL: tag(event("Create", {}))}
    assert tag(event("Create", {})) != tag(event("Create", {}, stack="other"))


class Listening(BaseHTTPRequestHandler):
    told: list[dict[str, Any]]

    def do_PUT(self) -> None:
        self.told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's word
        pass


@pytest.fixture
def cloudformation() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    class Told(Listening):
        told: list[dict[str, Any]] = []  # noqa: RUF012 - what this test was told

    server = HTTPServer(("127.0.0.1", 0), Told)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/answer", Told.told
    server.shutdown()
    server.server_close()
    thread.join()


def test_cloudformation_is_told_how_it_went(payments, cloudformation, monkeypatch):
    url, told = cloudformation
    monkeypatch.setattr("fencepost.client.cloudformation.Fencepost", lambda **_: payments)

    handler(event("Create", {"a": HOURLY}, ResponseURL=url), None)
    handler(event("Update", {"a": {**HOURLY, "tier": "gold"}}, ResponseURL=url), None)

    good, bad = told
    assert (good["Status"], good["RequestId"], good["Data"]) == ("SUCCESS", "r-1", {"Jobs": 1})
    assert good["PhysicalResourceId"] == bad["PhysicalResourceId"]
    assert bad["Status"] == "FAILED"
    assert "a: tier" in bad["Reason"]


def test_a_stack_that_may_not_declare_can_be_rolled_back(front, cloudformation, monkeypatch):
    """The first deployment of a role that no team knows yet: the deletion that follows is refused as well."""
    url, told = cloudformation
    stranger = client(front, by="AKIDSTRANGER")
    monkeypatch.setattr("fencepost.client.cloudformation.Fencepost", lambda **_: stranger)

    handler(event("Create", {"a": HOURLY}, ResponseURL=url), None)
    gone = {"PhysicalResourceId": told[0]["PhysicalResourceId"], "ResponseURL": url}
    handler(event("Delete", {"a": HOURLY}, **gone), None)

    assert [each["Status"] for each in told] == ["FAILED", "SUCCESS"]
    assert "NotAllowedError" in told[0]["Reason"]
    assert told[0]["PhysicalResourceId"] == told[1]["PhysicalResourceId"]


def test_what_a_creation_wrote_before_it_failed_is_deleted_with_it(front, cloudformation, monkeypatch):
    url, told = cloudformation
    wire = InProcess(front)
    payments = client(front, transport=wire)
    monkeypatch.setattr("fencepost.client.cloudformation.Fencepost", lambda **_: payments)
    happen(payments, event("Create", {"a": HOURLY}))
    monkeypatch.setattr("fencepost.client.cloudformation.apply", _broken)

    handler(event("Create", {"a": HOURLY, "b": HOURLY}, ResponseURL=url), None)
    monkeypatch.undo()
    gone = event("Delete", {}, request="r-2", PhysicalResourceId=told[0]["PhysicalResourceId"])
    happen(payments, gone)

    assert told[0]["Status"] == "FAILED"
    assert names(payments) == []


def _broken(*_: object, **__: object) -> Any:
    raise NotDeclaredError("b: the service has other worries")


def test_cloudformation_is_told_whatever_goes_wrong(cloudformation):
    url, told = cloudformation
    broken = event("Create", {}, ResponseURL=url)
    broken["ResourceProperties"] = {"Endpoint": ENDPOINT, "Team": "payments", "Jobs": "{"}

    handler(broken, None)

    assert told[0]["Status"] == "FAILED"
    assert "JSONDecodeError" in told[0]["Reason"]
