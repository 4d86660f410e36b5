"""Least privilege, felt in the tests: a handler over a stage in memory may do what its deployed role may, and no more.

What a role lacks shows on AWS as AccessDenied, in production and at night. Here it ends the test that needed it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from fencepost.adapters.seam import PortCall, seamed
from fencepost.application.store import Check, Delete, Key, Put, Query, Share, Update
from infra.names import Fn
from infra.permissions import GRANTS, grants_of

T = TypeVar("T")
S = TypeVar("S")

_ACTIONS = {Put: "PutItem", Update: "UpdateItem", Delete: "DeleteItem", Check: "ConditionCheckItem"}


class NotGrantedError(BaseException):
    """No Exception: a handler that copes with failures must not cope with this one."""


class Within:
    """An around that lets through what the function is granted."""

    def __init__(self, function: Fn, *, restored: bool = False) -> None:
        self._function = function
        self._grants = grants_of(function, restored=restored)

    def __call__(self, call: PortCall, proceed: Callable[[], T], /) -> T:
        """Raises NotGrantedError."""
        for resource, action in wanted(call):
            if action not in self._allowed(resource, action):
                raise NotGrantedError(
                    f"{self._function} may not {action} on {resource}: grant it in infra/permissions.py, or do without"
                )
        return proceed()

    def _allowed(self, resource: str, action: str) -> Sequence[str]:
        if action == "SendMessage":
            return [action] if resource in self._grants.sends else []
        if action == "ChangeMessageVisibility":
            return [action] if resource in self._consumed() else []
        return self._grants.tables.get(resource, ())

    def _consumed(self) -> frozenset[str]:
        """What all functions of the same code consume: they differ in nothing else."""
        alike = [each for each in Fn if each.folder == self._function.folder]
        return frozenset(queue for each in alike for queue in GRANTS[each].consumes)


_READS = {"get": "GetItem", "pages": "Query", "scan": "Scan"}
_LISTS = {"batch_get": "BatchGetItem", "batch_delete": "BatchWriteItem"}


def wanted(call: PortCall) -> Iterable[tuple[str, str]]:
    """The permissions that a call of a port needs: (table or queue, action)."""
    subject: Any = call.args[0] if call.args else next(iter(call.kwargs.values()), None)
    match call.port, call.method:
        case "store", ("get" | "pages" | "scan") as method:
            return [(_table(subject), _READS[method])]
        case "store", ("batch_get" | "batch_delete") as method:
            return [(_table(key), _LISTS[method]) for key in subject]
        case "store", ("write" | "transact") as method:
            actions = [subject] if method == "write" else subject
            return [(_table(each.key), _ACTIONS[type(each)]) for each in actions]
        case "queues", "send":
            return [(message.queue.value, "SendMessage") for message in subject]
        case "queues", "set_visibility":
            return [(subject.queue.value, "ChangeMessageVisibility")]
        case _:
            raise NotGrantedError(f"nobody knows what {call.port}.{call.method} needs")


def held(stage: S, module: str) -> S:
    """`stage` as the handler `functions.{folder}.handler` has it when it is deployed."""
    folder = module.split(".")[1]
    view: Any = copy.copy(stage)
    function = next(function for function in Fn if function.folder == folder)
    within = Within(function, restored=view.settings.restored is not None)
    view.store = seamed(view.store, "store", within)
    view.queues = seamed(view.queues, "queues", within)
    if "quick_store" in vars(view):
        view.quick_store = seamed(view.quick_store, "store", within)
    return view  # type: ignore[no-any-return] # a copy of the stage that came in


def _table(subject: Key | Query | Share) -> str:
    return str(subject.table)
