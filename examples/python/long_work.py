"""Work that takes minutes: the target answers 202 at once, the worker reports under its fence.

Give the job `lease_seconds` well above the heartbeat and `max_run_seconds` for the longest run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fencepost.client import Fencepost, LeaseLostError, ReceivedCall, working


def import_rows(fencepost: Fencepost, call: ReceivedCall, chunks: Iterable[list[str]]) -> bool:
    """Imports chunk by chunk; False when another worker has taken over, and then nothing more is written."""
    rows = 0
    try:
        with working(fencepost, call) as work:  # heartbeats go on in the background
            for chunk in chunks:
                work.check()  # raises LeaseLostError once somebody else holds the execution
                rows += len(chunk)  # ... write the chunk, fenced by call.fence ...
            work.result = f"{rows} rows"
    except LeaseLostError:
        return False
    return True


def numbered(lines: list[str], size: int = 100) -> Iterator[list[str]]:
    """Chunks of a list."""
    for first in range(0, len(lines), size):
        yield lines[first : first + size]
