"""The one screen that a start prints: where the service is, who may call it, what is true of it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from fencepost.local.demo.jobs import JOBS
from fencepost.local.identities import DEMO_TEAM
from fencepost.local.options import Parts, StoreKind
from fencepost.local.service import LocalService

WIDTH = 13


def show(service: LocalService, console: Console) -> None:
    """Prints it."""
    console.rule("[bold]Fencepost[/bold] on this machine", align="left")
    for name, text in rows(service):
        console.print(f"[bold]{name:{WIDTH}}[/bold]", end="")
        console.print(text, highlight=False, markup=False, soft_wrap=True)
    console.rule()


def rows(service: LocalService) -> Iterator[tuple[str, str]]:
    """What to say, line by line; a line without a name goes on from the one before."""
    options = service.options
    if service.endpoint is not None:
        yield "endpoint", f"{service.endpoint}/v1"
        yield from _callers(service)
        if service.page is not None:
            yield "console", service.page.entry(service.endpoint)
    yield "data", _data(service)
    yield "logs", f"{service.data.path / 'log'}"
    if options.parts is not Parts.BOTH:
        yield "runs", f"the {options.parts} alone; the other half is another process on the same data"
    if options.workers:
        yield "workers", f"{options.workers} processes deliver; kill one: fencepost local kill-worker"
    if options.private_targets:
        yield (
            "targets",
            "addresses of this machine and its network are allowed, plain http included (metadata is not)",
        )
    if options.demo:
        yield "demo", f"team {DEMO_TEAM}; Ctrl-C stops"
        for job in JOBS:
            yield "", f"{job.name:12} {job.shows}"


def _data(service: LocalService) -> str:
    """Where the truth is, and what may take it away."""
    match service.options.store:
        case StoreKind.MEMORY:
            return "in memory only: everything is gone when this process ends"
        case StoreKind.SQLITE:
            return f"{service.data.path}  (kill -9 loses nothing that was acknowledged)"
        case StoreKind.ENGINE:
            return (
                f"{service.data.path}  (a local AWS engine: kill -9 of this service loses nothing; killing the "
                "engine loses what came after its last clean stop, --store sqlite does not)"
            )


def _callers(service: LocalService) -> Iterator[tuple[str, str]]:
    region = service.stage.settings.region
    if service.anyone is not None:
        yield "callers", "ANYONE on this machine, as administrator, without a signature (--no-auth)"
        return
    holder = service.known.demo if service.options.demo else service.known.admin
    team = DEMO_TEAM if service.options.demo else "TEAM"
    yield (
        "credentials",
        f"{service.data.credentials}  (administrator"
        + (f", owner of {team})" if service.options.demo else ")"),
    )
    yield (
        "try",
        f"export AWS_ACCESS_KEY_ID={holder.access_key_id} AWS_SECRET_ACCESS_KEY={holder.secret_access_key}",
    )
    yield (
        "",
        (
            f'curl --aws-sigv4 aws:amz:{region}:execute-api --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" '
            f"{service.endpoint}/v1/teams/{team}/jobs"
        ),
    )
