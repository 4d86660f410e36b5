"""Runs the service in this process until Ctrl-C."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType

from rich.console import Console

from fencepost.local import banner
from fencepost.local.aws_engine import EngineError
from fencepost.local.demo.demo import Demo
from fencepost.local.files import DataDirError
from fencepost.local.gateway.credentials import CredentialsError
from fencepost.local.identities import DEMO_TEAM
from fencepost.local.live import Live, Tail
from fencepost.local.options import LocalOptions
from fencepost.local.service import LocalService, MakePage, PortError

INTERRUPTED = 130


def run(options: LocalOptions, console: Console | None = None, page_of: MakePage | None = None) -> int:
    """The process's exit status: 0 after a drained stop, 1 where the service could not start."""
    console = console or Console()
    try:
        service = LocalService(options=options, tell=console.print, page_of=page_of)
    except (DataDirError, EngineError, PortError, CredentialsError) as error:
        return _refused(console, str(error))
    except OSError as error:
        return _refused(console, f"{error.filename or options.data_dir}: {error.strerror}")
    with _asked_to_stop(console) as told:
        banner.show(service, console)
        live = Live(console, team=DEMO_TEAM if options.demo else None)
        tail = Tail({service.data.calls: live.call, service.data.aws: live.told})
        live.heading()
        tail.start()
        with _demo(service) or nullcontext() as demo:
            service.start()
            if demo is not None:
                demo.declare()
            while not told.wait(0.5):
                continue
            service.stop()
        tail.stop()
        live.summary()
    console.print("stopped; everything that was under way is finished")
    return 0


def _refused(console: Console, why: str) -> int:
    console.print(f"[red]cannot start:[/red] {why}", highlight=False, soft_wrap=True)
    return 1


@contextmanager
def _asked_to_stop(console: Console) -> Iterator[threading.Event]:
    """An event that the first Ctrl-C or SIGTERM sets; the second one ends the process where it stands."""
    told = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        if told.is_set():
            sys.exit(INTERRUPTED)
        told.set()
        console.print(
            "\nstopping: nothing new is taken, what is under way is finished (again to stop at once)"
        )

    before = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield told
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _demo(service: LocalService) -> Demo | None:
    if not service.options.demo or service.endpoint is None:
        return None
    return Demo(
        endpoint=service.endpoint,
        known=service.known,
        region=service.stage.settings.region,
        clock=service.stage.clock,
        data=service.data,
    )
