"""EventBridge: schedules (`aws scheduler get-schedule`) and rules (`aws events list-rules`, each with its Targets)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from fencepost.cli.imports.carried import Cargo
from fencepost.domain.schedule.fields import DAY_NAMES

_CRON = re.compile(r"cron\((.*)\)")
_RATE = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")
_AT = re.compile(r"at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)")
_YEARS = re.compile(r"(\d{4})(?:-(\d{4}))?")
_ARN = re.compile(
    r"arn:(?P<partition>aws[a-z-]*):(?P<service>[a-z]+):(?P<region>[^:]*):(?P<account>\d*):(?P<rest>.+)"
)
_RATE_LOST = "its steps counted from its creation there, and do from its first declaration here"


class ForeignError(ValueError):
    """Something of there has no counterpart here; says what."""


def read_eventbridge(raw: object, now: datetime) -> Cargo:
    """The jobs of schedules, rules, or lists of either. Raises ForeignError for another document."""
    cargo = Cargo()
    for number, entry in enumerate(_entries(raw), start=1):
        name = str(entry.get("Name") or f"entry {number}")
        if "ScheduleExpression" not in entry:
            cargo.leave(name, str(entry.get("EventPattern", "")), "it waits for events, not for a time")
            continue
        for target in entry.get("Targets") or [entry.get("Target") or {}]:
            try:
                job, lost = _job(entry, target)
            except ForeignError as error:
                cargo.leave(name, str(entry["ScheduleExpression"]), str(error))
                continue
            cargo.take(name, name, job, now, lost)
    return cargo


def _entries(raw: object) -> list[Mapping[str, Any]]:
    if isinstance(raw, Mapping):
        raw = raw.get("Schedules") or raw.get("Rules") or [raw]
    if not isinstance(raw, list) or not all(isinstance(each, Mapping) for each in raw):
        raise ForeignError("a document with Schedules or Rules is wanted, or a list of either")
    return raw


def _job(entry: Mapping[str, Any], target: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    schedule = _schedule(entry)
    job: dict[str, Any] = {"schedule": schedule, "target": _target(str(target.get("Arn", "")))}
    if "Input" in target:
        job["payload"] = _value(str(target["Input"]))
    attempts = (target.get("RetryPolicy") or {}).get("MaximumRetryAttempts")
    if attempts is not None:
        job["retry"] = {"max_attempts": min(int(attempts) + 1, 100)}
    if entry.get("Description"):
        job["description"] = str(entry["Description"])
    if entry.get("GroupName", "default") != "default":
        job["labels"] = {"group": str(entry["GroupName"])}
    if entry.get("ActionAfterCompletion") == "DELETE":
        job["delete_after_completion"] = True
    return job, list(_lost(entry, target))


def _lost(entry: Mapping[str, Any], target: Mapping[str, Any]) -> Iterator[str]:
    if entry.get("State") == "DISABLED":
        yield "it was disabled: pause it after it is applied"
    if str(entry["ScheduleExpression"]).startswith("rate("):
        yield _RATE_LOST
    if target.get("RoleArn"):
        yield "its role: a team has one delivery_role for its AWS targets"
    if target.get("DeadLetterConfig"):
        yield "its dead-letter queue: the team is told of dead letters, see notify"
    if (target.get("RetryPolicy") or {}).get("MaximumEventAgeInSeconds"):
        yield "its maximum event age: see misfire.window_seconds"
    for name in ("InputPath", "InputTransformer", "SqsParameters", "KinesisParameters"):
        if target.get(name):
            yield f"its {name}"


def _schedule(entry: Mapping[str, Any]) -> dict[str, Any]:
    expression, zone = (
        str(entry["ScheduleExpression"]).strip(),
        str(entry.get("ScheduleExpressionTimezone") or "UTC"),
    )
    schedule = _rule(expression, zone)
    window = (entry.get("FlexibleTimeWindow") or {}).get("MaximumWindowInMinutes")
    if window:
        schedule["jitter_seconds"] = int(window) * 60
    for theirs, ours in (("StartDate", "start_at"), ("EndDate", "end_at")):
        if entry.get(theirs):
            schedule[ours] = str(entry[theirs])
    return schedule


def _rule(expression: str, zone: str) -> dict[str, Any]:
    if rate := _RATE.fullmatch(expression):
        count, unit = rate.groups()
        return {"every": f"P{count}D" if unit == "day" else f"PT{count}{unit[0].upper()}"}
    if at := _AT.fullmatch(expression):
        if zone != "UTC":
            raise ForeignError(f"one instant in {zone}: name it with its offset")
        return {"at": f"{at[1]}Z"}
    if cron := _CRON.fullmatch(expression):
        return _cron(cron[1].split(), zone)
    raise ForeignError("it is neither cron(...) nor rate(...) nor at(...)")


def _cron(words: list[str], zone: str) -> dict[str, Any]:
    """Six fields as five: ``?`` is a star, 1 is Sunday, and years become bounds."""
    if len(words) != 6:
        raise ForeignError("cron(...) has six fields there")
    *fields, years = words
    if any(re.search(r"L|W|#", field) for field in (fields[2], fields[4].upper().replace("WED", ""))):
        raise ForeignError("L, W and # have no counterpart here")
    minute, hour, day, month, weekday = ("*" if field == "?" else field for field in fields)
    weekday = re.sub(r"(?<![\d/])[1-7](?!\d)", lambda found: DAY_NAMES[int(found.group()) - 1], weekday)
    schedule: dict[str, Any] = {"cron": f"{minute} {hour} {day} {month} {weekday}", "timezone": zone}
    if years != "*":
        found = _YEARS.fullmatch(years)
        if found is None or zone != "UTC":
            raise ForeignError(f"the years {years}: see start_at and end_at")
        schedule["start_at"] = f"{found[1]}-01-01T00:00:00Z"
        schedule["end_at"] = f"{found[2] or found[1]}-12-31T23:59:59Z"
    return schedule


def _target(arn: str) -> dict[str, Any]:
    parts = _ARN.fullmatch(arn)
    if parts is None:
        raise ForeignError("it has no target" if not arn else f"its target {arn[:100]} is no ARN")
    rest = parts["rest"]
    match parts["service"]:
        case "lambda":
            return {"lambda": {"function_arn": arn}}
        case "sns":
            return {"sns": {"topic_arn": arn}}
        case "states" if rest.startswith("stateMachine:"):
            return {"step_functions": {"state_machine_arn": arn}}
        case "events" if rest.startswith("event-bus/"):
            return {"eventbridge": {"bus_arn": arn}}
        case "sqs" if not rest.endswith(".fifo"):
            suffix = ".cn" if parts["partition"] == "aws-cn" else ""
            url = f"https://sqs.{parts['region']}.amazonaws.com{suffix}/{parts['account']}/{rest}"
            return {"sqs": {"queue_url": url}}
        case _:
            raise ForeignError(f"its target {arn[:100]} is of a kind that is not called from here")


def _value(text: str) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return json.loads(text)
    except ValueError:
        return text
