"""The options that tell a schedule: its rule, its bounds, and what it does when the clock changes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, get_type_hints

import typer

from fencepost.cli.reading import given, instant
from fencepost.domain.instants import optional_wire

Cron = Annotated[str | None, typer.Option(help="Five fields: minute hour day month weekday.")]
Zone = Annotated[str | None, typer.Option("--timezone", "--tz", help="The zone of --cron; UTC by default.")]
Every = Annotated[str | None, typer.Option(help="An ISO 8601 duration: PT15M.")]
At = Annotated[str | None, typer.Option("--at", help="One instant: 2026-12-24T18:00:00Z.")]
Within = Annotated[str | None, typer.Option("--in", help="Once, after an ISO 8601 duration: PT15M.")]
_LENGTH = re.compile(r"(\d{1,6})([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def schedule_of(
    cron: str | None, timezone: str | None, every: str | None, at: str | None, within: str | None
) -> dict[str, Any] | None:
    """The one schedule that the options tell; None for none. Raises typer.BadParameter for several."""
    kinds = given({"cron": cron, "every": every, "at": at, "in": within})
    if len(kinds) > 1:
        raise typer.BadParameter(
            f"one schedule, please: {', '.join(f'--{kind}' for kind in kinds)} were given"
        )
    if timezone is not None and "cron" not in kinds:
        raise typer.BadParameter("--timezone belongs to --cron")
    return kinds | given({"timezone": timezone}) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What options say of a schedule besides its rule."""

    anchor: Annotated[str | None, typer.Option(help="The instant from which --every counts.")] = None
    jitter: Annotated[
        str | None, typer.Option(help="Spread the firings over this length after due: 90s, 10m.")
    ] = None
    starts: Annotated[
        str | None, typer.Option(help="Nothing before this instant, or length from now: 2h.")
    ] = None
    ends: Annotated[str | None, typer.Option(help="Nothing after this instant, or length from now: 30d.")] = (
        None
    )
    max_firings: Annotated[int | None, typer.Option(help="How often it fires at most.")] = None
    exclude: Annotated[
        list[str] | None, typer.Option(help="A calendar on which nothing fires; repeat it.")
    ] = None
    dst_gap: Annotated[
        str | None, typer.Option(help="A time that the clock skips: after (the gap; by default) or skip.")
    ] = None
    dst_overlap: Annotated[
        str | None, typer.Option(help="A time that the clock repeats: first (by default), last or both.")
    ] = None

    def of(self, schedule: dict[str, Any] | None, now: datetime) -> dict[str, Any] | None:
        """`schedule` with these bounds. Raises typer.BadParameter for bounds of none, and where they do not belong."""
        dst = given({"gap": self.dst_gap, "overlap": self.dst_overlap})
        more = given(
            {
                "anchor": optional_wire(instant(self.anchor, now)),
                "jitter_seconds": _seconds(self.jitter),
                "start_at": optional_wire(instant(self.starts, now, ahead=True)),
                "end_at": optional_wire(instant(self.ends, now, ahead=True)),
                "max_firings": self.max_firings,
                "exclude": list(self.exclude) if self.exclude else None,
                "dst": dst or None,
            }
        )
        if more and schedule is None:
            raise typer.BadParameter("bounds belong to a schedule: --cron, --every, --at or --in")
        if dst and "cron" not in (schedule or {}):
            raise typer.BadParameter("--dst-gap and --dst-overlap belong to --cron")
        if self.anchor is not None and "every" not in (schedule or {}):
            raise typer.BadParameter("--anchor belongs to --every")
        return None if schedule is None else schedule | more


def with_bounds(command: Callable[..., None]) -> Callable[..., None]:
    """`command`, whose parameter `bounds` is told by one option for each field of `Bounds`."""
    fields = get_type_hints(Bounds, include_extras=True)

    @wraps(command)
    def called(**words: Any) -> None:
        bounds = Bounds(**{name: words.pop(name) for name in fields})
        command(**words, bounds=bounds)

    known = signature(command, eval_str=True)
    own = [each for each in known.parameters.values() if each.name != "bounds"]
    more = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=hint)
        for name, hint in fields.items()
    ]
    called.__signature__ = known.replace(parameters=[*own, *more])  # type: ignore[attr-defined]  # what inspect looks at
    called.__annotations__ = {each.name: each.annotation for each in (*own, *more)}
    return called


def _seconds(text: str | None) -> int | None:
    if text is None:
        return None
    found = _LENGTH.fullmatch(text)
    if found is None:
        raise typer.BadParameter(f"--jitter is a length (90s, 10m, 2h), not {text}")
    return int(found[1]) * _SECONDS[found[2]]
