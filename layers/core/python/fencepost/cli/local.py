"""`fencepost local`: the whole service on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fencepost.local.options import (
    DEFAULT_DATA_DIR,
    DEFAULT_PORT,
    LocalOptions,
    OptionsError,
    Parts,
    StoreKind,
)

if TYPE_CHECKING:
    from fencepost.local.gateway.credentials import Credential
    from fencepost.local.service import Page

app = typer.Typer(invoke_without_command=True, no_args_is_help=False)


def _directory(text: str | Path) -> Path:
    """`Path` takes no name for the working directory: a variable that is unset would put everything there."""
    if not str(text).strip():
        raise typer.BadParameter("it names no directory; the working directory is .")
    return Path(text)


DataDirOption = Annotated[
    Path,
    typer.Option(help="Where store, queues, credentials and logs lie.", parser=_directory, metavar="<path>"),
]


StoreOption = Annotated[
    StoreKind | None,
    typer.Option(
        help="engine: DynamoDB and SQS in a local AWS engine, the default where one is installed; sqlite: one file; "
        "memory: forgets everything at the end."
    ),
]
PortOption = Annotated[int, typer.Option(help="The API's port on 127.0.0.1; 0 takes a free one.")]
WorkersOption = Annotated[int, typer.Option(help="Deliver in this many processes, which may be killed.")]


def _flag(name: str, says: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(name, help=says)
    return option


@app.callback()
def local(
    context: typer.Context,
    store: StoreOption = None,
    data_dir: DataDirOption = DEFAULT_DATA_DIR,
    port: PortOption = DEFAULT_PORT,
    workers: WorkersOption = 0,
    engine_only: Annotated[
        bool, _flag("--engine-only", "Fire, but serve no API: another process does.")
    ] = False,
    api_only: Annotated[
        bool, _flag("--api-only", "Serve the API, but fire nothing: another process does.")
    ] = False,
    no_auth: Annotated[bool, _flag("--no-auth", "Take unsigned calls as the administrator's.")] = False,
    allow_private_targets: Annotated[
        bool, _flag("--allow-private-targets", "Let jobs call this machine and its network.")
    ] = False,
    demo: Annotated[bool, _flag("--demo", "Declare a team with a handful of jobs and show them.")] = False,
) -> None:
    """Run the whole service on this machine until Ctrl-C.

    Example: fencepost local --demo

    Ctrl-C finishes what is under way and exits 0. `kill -9` of the service loses nothing that was acknowledged: start again with the same --data-dir. The AWS engine is a process of its own that goes on meanwhile and saves its state at a clean stop: killing the engine itself loses what came after that. With --store sqlite only a power failure may take the last moments.
    """
    if context.invoked_subcommand is not None:
        return
    from fencepost.local.main import run  # noqa: PLC0415 - the other commands start faster without the service

    try:
        options = LocalOptions(
            store=store or default_store(),
            data_dir=data_dir,
            port=port,
            parts=_parts(engine=engine_only, api=api_only),
            workers=workers,
            auth=not no_auth,
            allow_private_targets=allow_private_targets,
            demo=demo,
        )
    except OptionsError as error:
        raise typer.BadParameter(str(error)) from error
    raise typer.Exit(run(options, page_of=_page))


def _page(endpoint: str, holder: Credential, team: str | None) -> Page:
    """The web console, signed for by the service's own administrator."""
    from fencepost.client import Fencepost, Keys  # noqa: PLC0415 - the other commands do without
    from fencepost.console.serving import console  # noqa: PLC0415 - the same

    keys = Keys(access_key_id=holder.access_key_id, secret_access_key=holder.secret_access_key)
    return console(Fencepost(endpoint=endpoint, keys=keys).caller, team)


def default_store() -> StoreKind:
    """An engine where one is installed: the adapters that are deployed are then the ones that run."""
    from fencepost.local.aws_engine import program  # noqa: PLC0415 - the other commands do without

    return StoreKind.SQLITE if program() is None else StoreKind.ENGINE


def _parts(*, engine: bool, api: bool) -> Parts:
    if engine and api:
        raise OptionsError("--engine-only and --api-only are the two halves: give one, or neither")
    return Parts.ENGINE if engine else Parts.API if api else Parts.BOTH


@app.command("kill-worker")
def kill_worker(
    data_dir: DataDirOption = DEFAULT_DATA_DIR,
    wait: Annotated[float, typer.Option(help="Seconds to wait for one that is calling a target.")] = 60.0,
) -> None:
    """Kill a worker process as a crash would, in the middle of a call, and watch its firing find another owner.

    Example: fencepost local kill-worker
    """
    from fencepost.local.files import DataDir  # noqa: PLC0415 - the other commands do without
    from fencepost.local.workers import kill_calling  # noqa: PLC0415 - the same

    killed = kill_calling(DataDir.open(data_dir), wait)
    if killed is None:
        typer.echo("no worker runs here: start with --workers 2", err=True)
        raise typer.Exit(1)
    pid, calls = killed
    if not calls:
        typer.echo(f"killed {pid}, which was idle")
        return
    typer.echo(f"killed {pid} while it called the target of {calls}")
    typer.echo(f"its attempts, the next one after half a minute: fencepost execution {calls.split(', ')[0]}")
