"""One execution, by its id: what its worker and its operators may say."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.client.calls import Call, Caller, path
from fencepost.client.decoding import decode
from fencepost.client.results import Execution


@dataclass(frozen=True, slots=True)
class ExecutionHandle:
    """What can be done with an execution. A worker's calls raise LeaseLostError when somebody else holds it now."""

    caller: Caller
    team: str
    id: str

    def get(self) -> Execution:
        """The record. Raises NotFoundError."""
        return decode(Execution, self.caller.call(Call(method="GET", path=self._path())).body)

    def heartbeat(self, fence: int) -> Execution:
        """The work goes on: extends the lease. Repeating it is harmless, so it carries no key."""
        return self._say("heartbeat", {"fence": fence}, keyed=False)

    def complete(self, fence: int, result: str = "", *, key: str | None = None) -> Execution:
        """The work is done."""
        return self._say("complete", {"fence": fence, "result": result}, key=key)

    def fail(
        self, fence: int, error: str = "", *, permanent: bool = False, key: str | None = None
    ) -> Execution:
        """The work failed; `permanent`: no further attempt is worth making."""
        return self._say("fail", {"fence": fence, "error": error, "permanent": permanent}, key=key)

    def redrive(self, note: str | None = None, *, key: str | None = None) -> Execution:
        """Sends a dead execution again, with its budget anew and a larger fence. Once more before that begins changes
        nothing. Raises ConflictError for one that is not dead.
        """
        return self._say("redrive", {"note": note}, key=key)

    def _say(self, what: str, body: object, *, key: str | None = None, keyed: bool = True) -> Execution:
        call = Call(method="POST", path=self._path(what), body=body, key=key, keyed=keyed)
        return decode(Execution, self.caller.call(call).body)

    def _path(self, *more: str) -> str:
        return path("teams", self.team, "executions", self.id, *more)
