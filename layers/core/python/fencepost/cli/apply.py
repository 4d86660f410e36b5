"""`fencepost plan` and `apply`: a team's jobs, as a file says them."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from fencepost.cli import drawing
from fencepost.cli.reading import document, pairs
from fencepost.cli.session import Session, session
from fencepost.cli.telling import warn_unpruned
from fencepost.cli.wire import carried_to_wire, step_to_wire
from fencepost.client import Fencepost
from fencepost.client.applying import Applied
from fencepost.client.applying import apply as carry_out
from fencepost.client.declaration import JobsFile, read_jobs
from fencepost.client.planning import Action, Plan, Prune, Step
from fencepost.client.planning import plan as planning

CHANGED = 3
_MARKS = {
    Action.CREATE: ("+", "green"),
    Action.CHANGE: ("~", "yellow"),
    Action.DELETE: ("-", "red"),
    Action.REFUSE: ("!", "bold red"),
    Action.KEEP: ("=", "dim"),
}

File = Annotated[str, typer.Option("--file", "-f", help="The file of jobs, YAML or JSON; - reads it.")]
PruneOption = Annotated[
    bool, typer.Option("--prune", help="Delete the team's jobs that the file leaves out.")
]
PruneLabel = Annotated[
    list[str] | None, typer.Option(help="With --prune: only jobs with this label, name:value; repeat it.")
]


def plan(
    context: typer.Context,
    file: File,
    prune: PruneOption = False,
    prune_label: PruneLabel = None,
    check: Annotated[bool, typer.Option("--check", help="Exit 3 where something would change.")] = False,
) -> None:
    """Show what `apply` would do: every change, and what becomes of firings that are queued already.

    Example: fencepost plan -f jobs.yaml --prune --prune-label app:ledger
    """
    run = session(context)
    _, found = _planned(run, file, _prune(prune, prune_label))
    if run.choice.json:
        run.json([step_to_wire(step) for step in found.steps])
    else:
        run.around.out.print(picture(found))
    warn_unpruned(run, found)
    if found.refused:
        raise typer.Exit(1)
    if check and found.pending:
        raise typer.Exit(CHANGED)


def apply(
    context: typer.Context,
    file: File,
    prune: PruneOption = False,
    prune_label: PruneLabel = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Make the team's jobs those of a file. Doing it twice changes nothing the second time.

    Example: fencepost apply -f jobs.yaml --yes
    """
    run = session(context)
    client, found = _planned(run, file, _prune(prune, prune_label))
    if not run.choice.json:
        run.around.out.print(picture(found))
    warn_unpruned(run, found)
    if found.refused:
        run.warn("fencepost: nothing was changed, because of what is refused above")
        raise typer.Exit(1)
    if found.pending:
        run.sure(f"Change {len(found.pending)} jobs of {client.team}?", yes=yes)
    with run.progress("applying", len(found.pending)) as step:
        applied = carry_out(client, found, done=lambda _: step())
    _tell(run, applied)


def _planned(run: Session, file: str, prune: Prune | None) -> tuple[Fencepost, Plan]:
    declared = read_jobs(document(file))
    client = run.client.for_team(_team(run, declared))
    with run.progress("planning", len(declared.jobs)) as step:
        return client, planning(client, declared.jobs, prune=prune, seen=lambda _: step())


def _team(run: Session, declared: JobsFile) -> str:
    """The file's own team wins over the environment, and must not contradict --team. Raises typer.BadParameter."""
    if declared.team is None:
        return run.team
    if run.choice.team not in {None, declared.team}:
        raise typer.BadParameter(f"the file is {declared.team}'s, not {run.choice.team}'s")
    return declared.team


def _prune(prune: bool, labels: list[str] | None) -> Prune | None:
    if labels and not prune:
        raise typer.BadParameter("--prune-label belongs to --prune")
    return Prune(labels=pairs(labels or (), "--prune-label")) if prune else None


def _tell(run: Session, applied: Applied) -> None:
    if run.choice.json:
        run.json([carried_to_wire(each) for each in applied.carried])
    for each in applied.failed:
        run.warn(f"fencepost: {each.step.name}: {each.result.error}")
    run.say(f"{sum(each.done for each in applied.carried)} jobs changed")
    if applied.failed:
        raise typer.Exit(1)


def picture(found: Plan) -> RenderableType:
    """Every step that is more than keeping, then the sum."""
    words = [f"{found.count(action)} to {action}" for action in Action if found.count(action)]
    words += [f"{len(found.left)} unreadable and left as they are"] if found.left else []
    shown = [line for step in found.steps if step.action is not Action.KEEP for line in _step(step)]
    return Group(*shown, Text(", ".join(words) or "no jobs", style="bold"))


def _step(step: Step) -> list[RenderableType]:
    mark, style = _MARKS[step.action]
    lines: list[RenderableType] = [Text(f"{mark} {step.name}", style=style)]
    if step.error is not None:
        lines += [Text(f"    {fault}") for fault in step.error.faults or (step.error,)]
    if step.action is Action.CHANGE:
        lines += [
            Text(f"    {change.field}: {drawing.value(change.before)} -> {drawing.value(change.after)}")
            for change in step.changes
        ]
    return lines + [Text(f"    {effect}", style="cyan") for effect in _effects(step)]


def _effects(step: Step) -> list[str]:
    """What becomes of what is queued and of what comes."""
    effects = []
    if step.cancels:
        effects.append(f"cancels {len(step.cancels)} queued firings: {', '.join(step.cancels[:3])}")
    before = step.next_before[0].at if step.next_before else None
    after = step.next_after[0].at if step.next_after else None
    if before != after:
        effects.append(f"next: {drawing.moment(before)} -> {drawing.moment(after)}")
    return effects
