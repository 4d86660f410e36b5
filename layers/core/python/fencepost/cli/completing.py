"""Completion of names in the shell: asked for with little patience, and silent where nothing can be known."""

from __future__ import annotations

from itertools import islice
from typing import Any

import typer

from fencepost.cli.session import Choice, Session, Surroundings
from fencepost.client import FencepostError

MOST = 50


def job_names(context: typer.Context, incomplete: str) -> list[str]:
    """The team's jobs whose names begin so."""
    try:
        run = _session(context)
        return [job.name for job in islice(run.mine.jobs(prefix=incomplete or None), MOST)]
    except (FencepostError, typer.BadParameter):
        return []


def _session(context: typer.Context) -> Session:
    """Completion runs no callback: the global options lie in the outermost context."""
    root = context.find_root()
    given: dict[str, Any] = {
        name: root.params.get(name) for name in ("endpoint", "team", "profile", "region")
    }
    around = root.obj if isinstance(root.obj, Surroundings) else Surroundings.here()
    return Session(around=around, choice=Choice(**given))
