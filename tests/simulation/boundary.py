"""What is put around every call of every port: a moment before its effect, a moment after it, and the faults between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar, cast

from fencepost.adapters.algebra import holds
from fencepost.application.ports import Outgoing, QueueUnavailableError
from fencepost.application.store import (
    Action,
    Cancelled,
    Cause,
    Check,
    OutcomeUnknownError,
    Reason,
    StoreBusyError,
    Table,
)
from tests.simulation import labels
from tests.simulation.dice import spread
from tests.simulation.faults import BEFORE, Armed, Fault, Kind, Trap
from tests.simulation.journal import SPRUNG, STRUCK, Journal
from tests.simulation.kernel import Crashed, Host, Kernel, Task
from tests.simulation.store import Pages, SimStore, quickly

T = TypeVar("T")
WRITES = frozenset({"write", "transact", "batch_delete", "send", "set_visibility"})
EFFECTS = WRITES | {"call", "notify"}
"""What others may see: between that and the next step of whoever did it, they have a moment. After a read nobody can
tell that moment from the one before the next call."""
AIMED = WRITES | {"call", "notify", "batch_get"}
LONGEST_SKEW = 2_000_000


class PortCall(NamedTuple):
    """As `adapters.seam.PortCall`, made quickly."""

    port: str
    method: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


class Boundary:
    """Wraps ports as `adapters.seam` does, with the faults of a history inside. `killed` is told of hosts that crash."""

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

    def around(self, port: T, name: str) -> T:
        """`port`, each call of which takes a moment before its effect and one after it."""
        return cast("T", _Seam(self, port, name))

    def through(
        self, port: str, method: str, target: Callable[..., Any], *, at_once: bool = False
    ) -> Callable[..., Any]:
        """`target`, each call of which takes a moment before its effect (but `at_once`: a page after the first), and
        one after it where others may see it."""
        kernel, armed, moments = self._kernel, self._armed, self._moments
        effect, aimed = method in EFFECTS, method in AIMED

        def call(*args: Any, **kwargs: Any) -> Any:
            task = kernel.current
            if task is None:
                return target(*args, **kwargs)
            if task.host.dead:
                raise Crashed
            if not at_once:
                kernel.pause(task.die.pick(moments))
            if kernel.now >= self._next_at:
                self._next_at = armed.arm(kernel.now)
            if armed.anywhere or (aimed and armed.aimed):
                made = PortCall(port, method, args, kwargs)
                struck = self._struck(made)
                if struck is not None:
                    return self._strike(*struck, made, partial(target, *args, **kwargs), task)
            result = target(*args, **kwargs)
            if effect:
                kernel.pause(task.die.pick(moments))
            return result

        return call

    def _struck(self, call: PortCall) -> tuple[Fault, frozenset[str]] | None:
        """The first armed fault that fits the call; traps spring on the way."""
        words = self._words(call) if self._armed.aimed else frozenset[str]()
        for part in self._armed.on(words):
            if isinstance(part, Trap):
                self._armed.disarm(part)
                self._journal.note(SPRUNG, part.what, tuple(sorted(words)))
                part.spring(_whose(call))
            elif _fits(part, call):
                return part, words
        for fault in self._armed.anywhere:
            if _fits(fault, call):
                if fault.skip <= 0:
                    return fault, words or self._words(call)
                fault.skip -= 1
        return None

    def _strike(
        self, fault: Fault, words: frozenset[str], call: PortCall, proceed: Callable[[], Any], task: Task
    ) -> Any:
        self._journal.note(
            STRUCK, fault.kind.value, tuple(sorted(words)), f"{call.port}.{call.method}", fault.amount
        )
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
        kernel.pause(task.die.pick(self._moments))
        return result

    def _as(self, task: Task, proceed: Callable[[], Any]) -> None:
        """An effect that comes when its caller no longer waits for it."""
        self._kernel.current = task
        proceed()
        self._kernel.current = None

    def _crash(self, task: Task) -> None:
        self._kernel.crash(task.host)
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
        if self._armed.tables.isdisjoint({action.key.table for action in actions}):
            return []
        olds = [self._store.peek(action.key) for action in actions]
        if not all(holds(action.condition, old) for action, old in zip(actions, olds, strict=True)):
            return ["losing"]
        return [
            word
            for action, old in zip(actions, olds, strict=True)
            if not isinstance(action, Check)
            for word in labels.words(
                action.key.table, action.key.pk, action.key.sk, old, quickly(action, old)
            )
        ]


def _whose(call: PortCall) -> str | None:
    """The uid of the first job that a write is about."""
    actions = call.args[:1] if call.method == "write" else call.args[0] if call.method == "transact" else ()
    for action in actions:
        if action.key.table == Table.EXECUTIONS and not action.key.pk.startswith("D#"):
            return str(action.key.pk)
        if action.key.table == Table.JOBS and action.key.pk.startswith("J#"):
            return str(action.key.pk[2:])
    return None


def _fits(fault: Fault, call: PortCall) -> bool:
    """The kind of fault can happen to such a call."""
    match fault.kind:
        case Kind.CONFLICT:
            return call.method in {"write", "transact"}
        case Kind.UNPROCESSED:
            return call.method in {"batch_get", "batch_delete", "send"}
        case Kind.LOST_ANSWER | Kind.LOST_REQUEST | Kind.LATE_EFFECT:
            return call.method in WRITES
        case Kind.THROTTLE:
            return call.port != "targets"
        case _:
            return True


class _Seam:
    """Stands for a port, attribute by attribute; its methods are wrapped when they are first asked for."""

    def __init__(self, boundary: Boundary, port: object, name: str) -> None:
        self._boundary = boundary
        self._port = port
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        target = getattr(self._port, attribute)
        paged = attribute in {"pages", "scan"}
        wrapped = self._pages(target) if paged else self._boundary.through(self._name, attribute, target)
        self.__dict__[attribute] = wrapped
        return wrapped

    def _pages(self, target: Callable[..., Pages]) -> Callable[..., Iterator[Any]]:
        first = self._boundary.through(self._name, target.__name__, next)
        later = self._boundary.through(self._name, target.__name__, next, at_once=True)

        def through(*args: object) -> Iterator[Any]:
            pages, turn = target(*args), first
            while not pages.over:
                yield turn(pages)
                turn = later

        return through
