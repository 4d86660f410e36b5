"""True time, and the processes that share it: greenlets that take turns at the boundaries of their calls.

Time is whole microseconds. Whatever happens, happens in the order of a heap, ties in the order of scheduling: so a
history is a function of its seed. A task that pauses goes on at once where nothing else is due before it would wake;
that saves most of the switches and changes nothing.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, ClassVar

from greenlet import getcurrent, greenlet

from tests.simulation.dice import Die

MS = 1_000
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE


class Crashed(BaseException):
    """The host is gone. Nothing that runs on it may catch this, nor do anything once it is raised."""


class Host:
    """A place where tasks run: one execution environment with a clock and a memory of its own."""

    __slots__ = (
        "dead",
        "fastest",
        "frozen_until",
        "kind",
        "memory",
        "name",
        "parked",
        "reads",
        "skew",
        "slowest",
    )

    def __init__(self, name: str, kind: str, skew: int) -> None:
        self.name = name
        self.kind = kind
        self.skew = skew
        self.fastest = skew
        self.slowest = skew
        self.dead = False
        self.frozen_until = 0
        self.memory: dict[str, Any] = {}
        self.parked: list[Task] = []
        self.reads: dict[str, list[int]] = {}

    def step(self, skew: int) -> None:
        """Its clock is set; `fastest` is the most that it was ever ahead, `slowest` the least."""
        self.skew = skew
        self.fastest = max(self.fastest, skew)
        self.slowest = min(self.slowest, skew)


class Task:
    """One thread of a host. `reads` holds when it last read each job; `tags` what is wrong with its errand; `torn`:
    what it read at once was put together from several looks."""

    __slots__ = ("began", "die", "host", "name", "reads", "tags", "thread", "torn")

    def __init__(self, name: str, host: Host, die: Die, tags: tuple[str, ...], began: int) -> None:
        self.began = began
        self.name = name
        self.host = host
        self.die = die
        self.tags = tags
        self.torn = False
        self.reads: dict[str, int] = {}
        self.thread: greenlet | None = None


class Guard:
    """A lock among the tasks of a host; among threads, where no task asks for it: whoever composed it cannot tell."""

    def __init__(self) -> None:
        self._held = False
        self._waiting: list[Task] = []
        self._real = threading.Lock()

    def __enter__(self) -> None:
        kernel = _kernel_of_this_task()
        if kernel is None:
            self._real.acquire()
            return
        while self._held:
            assert kernel.current is not None
            self._waiting.append(kernel.current)
            kernel.park()
        self._held = True

    def __exit__(self, *_: object) -> None:
        kernel = _kernel_of_this_task()
        if kernel is None and self._real.locked():
            self._real.release()
            return
        self._held = False
        if self._waiting and Kernel.running is not None:
            Kernel.running.wake(self._waiting.pop(0))


class Pool:
    """A pool of threads, whose work is done by tasks of the host where a task asks for it."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._threads: ThreadPoolExecutor | None = None

    def map(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """The results, in order, once all are there."""
        kernel = _kernel_of_this_task()
        if kernel is None:
            self._threads = self._threads or ThreadPoolExecutor(self._workers)
            return list(self._threads.map(work, items))
        asker = kernel.current
        assert asker is not None
        results: dict[int, Any] = {}

        def one(number: int, item: Any) -> None:
            results[number] = work(item)
            if len(results) == len(items):
                kernel.wake(asker)

        for number, item in enumerate(items):
            kernel.spawn(f"{asker.name}.{number}", asker.host, partial(one, number, item), tags=asker.tags)
        while len(results) < len(items):
            kernel.park()
        return [results[number] for number in range(len(items))]


def _kernel_of_this_task() -> Kernel | None:
    """The kernel whose task is running here and now; None in any other thread, and outside of a history."""
    kernel = Kernel.running
    current = None if kernel is None else kernel.current
    return kernel if current is not None and current.thread is getcurrent() else None


class Kernel:
    """The heap of what will happen. `broken` is told of exceptions that no task may let out."""

    running: ClassVar[Kernel | None] = None
    """The one whose history happens now, in this process."""

    def __init__(self, seed: str, broken: Callable[[Task, Exception], None]) -> None:
        Kernel.running = self
        self.now = 0
        self.seed = seed
        self.current: Task | None = None
        self._broken = broken
        self._heap: list[tuple[int, int, Callable[[Any], None], Any]] = []
        self._serial = 0
        self._hub = getcurrent()
        self._running = 0

    @property
    def idle(self) -> bool:
        """No task is under way."""
        return self._running == 0

    def at(self, instant: int, action: Callable[[Any], None], argument: Any = None) -> None:
        """Lets `action(argument)` happen at `instant`, or now if that is past."""
        self._serial += 1
        heapq.heappush(self._heap, (max(instant, self.now), self._serial, action, argument))

    def spawn(
        self, name: str, host: Host, work: Callable[[], None], *, after: int = 0, tags: tuple[str, ...] = ()
    ) -> Task:
        """Starts `work` as a task of `host`, `after` microseconds from now."""
        task = Task(name, host, Die(f"{self.seed}/{name}"), tags, self.now + after)
        task.thread = greenlet(lambda: self._body(task, work), self._hub)
        self._running += 1
        self.at(self.now + after, self._resume, task)
        return task

    def pause(self, duration: int) -> None:
        """Lets others run for `duration`. Raises Crashed where the host died, or was dead before."""
        task = self.current
        assert task is not None, "only tasks pause"
        wake = self.now + duration
        wake = max(wake, task.host.frozen_until)
        if self._heap and self._heap[0][0] <= wake:
            self.at(wake, self._resume, task)
            self.current = None
            self._hub.switch()
        else:
            self.now = wake
        if task.host.dead:
            raise Crashed

    def park(self) -> None:
        """Lets others run until somebody wakes the task. Raises Crashed where the host died."""
        task = self.current
        assert task is not None, "only tasks park"
        task.host.parked.append(task)
        self.current = None
        self._hub.switch()
        if task.host.dead:
            raise Crashed

    def wake(self, task: Task) -> None:
        """Lets a parked task go on; one that is not parked goes on anyway."""
        if task in task.host.parked:
            task.host.parked.remove(task)
            self.at(self.now, self._resume, task)

    def crash(self, host: Host) -> None:
        """Ends everything that runs on the host."""
        host.dead = True
        for task in tuple(host.parked):
            self.wake(task)

    def run(self, until: int) -> None:
        """Lets everything happen that is due before or at `until`."""
        stop: list[bool] = []
        self.at(until, stop.append, True)
        while not stop:
            instant, _, action, argument = heapq.heappop(self._heap)
            self.now = instant
            action(argument)

    def forget(self) -> None:
        """Lets go of everything that might still happen, and of whoever waits for it."""
        self._heap.clear()
        self._broken = lambda _, __: None
        if Kernel.running is self:
            Kernel.running = None

    def _resume(self, task: Task) -> None:
        if task.host.frozen_until > self.now and not task.host.dead:
            self.at(task.host.frozen_until, self._resume, task)
            return
        assert task.thread is not None
        self.current = task
        task.thread.switch()
        self.current = None
        if task.thread.dead:
            task.thread = None

    def _body(self, task: Task, work: Callable[[], None]) -> None:
        try:
            if not task.host.dead:
                work()
        except Crashed:
            pass
        except Exception as error:  # noqa: BLE001 - whatever a use case lets out is the history's to judge
            self._broken(task, error)
        finally:
            self._running -= 1
