"""What happened, in order: the history that checkers judge and stories are told from.

Entries are plain tuples, for there are thousands in a history. The first field is the kind, the second true time in
microseconds, the third a running number of the *step*: what took effect at once has one number.

    WRITE     (WRITE, at, step, task, table, pk, sk, old, new, read) one item; a transaction shares its step.
              `read`: for an execution, the oldest and the newest read of the job that its writer may go by
    SENT      (SENT, at, step, task, queue, message, body)           accepted by a queue
    TAKEN     (TAKEN, at, step, task, queue, message, body)          handed to a consumer
    GONE      (GONE, at, step, task, queue, message, body)           acknowledged, or grown too old
    CALL      (CALL, at, step, task, call)                           a target was called
    ANSWER    (ANSWER, at, step, task, call, kind)                   and what the caller was told
    TOLD      (TOLD, at, step, task, notification, accepted)         a team was told
    WORKER    (WORKER, at, step, task, (execution, fence, what, answer))  a worker was answered
    ASKED     (ASKED, at, step, task, what)                          an owner asks for something
    REPLIED   (REPLIED, at, step, task, what, reply)                 and is answered
    STRUCK    (STRUCK, at, step, task, fault, labels, call, amount)  a fault struck
    SPRUNG    (SPRUNG, at, step, task, what, labels)                 an owner chose this moment
    BROKEN    (BROKEN, at, step, task, text)                         an exception that nobody foresaw
"""

from __future__ import annotations

from typing import Any

from tests.simulation.kernel import SECOND, Kernel, Task

WRITE, SENT, TAKEN, GONE = "write", "sent", "taken", "gone"
CALL, ANSWER, TOLD, WORKER = "call", "answer", "told", "worker"
ASKED, REPLIED, STRUCK, SPRUNG, BROKEN = "asked", "replied", "struck", "sprung", "broken"

Entry = tuple[Any, ...]


class Journal:
    """Collects entries; `kernel` is set once it is there."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.kernel: Kernel | None = None
        self.step = 0

    def note(self, kind: str, *facts: Any, task: Task | None = None, same_step: bool = False) -> None:
        """One entry, now, by `task` or whoever is running."""
        if not same_step:
            self.step += 1
        kernel = self.kernel
        now = 0 if kernel is None else kernel.now
        who = task if task is not None or kernel is None else kernel.current
        self.entries.append((kind, now, self.step, who, *facts))

    def write(self, table: str, pk: str, sk: str, old: Any, new: Any, *, same_step: bool = False) -> None:
        """An item was written."""
        if not same_step:
            self.step += 1
        kernel = self.kernel
        who = None if kernel is None else kernel.current
        read = _read(who, f"J#{pk}", old) if who is not None and table == "executions" else None
        now = 0 if kernel is None else kernel.now
        self.entries.append((WRITE, now, self.step, who, table, pk, sk, old, new, read))

    def read(self, pk: str) -> None:
        """The running task reads a job."""
        kernel = self.kernel
        if kernel is not None and kernel.current is not None:
            kernel.current.reads[pk] = kernel.now
            kernel.current.host.reads.setdefault(pk, []).append(kernel.now)


def _read(task: Task, job: str, old: Any) -> tuple[int, int] | None:
    """The oldest and the newest read that the task may go by: its own last one, or what a neighbour has read for it
    since it began. Who claims has read the job itself.
    """
    own = task.reads.get(job)
    found = [] if own is None else [own]
    if old is not None:
        found += [at for at in task.host.reads.get(job, ()) if at >= task.began - 2 * SECOND]
    return (min(found), max(found)) if found else None
