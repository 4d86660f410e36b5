"""The receiving side: is this call Fencepost's, is it the latest attempt, and how does long work report back?

receiver = Receiver(secrets=["whsec_..."], fences=MyFences())
call = receiver.accept(request.headers, request.body)     # raises RefusedCallError
...                                                       # do the work, or answer 202 and go on with:
with working(fencepost, call) as work:
    import_rows(check=work.check)
    work.result = "1,200 rows"
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from fencepost.client.errors import (
    ConfigurationError,
    FencepostError,
    LeaseLostError,
    StaleFenceError,
    UnsignedCallError,
)
from fencepost.client.execution import ExecutionHandle
from fencepost.client.fencepost import Fencepost
from fencepost.client.system import Clock, SystemClock
from fencepost.domain.instants import from_wire
from fencepost.domain.signing import BadSignatureError, HmacKey, Verified, Verifier, verify_fenced

HEARTBEAT = timedelta(seconds=30)


class Fences(Protocol):
    """Remembers the largest fence per execution, where the work's own data lies, so that both change together."""

    def admit(self, execution_id: str, fence: int) -> bool:
        """Whether `fence` is not smaller than any seen for this execution; remembers it if so. Atomic: of two callers
        with different fences, the smaller one is refused if it comes second.
        """


class MemoryFences:
    """For one process, and for tests: it forgets everything at the end."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        self._lock = threading.Lock()

    def admit(self, execution_id: str, fence: int) -> bool:
        """See `Fences.admit`."""
        with self._lock:
            if fence < self._seen.get(execution_id, 0):
                return False
            self._seen[execution_id] = fence
            return True


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedCall:
    """A firing as its receiver sees it, proven. `execution_id` is the idempotency key of the work."""

    execution_id: str
    team: str
    job: str
    due: datetime
    attempt: int
    fence: int
    sent_at: datetime
    body: bytes = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Receiver:
    """Proves calls. `secrets`: the team's signing secrets, `whsec_...`, two while they are changed. `verifiers`: other
    keys, such as public ones. `fences`: where the largest fence of each execution is kept; None leaves that to the work.
    """

    secrets: Sequence[str] = field(default=(), repr=False)
    verifiers: Sequence[Verifier] = ()
    fences: Fences | None = None
    clock: Clock = field(default_factory=SystemClock)

    def __post_init__(self) -> None:
        if not self._keys():
            raise ConfigurationError("a receiver needs a signing secret or a public key")

    def accept(self, headers: Mapping[str, str], body: bytes) -> ReceivedCall:
        """The call, proven to be Fencepost's and not older than one seen before. `body` is the bytes as they came.

        Raises UnsignedCallError (answer 401) and StaleFenceError (answer 409).
        """
        try:
            proven = verify_fenced(headers, body, self._keys(), self.clock.now())
        except BadSignatureError as error:
            raise UnsignedCallError(str(error)) from error
        call = _call(proven, headers, body)
        if self.fences is not None and not self.fences.admit(call.execution_id, call.fence):
            raise StaleFenceError(f"{call.execution_id}: fence {call.fence} is older than one seen before")
        return call

    def _keys(self) -> list[Verifier]:
        try:
            secrets = [HmacKey.parse(text, kid=str(at)) for at, text in enumerate(self.secrets)]
        except ValueError as error:
            raise ConfigurationError(str(error)) from error
        return [*secrets, *self.verifiers]


def _call(proven: Verified, headers: Mapping[str, str], body: bytes) -> ReceivedCall:
    """What is not under the signature (team, job, due) is only told: decide by the execution id."""
    lowered = {name.lower(): value for name, value in headers.items()}
    if proven.attempt is None or proven.fence is None:
        raise UnsignedCallError("attempt and fence are not under the signature")
    try:
        due = from_wire(lowered.get("fencepost-due", ""))
    except ValueError:
        raise UnsignedCallError("Fencepost-Due is missing or is no instant") from None
    return ReceivedCall(
        execution_id=proven.id,
        team=lowered.get("fencepost-team", ""),
        job=lowered.get("fencepost-job", ""),
        due=due,
        attempt=proven.attempt,
        fence=proven.fence,
        sent_at=proven.sent_at,
        body=body,
    )


@dataclass(kw_only=True)
class Work:
    """Long work under a lease. `result` is told at the end; `check` is called between its steps."""

    handle: ExecutionHandle
    fence: int
    result: str = ""
    _lost: threading.Event = field(default_factory=threading.Event, init=False, repr=False)

    @property
    def lost(self) -> bool:
        """Whether somebody else holds the execution now."""
        return self._lost.is_set()

    def check(self) -> None:
        """Raises LeaseLostError once the lease is lost: stop, and write nothing more."""
        if self.lost:
            raise LeaseLostError(409, "lease-lost", f"{self.handle.id}: another worker holds it now")

    def beat(self) -> bool:
        """One heartbeat; False when the lease is lost. Trouble on the way is passed over: the next beat tries again."""
        try:
            self.handle.heartbeat(self.fence)
        except LeaseLostError:
            self._lost.set()
            return False
        except FencepostError:
            return True
        return True


@contextmanager
def working(
    client: Fencepost,
    call: ReceivedCall,
    *,
    every: timedelta = HEARTBEAT,
    wait: Callable[[float], bool] | None = None,
) -> Iterator[Work]:
    """Work that goes on after a 202: heartbeats in the background (well within the job's `lease_seconds`), `complete` at
    the end, `fail` when the block raises. A lost lease is told by `check`, and by LeaseLostError at the end.
    """
    handle = client.for_team(call.team).execution(call.execution_id)
    work = Work(handle=handle, fence=call.fence)
    over = threading.Event()
    pause = wait or over.wait
    thread = threading.Thread(
        target=_beating,
        args=(work, pause, every / timedelta(seconds=1)),
        name="fencepost-heartbeat",
        daemon=True,
    )
    thread.start()
    try:
        yield work
    except LeaseLostError:
        raise
    except BaseException as error:
        over.set()
        _failed(work, error)
        raise
    else:
        work.check()
        handle.complete(call.fence, work.result)
    finally:
        over.set()
        thread.join()


def _beating(work: Work, pause: Callable[[float], bool], seconds: float) -> None:
    """Beats until `pause` says that the work is over, or the lease is lost."""
    while not pause(seconds):
        if not work.beat():
            return


def _failed(work: Work, error: BaseException) -> None:
    """Tells the failure; what goes wrong with telling must not hide the failure itself: the lease's end will tell."""
    if work.lost:
        return
    try:
        work.handle.fail(work.fence, f"{type(error).__name__}: {error}"[:4000])
    except FencepostError:
        return
