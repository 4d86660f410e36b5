"""`fencepost console`: the web console over any stage, signed for with this shell's credentials."""

from __future__ import annotations

import webbrowser
from datetime import timedelta
from typing import Annotated

import typer

from fencepost.cli.reading import instant
from fencepost.cli.session import Session, session

LOOK = timedelta(seconds=1)


def console(
    context: typer.Context,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The page's port on 127.0.0.1; 0: any.")] = 0,
    duration: Annotated[str | None, typer.Option("--for", help="Stop after this length: 8h.")] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Serve the web console on this machine until Ctrl-C: it signs with your own credentials, and is yours alone.

    Example: fencepost console --for 8h

    The address holds a key that is new for each run. Whoever has it acts as you: keep it to yourself.
    """
    from fencepost.console.serving import console as page  # noqa: PLC0415 - the other commands do without
    from fencepost.console.serving import serving  # noqa: PLC0415 - the same

    run = session(context)
    client = run.client
    try:
        with serving(page(client.caller, client.team), port) as url:
            _tell(run, url)
            if show:
                webbrowser.open(url)
            _wait(run, duration)
    except OSError as error:
        raise typer.BadParameter(f"port {port}: {error.strerror}") from error


def _tell(run: Session, url: str) -> None:
    if run.choice.json:
        run.line({"url": url})
        return
    run.say(f"console  {url}")
    run.say(f"stage    {run.endpoint}")
    run.warn("Ctrl-C ends it")


def _wait(run: Session, duration: str | None) -> None:
    clock = run.around.clock
    until = instant(duration, clock.now(), ahead=True)
    try:
        while until is None or clock.now() < until:
            clock.sleep(LOOK)
    except KeyboardInterrupt:
        run.warn("stopped")
