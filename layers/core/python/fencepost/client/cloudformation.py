"""A CloudFormation custom resource that declares a team's jobs: `apply`, with the stack as the owner of what it declared.

Properties: `Endpoint`, `Team`, `Jobs` (a file of jobs as JSON text, since CloudFormation turns numbers and booleans of its
own properties into text), and `Region` where the endpoint's name does not tell it.

Every job carries a label that names the stack's resource. A job of the same name without that label is somebody else's:
the deployment fails and changes nothing. What is left out of a later deployment is deleted, and so is everything with the
resource; only what carries the label.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import urllib3

from fencepost.client.applying import apply
from fencepost.client.declaration import read_jobs
from fencepost.client.errors import NotDeclaredError, NotFoundError
from fencepost.client.fencepost import Fencepost
from fencepost.client.planning import Action, Plan, Prune, Step, plan

LABEL = "cloudformation"
UNDECLARED = "undeclared-"
"""How the id of a resource begins whose creation ended before anything was written."""
LONGEST_REASON = 2000
_TAG = 20

Event = Mapping[str, Any]


class Connect(Protocol):
    """Makes the client of a deployment."""

    def __call__(self, properties: Event, /) -> Fencepost: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What CloudFormation is told."""

    physical_id: str
    data: Mapping[str, Any]


def handler(event: Event, context: object) -> None:
    """The Lambda function: does what the event asks for, and tells CloudFormation how it went, whatever happened."""
    del context
    known = f"{UNDECLARED}{tag(event)}" if event["RequestType"] == "Create" else physical_id(event)
    try:
        work = prepare(event)
        known = physical_id(event)  # from here on there may be jobs
        outcome = work()
        told = {"Status": "SUCCESS", "PhysicalResourceId": outcome.physical_id, "Data": dict(outcome.data)}
    except Exception as error:  # noqa: BLE001 - a resource that is never answered hangs its stack for an hour
        reason = f"{type(error).__name__}: {error}"[:LONGEST_REASON]
        told = {"Status": "FAILED", "PhysicalResourceId": known, "Reason": reason}
    same = {name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")}
    body = json.dumps({**same, **told}).encode()
    urllib3.PoolManager(retries=urllib3.Retry(3, allowed_methods=None)).request(
        "PUT", event["ResponseURL"], body=body, headers={"Content-Type": ""}
    )


def on_event(event: Event, connect: Connect | None = None) -> Outcome:
    """Carries the event out. Raises FencepostError; repeating an event is harmless."""
    return prepare(event, connect)()


def prepare(event: Event, connect: Connect | None = None) -> Callable[[], Outcome]:
    """What is to be done, read and planned; nothing is written before it is called. Raises FencepostError.

    A creation that was refused is followed by a deletion when its stack rolls back. Whoever may not declare may not delete
    either, so that deletion asks nobody: the stack would be stuck.
    """
    if event["RequestType"] == "Delete" and event["PhysicalResourceId"].startswith(UNDECLARED):
        return lambda: Outcome(physical_id=event["PhysicalResourceId"], data={})
    properties = event["ResourceProperties"]
    client = (connect or _connect)(properties)
    labels = {LABEL: tag(event)}
    if event["RequestType"] == "Delete":
        leaving = _leaving(client, labels)
        return lambda: _done(
            client, leaving, event, Outcome(physical_id=event["PhysicalResourceId"], data={})
        )
    declared = read_jobs(json.loads(properties["Jobs"]))
    jobs = {
        name: {**job, "labels": {**job.get("labels", {}), **labels}} for name, job in declared.jobs.items()
    }
    planned = plan(client, jobs, prune=Prune(labels=labels))
    _refuse(planned, labels)
    return lambda: _done(
        client, planned, event, Outcome(physical_id=physical_id(event), data={"Jobs": len(jobs)})
    )


def tag(event: Event) -> str:
    """The name of the stack's resource, short enough for a label, the same for as long as the resource lives."""
    named = f"{event['StackId']} {event['LogicalResourceId']}"
    return hashlib.sha256(named.encode()).hexdigest()[:_TAG]


def physical_id(event: Event) -> str:
    """Another team or endpoint is another resource: CloudFormation then deletes the old one's jobs."""
    properties = event["ResourceProperties"]
    where = hashlib.sha256(str(properties.get("Endpoint")).encode()).hexdigest()[:8]
    return f"{properties.get('Team')}-{tag(event)}-{where}"


def _leaving(client: Fencepost, labels: Mapping[str, str]) -> Plan:
    try:
        return plan(client, {}, prune=Prune(labels=labels))
    except NotFoundError:
        return Plan(())  # the team is gone, and its jobs with it


def _refuse(planned: Plan, labels: Mapping[str, str]) -> None:
    faults = [f"{step.name}: {step.error}" for step in planned.refused]
    faults += [
        f"{step.name}: is there already, and not this stack's"
        for step in planned.steps
        if _foreign(step, labels)
    ]
    if faults:
        raise NotDeclaredError("; ".join(faults))


def _foreign(step: Step, labels: Mapping[str, str]) -> bool:
    """Whether a job that is there was not declared by this resource: the label itself would be news to it."""
    fields = {f"labels.{name}" for name in labels}
    return step.action is Action.CHANGE and any(change.field in fields for change in step.changes)


def _done(client: Fencepost, planned: Plan, event: Event, outcome: Outcome) -> Outcome:
    applied = apply(client, planned, key=str(event["RequestId"]))
    if applied.failed:
        raise NotDeclaredError("; ".join(f"{each.step.name}: {each.result.error}" for each in applied.failed))
    return outcome


def _connect(properties: Event) -> Fencepost:
    return Fencepost(
        endpoint=properties["Endpoint"], team=properties["Team"], region=properties.get("Region") or None
    )
