"""How options are read: instants, JSON, files, pairs. What is wrong is a usage error that names the rule."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import typer
import yaml

from fencepost.cli import yamls
from fencepost.domain.instants import aware

_AGO = re.compile(r"(\d{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_RULE = "an instant is RFC 3339 with an offset (2026-03-01T02:30:00Z), a date, `now`, or a length (90s, 15m, 2h, 7d)"


def instant(text: str | None, now: datetime, *, ahead: bool = False) -> datetime | None:
    """The instant that `text` names; a length counts back from now, or on from it with `ahead`. Raises
    typer.BadParameter.
    """
    if text is None:
        return None
    if text == "now":
        return now
    length = _AGO.fullmatch(text)
    if length:
        span = timedelta(**{_UNITS[length[2]]: int(length[1])})
        return now + span if ahead else now - span
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text}: {_RULE}") from None
    if found.tzinfo is not None:
        return aware(found)
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return found.replace(tzinfo=UTC)
    raise typer.BadParameter(f"{text}: {_RULE}")


def document(source: str) -> Any:  # noqa: ANN401 - any JSON value
    """The one YAML or JSON document of a file, or of standard input for ``-``. Raises typer.BadParameter."""
    try:
        return yamls.read(content(source))
    except yaml.YAMLError as error:
        raise typer.BadParameter(f"{source} is no YAML: {' '.join(str(error).split())}") from error


def content(source: str) -> str:
    """The text of a file, or standard input for ``-``. Raises typer.BadParameter."""
    try:
        return sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{source}: {getattr(error, 'strerror', None) or error}") from error


def json_value(text: str | None, option: str) -> Any:  # noqa: ANN401 - any JSON value
    """JSON from the line itself, or from a file with ``@file``. Raises typer.BadParameter."""
    if text is None:
        return None
    if text.startswith("@"):
        return document(text[1:])
    try:
        return json.loads(text)
    except ValueError:
        raise typer.BadParameter(f"{option} is JSON, or @file with it") from None


def pairs(given: Iterable[str], option: str) -> dict[str, str]:
    """``name=value`` or ``name:value``. Raises typer.BadParameter."""
    found: dict[str, str] = {}
    for each in given:
        name, mark, value = re.match(r"([^=:]*)([=:]?)(.*)", each, re.DOTALL).groups()  # type: ignore[union-attr]  # the pattern fits every text
        if not mark or not name:
            raise typer.BadParameter(f"{option} is name:value, not {each}")
        found[name] = value
    return found


def given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Without what was not given."""
    return {name: value for name, value in fields.items() if value is not None}
