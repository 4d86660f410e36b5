"""What is put around every call of every port: a moment before its effect, a moment after it, and the faults between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from fencepost.adapters.algebra import after, holds
from fencepost.adapters.seam import END, PortCall
from fencepost.application.ports import Outgoing, QueueUnavailableError
from fencepost.application.store import (
    Action,
    Cancelled,
    Cause,
    Check,
    OutcomeUnknownError,
    Reason,
    StoreBusyError,
)
from tests.simulation import labels
from tests.simulation.dice import spread
from tests.simulation.faults import BEFORE, WRITES_ONLY, Armed, Fault, Kind, Trap
from tests.simulation.journal import SPRUNG, STRUCK, Journal
from tests.simulation.kernel import Crashed, Host, Kernel, Task
from tests.simulation.store import SimStore

T = TypeVar("T")
WRITES = frozenset({"write", "transact", "batch_delete", "send", "set_visibility"})
LONGEST_SKEW = 2_000_000


class Boundary:
    """The seam's `Around` of a history. `killed` is told of hosts that crash."""

    def __init__(
        self,
        kernel: Kernel,
        journal: Journal,
        store: SimStore,
        armed: Armed,
        *,
        latency: tuple[int, int],
        send: Callable[[Sequence[Outgoing]], object],
        killed: Callable[[Host], None],
    ) -> None:
        self._kernel = kernel
        self._journal = journal
        self._store = store
        self._armed = armed
        self._high = latency[1]
        self._moments = spread(*latency)
        self._send = send
        self._killed = killed
        self._next_at = armed.next_at

    def __call__(self, call: PortCall, proceed: Callable[[], T], /) -> T:
        """One call of a port."""
        kernel = self._kernel
        task = kernel.current
        if task is None:
            return proceed()
        if task.host.dead:
            raise Crashed
        if call.page == 0:
            kernel.pause(task.die.pick(self._moments))
        if kernel.now >= self._next_at:
            self._armed.arm(kernel.now)
            self._next_at = self._armed.next_at
        if self._armed.armed:
            return cast("T", self._watched(call, proceed, task))
        result = proceed()
        if result is not END:
            kernel.pause(task.die.pick(self._moments))
        return result

    def _watched(self, call: PortCall, proceed: Callable[[], Any], task: Task) -> Any:
        """A call while faults or traps are armed: the first that fits strikes."""
        words = self._words(call)
        for part in tuple(self._armed.armed):
            if isinstance(part, Trap):
                if part.on in words:
                    self._armed.disarm(part)
                    self._journal.note(SPRUNG, part.what, tuple(sorted(words)))
                    part.spring()
            elif self._fits(part, call, words):
                return self._strike(part, call, proceed, task, words)
        result = proceed()
        if result is not END:
            self._kernel.pause(task.die.pick(self._moments))
        return result

    def _fits(self, fault: Fault, call: PortCall, words: frozenset[str]) -> bool:
        if fault.kind in WRITES_ONLY and call.method not in WRITES:
            return False
        if fault.kind is Kind.CONFLICT and call.method not in {"write", "transact"}:
            return False
        if fault.kind is Kind.UNPROCESSED and call.method not in {"batch_get", "batch_delete", "send"}:
            return False
        if fault.kind in {Kind.THROTTLE, Kind.LATE_EFFECT, Kind.LOST_ANSWER} and call.port == "targets":
            return False
        if fault.on is not None:
            return fault.on in words
        if fault.skip > 0:
            fault.skip -= 1
            return False
        return True

    def _strike(
        self, fault: Fault, call: PortCall, proceed: Callable[[], Any], task: Task, words: frozenset[str]
    ) -> Any:
        self._journal.note(STRUCK, fault.kind.value, tuple(sorted(words)), f"{call.port}.{call.method}")
        if fault.repeat > 0:
            fault.repeat -= 1
        else:
            self._armed.disarm(fault)
        if fault.kind in BEFORE:
            return self._before(fault, call, proceed, task)
        result = self._partly(call, task) if fault.kind is Kind.UNPROCESSED else proceed()
        match fault.kind:
            case Kind.CRASH_AFTER:
                self._crash(task)
            case Kind.LOST_ANSWER:
                return self._unanswered(call)
            case Kind.PAUSE_AFTER:
                self._freeze(task, fault.amount)
            case _:
                self._kernel.pause(task.die.pick(self._moments))
        return result

    def _before(self, fault: Fault, call: PortCall, proceed: Callable[[], Any], task: Task) -> Any:
        kernel = self._kernel
        match fault.kind:
            case Kind.CRASH_BEFORE:
                self._crash(task)
            case Kind.THROTTLE | Kind.CONFLICT:
                return self._refused(fault, call, task)
            case Kind.LOST_REQUEST:
                return self._unanswered(call)
            case Kind.LATE_EFFECT:
                kernel.at(kernel.now + fault.amount, lambda _: self._as(task, proceed))
                return self._unanswered(call)
            case Kind.PAUSE_BEFORE:
                self._freeze(task, fault.amount)
            case _:
                task.host.step(task.die.below(2 * LONGEST_SKEW) - LONGEST_SKEW)
        result = proceed()
        if result is not END:
            kernel.pause(task.die.pick(self._moments))
        return result

    def _as(self, task: Task, proceed: Callable[[], Any]) -> None:
        """An effect that comes when its caller no longer waits for it."""
        self._kernel.current = task
        proceed()
        self._kernel.current = None

    def _crash(self, task: Task) -> None:
        task.host.dead = True
        self._killed(task.host)
        raise Crashed

    def _freeze(self, task: Task, amount: int) -> None:
        """The whole host stands still; it knows nothing of it when it goes on."""
        task.host.frozen_until = self._kernel.now + amount
        self._kernel.pause(amount)

    def _unanswered(self, call: PortCall) -> Any:
        self._kernel.pause(self._high)
        match call.method:
            case "send":
                return [False] * len(call.args[0])
            case "set_visibility":
                raise QueueUnavailableError("no answer")
            case "notify":
                return False
            case _:
                raise OutcomeUnknownError("no answer")

    def _refused(self, fault: Fault, call: PortCall, task: Task) -> Any:
        match call.method:
            case "send":
                return [False] * len(call.args[0])
            case "set_visibility":
                raise QueueUnavailableError("throttled")
            case "notify":
                return False
            case "batch_delete" if task.die.roll() < 0.5:
                return tuple(call.args[0])
            case "transact" if fault.kind is Kind.CONFLICT or task.die.roll() < 0.7:
                cause = Cause.CONFLICT if fault.kind is Kind.CONFLICT else Cause.THROTTLED
                reasons = [Reason(Cause.NONE)] * len(call.args[0])
                reasons[task.die.below(len(reasons))] = Reason(cause)
                return Cancelled(tuple(reasons))
            case _:
                raise StoreBusyError("throttled" if fault.kind is Kind.THROTTLE else "in conflict")

    def _partly(self, call: PortCall, task: Task) -> Any:
        """A batch of which a part is not processed."""
        wanted: Sequence[Any] = call.args[0]
        kept = [task.die.roll() < 0.5 for _ in wanted]
        done = [each for each, keep in zip(wanted, kept, strict=True) if keep]
        match call.method:
            case "batch_get":
                return self._store.batch_get(done)
            case "batch_delete":
                self._store.batch_delete(done)
                return tuple(each for each, keep in zip(wanted, kept, strict=True) if not keep)
            case _:
                self._send(done)
                return kept

    def _words(self, call: PortCall) -> frozenset[str]:
        """What the call would do now, in the words of `labels`."""
        match call.method:
            case "write":
                return frozenset(self._effects(call.args[:1]))
            case "transact":
                return frozenset(self._effects(call.args[0]))
            case "batch_delete":
                return frozenset({"forget"})
            case "send":
                queues = {message.queue.value for message in call.args[0]}
                return frozenset({"send"} | {f"send {queue.partition('-')[0]}" for queue in queues})
            case _:
                return frozenset({call.method})

    def _effects(self, actions: Sequence[Action]) -> list[str]:
        olds = [self._store.peek(action.key) for action in actions]
        if not all(holds(action.condition, old) for action, old in zip(actions, olds, strict=True)):
            return ["losing"]
        return [
            labels.label(action.key.table, action.key.pk, action.key.sk, old, after(action, old))
            for action, old in zip(actions, olds, strict=True)
            if not isinstance(action, Check)
        ]
