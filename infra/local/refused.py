"""Where the local engine differs from AWS: what it does not take is cut out of the templates, and what it asks for
besides is added. All else is deployed as it was synthesised.

Each entry has a test that the engine still differs, so the list cannot outlive its cause.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

Resource = Mapping[str, Any]
Template = Mapping[str, Any]


def composite_alarm(resource: Resource) -> bool:
    """An alarm made of alarms."""
    return str(resource["Type"]) == "AWS::CloudWatch::CompositeAlarm"


def math_alarm(resource: Resource) -> bool:
    """An alarm on an expression."""
    return str(resource["Type"]) == "AWS::CloudWatch::Alarm" and "Metrics" in resource["Properties"]


def service_level_objective(resource: Resource) -> bool:
    """An objective that AWS keeps count of."""
    return str(resource["Type"]) == "AWS::ApplicationSignals::ServiceLevelObjective"


REFUSED: tuple[Callable[[Resource], bool], ...] = (composite_alarm, math_alarm, service_level_objective)


ALSO = {"sqs:SendMessage": "sqs:SendMessageBatch"}
"""On AWS the first allows the second, which is no action at all; the engine asks for it by name."""


def demands_tls(statement: Mapping[str, Any]) -> bool:
    """A statement that denies plain http, which is what the engine speaks on loopback."""
    condition = statement.get("Condition", {}).get("Bool", {})
    return str(statement["Effect"]) == "Deny" and condition == {"aws:SecureTransport": "false"}


def accepted(template: Template) -> dict[str, Any]:
    """The template less what the engine refuses. Raises ValueError where something kept depends on something cut."""
    kept = copy.deepcopy(dict(template))
    resources = kept["Resources"]
    cut = {name for name, resource in resources.items() if any(refused(resource) for refused in REFUSED)}
    for name in cut:
        del resources[name]
    for name in [name for name, resource in resources.items() if _without_tls(resource) == []]:
        del resources[name]
        cut.add(name)
    for role in (each for each in resources.values() if each["Type"] == "AWS::IAM::Role"):
        for policy in role["Properties"].get("Policies", ()):
            _widen(policy["PolicyDocument"]["Statement"])
    for name, resource in resources.items():
        if cut & set(_many(resource.get("DependsOn", []))):
            raise ValueError(f"{name} depends on what the engine refuses")
    return kept


def _without_tls(resource: dict[str, Any]) -> list[Any] | None:
    """Takes the statements that demand TLS out of a policy; the statements left, None for anything but a policy."""
    if resource["Type"] not in {"AWS::SQS::QueuePolicy", "AWS::SNS::TopicPolicy"}:
        return None
    document = resource["Properties"]["PolicyDocument"]
    document["Statement"] = [each for each in document["Statement"] if not demands_tls(each)]
    return list(document["Statement"])


def _widen(statements: list[dict[str, Any]]) -> None:
    for statement in statements:
        actions = _many(statement["Action"])
        statement["Action"] = [*actions, *(ALSO[action] for action in actions if action in ALSO)]


def _many(value: Any) -> list[str]:  # noqa: ANN401 - a template says one name or a list of them
    return [value] if isinstance(value, str) else list(value)
