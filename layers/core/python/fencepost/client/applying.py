"""Carrying out a plan: many jobs a call, each only if it is still what the plan saw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from fencepost.client.bulk import BulkItem, BulkResult
from fencepost.client.fencepost import Fencepost
from fencepost.client.planning import Action, Plan, Step

CHUNK = 50
ROUNDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """What became of one step."""

    step: Step
    result: BulkResult

    @property
    def done(self) -> bool:
        """Whether it happened."""
        return self.result.done


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of every step that changes something."""

    carried: tuple[Carried, ...] = field(default=())

    @property
    def failed(self) -> tuple[Carried, ...]:
        """What did not happen, with its reason."""
        return tuple(each for each in self.carried if not each.done)


def apply(
    client: Fencepost,
    plan: Plan,
    *,
    key: str | None = None,
    done: Callable[[Carried], None] | None = None,
) -> Applied:
    """Does what the plan says, its refused steps left out; `done` hears of each step. Steps that the service did not get
    round to are sent again, at most `ROUNDS` times. `key` makes repetitions of the same application one.
    """
    found: list[Carried] = []
    waiting = list(plan.pending)
    for turn in range(ROUNDS):
        again: list[Step] = []
        for number, chunk in enumerate(_chunks(waiting)):
            named = None if key is None else f"{key}.{turn}.{number}"
            for carried in _send(client, chunk, named):
                if carried.result.not_tried and turn < ROUNDS - 1:
                    again.append(carried.step)
                else:
                    found.append(carried)
                    if done is not None:
                        done(carried)
        waiting = again
        if not waiting:
            break
    return Applied(tuple(found))


def _send(client: Fencepost, steps: Sequence[Step], key: str | None) -> list[Carried]:
    items = [
        BulkItem(
            name=step.name,
            job=None if step.action is Action.DELETE else step.job,
            revision=step.revision or None,
        )
        for step in steps
    ]
    results = client.bulk(items, key=key)
    return [Carried(step=step, result=result) for step, result in zip(steps, results, strict=True)]


def _chunks(steps: Sequence[Step]) -> list[list[Step]]:
    rest = iter(steps)
    chunks = []
    while chunk := list(islice(rest, CHUNK)):
        chunks.append(chunk)
    return chunks
