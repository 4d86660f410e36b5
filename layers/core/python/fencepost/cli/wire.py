"""The program's own results as JSON, for --json where no answer of the API is behind them."""

from __future__ import annotations

from typing import Any

from fencepost.client.applying import Carried
from fencepost.client.planning import Step


def step_to_wire(step: Step) -> dict[str, Any]:
    """One step of a plan."""
    return {
        "name": step.name,
        "action": step.action.value,
        "changes": [
            {"field": change.field, "before": change.before, "after": change.after} for change in step.changes
        ],
        "cancels": list(step.cancels),
        "next_before": [each.raw["at"] for each in step.next_before],
        "next_after": [each.raw["at"] for each in step.next_after],
        "faults": [str(fault) for fault in step.error.faults] if step.error else [],
    }


def carried_to_wire(carried: Carried) -> dict[str, Any]:
    """What became of one step."""
    result = carried.result
    return {
        "name": carried.step.name,
        "action": carried.step.action.value,
        "status": result.status,
        "revision": result.revision,
        "problem": result.problem,
    }
