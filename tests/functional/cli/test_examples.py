"""Every command shows an example in its help, and every example works."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from string import Template
from typing import Any

import pytest
import typer.main

from fencepost.adapters.seam import seamed
from fencepost.cli.app import app
from fencepost.client import Fencepost
from fencepost.runtime.restored import Held
from tests.support.clients import Printed, Terminal

ADMINISTRATORS = {"team put", "stage pause", "stage resume", "recover"}
OF_THE_LOCAL_SERVICE = "local"


def commands(command: Any, path: tuple[str, ...] = ()) -> dict[str, Any]:
    below = getattr(command, "commands", {})
    found = {name: each for key, sub in below.items() for name, each in commands(sub, (*path, key)).items()}
    callable_itself = not below or getattr(command, "invoke_without_command", False)
    return {" ".join(path): command, **found} if callable_itself else found


ALL = commands(typer.main.get_command(app))
EXAMPLES = [
    (name, example)
    for name, command in ALL.items()
    for example in re.findall(r"Example: (fencepost .+)", re.sub(r"(?<!\n)\n(?!\n)", " ", command.help or ""))
    if not name.startswith(OF_THE_LOCAL_SERVICE)
]


def test_there_are_commands():
    assert {"job put", "apply", "import crontab", "why", "dead-letters redrive"} <= set(ALL)


@pytest.mark.parametrize("name", ALL)
def test_the_help_has_an_example_of_the_command(name):
    assert f"Example: fencepost {name}" in (ALL[name].help or "")


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[example for _, example in EXAMPLES])
def test_an_example_works(fencepost: Terminal, payments: Fencepost, name: str, example: str):
    by = "AKIDADMIN" if name in ADMINISTRATORS else "AKIDOWNER"

    ran = fencepost(*words(example, payments), by=by) if name != "recover" else recovers(fencepost, example)

    assert (ran.status, [line for line in ran.err.splitlines() if line.startswith("fencepost:")]) == (0, [])
    assert ran.out or ran.err


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[example for _, example in EXAMPLES])
def test_an_example_gives_json_when_asked(fencepost: Terminal, payments: Fencepost, name: str, example: str):
    by = "AKIDADMIN" if name in ADMINISTRATORS else "AKIDOWNER"

    ran = (
        fencepost(*words(example, payments), "--json", by=by)
        if name != "recover"
        else recovers(fencepost, f"{example} --json")
    )

    assert ran.status == 0
    texts = ran.out.splitlines() if name == "watch" else [ran.out]
    assert all(ran.read(text) is not None for text in texts)


def recovers(fencepost: Terminal, example: str) -> Printed:
    """The same stage, as if its tables were a restored copy that nobody has opened yet."""
    front = fencepost.front
    front.stage.settings = replace(front.stage.settings, restored="r1")
    front.through(seamed(front.stage.store, "store", Held("r1")))
    return fencepost(*shlex.split(example)[1:], by="AKIDADMIN")


def words(example: str, payments: Fencepost) -> list[str]:
    """The words after the program's name; ids that only a running service knows are filled in."""
    dead = next(payments.dead_letters())
    known = {
        "EXECUTION": next(payments.job("nightly").executions()).id,
        "DEAD_EXECUTION": dead.id,
        "KEY": payments.signing_keys.make().made.id,
        "BACKFILL": next(payments.job("nightly").backfills()).id,
    }
    return shlex.split(Template(example).substitute(known))[1:]
