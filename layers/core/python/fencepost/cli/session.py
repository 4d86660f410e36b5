"""What every command has at hand: the chosen stage and team, the client, and the two streams."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import typer
from rich.console import Console, RenderableType
from rich.progress import Progress

from fencepost.cli.screen import Screen
from fencepost.client import Fencepost, Keys
from fencepost.client.credentials import local_keys, on_this_machine
from fencepost.client.decoding import Result
from fencepost.client.fencepost import ENDPOINT_VARIABLE, TEAM_VARIABLE
from fencepost.client.system import Clock, Entropy, SystemClock, SystemEntropy, variable
from fencepost.client.transport import Transport, Urllib3Transport

DEFAULT_ENDPOINT = "http://127.0.0.1:8080"
DATA_DIR_VARIABLE = "FENCEPOST_DATA_DIR"
PLAIN_WIDTH = 200  # a table that goes into a file or a pipe is not folded
_LOCAL_KEY = "FP"


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """Where the program runs. `keys` and `transport` are for tests; a command line finds its own."""

    out: Console
    err: Console
    interactive: bool
    environment: Mapping[str, str]
    directory: Path = field(default_factory=Path)
    transport: Transport | None = None
    keys: Keys | None = None
    clock: Clock = field(default_factory=SystemClock)
    entropy: Entropy = field(default_factory=SystemEntropy)

    @classmethod
    def here(cls) -> Surroundings:
        """This process's. Rich obeys NO_COLOR and TERM by itself."""
        return cls(
            out=console(sys.stdout.isatty()),
            err=Screen(stderr=True),
            interactive=sys.stdin.isatty() and sys.stdout.isatty(),
            environment=os.environ,
        )


def console(terminal: bool) -> Console:
    """Standard output; wide where nobody's window limits it."""
    return Screen(width=None if terminal else PLAIN_WIDTH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The global options."""

    endpoint: str | None = None
    team: str | None = None
    profile: str | None = None
    region: str | None = None
    json: bool = False


@dataclass(frozen=True)
class Session:
    """One run of the program."""

    around: Surroundings
    choice: Choice

    @property
    def endpoint(self) -> str:
        """The chosen stage; without a choice, this machine's own service."""
        return (
            self.choice.endpoint or variable(self.around.environment, ENDPOINT_VARIABLE) or DEFAULT_ENDPOINT
        )

    @property
    def team(self) -> str:
        """The chosen team. Raises typer.BadParameter."""
        team = self.choice.team or variable(self.around.environment, TEAM_VARIABLE)
        if not team:
            raise typer.BadParameter(f"which team? Give --team, or set {TEAM_VARIABLE}")
        return team

    @cached_property
    def client(self) -> Fencepost:
        """A client for the chosen stage and team; the team may still be missing."""
        around = self.around
        return Fencepost(
            endpoint=self.endpoint,
            team=self.choice.team or variable(around.environment, TEAM_VARIABLE),
            keys=self._keys(),
            profile=self.choice.profile,
            region=self.choice.region,
            transport=around.transport or Urllib3Transport(),
            clock=around.clock,
            entropy=around.entropy,
        )

    @property
    def mine(self) -> Fencepost:
        """The client, with the team made sure of. Raises typer.BadParameter."""
        return self.client.for_team(self.team)

    def show(self, result: Result | Iterable[Result], picture: Callable[[], RenderableType]) -> None:
        """The answer: as it came for --json, as `picture` draws it otherwise."""
        if self.choice.json:
            self.json(result.raw if isinstance(result, Result) else [each.raw for each in result])
        else:
            self.around.out.print(picture())

    def json(self, value: Any) -> None:  # noqa: ANN401 - any JSON value
        """Prints JSON, whatever the terminal is."""
        self.around.out.file.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")

    def line(self, value: Any) -> None:  # noqa: ANN401 - any JSON value
        """One JSON value on one line, at once: for what does not end."""
        self.around.out.file.write(json.dumps(value, ensure_ascii=False) + "\n")
        self.around.out.file.flush()

    def say(self, text: str) -> None:
        """A line for people; --json leaves it out."""
        if not self.choice.json:
            self.around.out.print(text, markup=False, soft_wrap=True)

    def warn(self, text: str) -> None:
        """A line that is no result."""
        self.around.err.print(text, markup=False, soft_wrap=True)

    @contextmanager
    def progress(self, what: str, total: int) -> Iterator[Callable[[], None]]:
        """A bar for long work, on a terminal only; what it gives is called once a step."""
        if not self.around.interactive or self.choice.json:
            yield lambda: None
            return
        with Progress(console=self.around.err, transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda: bar.advance(task)

    def sure(self, question: str, *, yes: bool) -> None:
        """Asks on a terminal, unless `yes`; elsewhere nobody could answer. Raises typer.Exit for a no."""
        if yes or not self.around.interactive:
            return
        if not typer.confirm(question):
            raise typer.Exit(1)

    def _keys(self) -> Keys | None:
        """On this machine the service's own key, unless one of its keys or a profile was chosen: credentials for AWS are
        unknown there.
        """
        around = self.around
        if around.keys is not None or self.choice.profile or not on_this_machine(self.endpoint):
            return around.keys
        if around.environment.get("AWS_ACCESS_KEY_ID", "").startswith(_LOCAL_KEY):
            return None
        folder = Path(variable(around.environment, DATA_DIR_VARIABLE) or ".fencepost")
        return local_keys(around.directory / folder / "credentials.json")


def session(context: typer.Context) -> Session:
    """The run that a command belongs to."""
    found = context.find_object(Session)
    if found is None:
        raise LookupError("a command was called outside of the program: this is a bug")
    return found
