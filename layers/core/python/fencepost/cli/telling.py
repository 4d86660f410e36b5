"""How refusals, and what nobody can read, are told: one clear line, or one line for each fault."""

from __future__ import annotations

from collections.abc import Iterable

from typer.exceptions import TyperException

from fencepost.cli.session import Session
from fencepost.client import FaultsError, FencepostError, NotAllowedError, UnreachableError, UnreadableJob
from fencepost.client.planning import Plan


def warn_unreadable(run: Session, jobs: Iterable[UnreadableJob]) -> None:
    """A line for each job that a list had to leave out, with --json too."""
    for each in jobs:
        run.warn(f"nobody can read job {each.name} (~{each.uid}): {each.why}; put it anew, or delete it")


def warn_unpruned(run: Session, plan: Plan) -> None:
    """A line for each job that pruning came upon and nobody can read, with --json too, and what becomes of it."""
    left = set(plan.left)
    for each in plan.unreadable:
        becomes = (
            f"--prune leaves it: fencepost job delete {each.name} removes it, whatever its labels were"
            if each in left
            else "the file declares it anew"
        )
        run.warn(f"nobody can read job {each.name} (~{each.uid}): {each.why}; {becomes}")


def why(error: FencepostError) -> str:
    """What went wrong, and what helps where that is known."""
    match error:
        case FaultsError(faults=faults) if len(faults) > 1:
            return f"{len(faults)} faults\n" + "\n".join(f"  {fault}" for fault in faults)
        case UnreachableError() if "timed out" in str(error):
            return f"{error} (something listens there, and is busy; a write may have happened)"
        case UnreachableError() if "127.0.0.1" in str(error):
            return f"{error} (is it running? fencepost local)"
        case NotAllowedError(detail=detail, status=status) if detail.startswith("every call is signed"):
            return f"{detail}: no credentials were found; fencepost doctor says where they are looked for ({status})"
        case NotAllowedError(detail=detail, status=status):
            return f"{detail} ({status}; fencepost doctor looks at who you are)"
        case _:
            return str(error)


def usage(error: TyperException) -> str:
    """What is wrong with the line, and where its help is; nothing where its help was printed already."""
    if type(error).__name__ == "NoArgsIsHelpError":
        return ""
    context = getattr(error, "ctx", None)
    where = f" (see {context.command_path} --help)" if context is not None else ""
    return f"fencepost: {error.format_message()}{where}"
