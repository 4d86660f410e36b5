"""`fencepost import`."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from fencepost.cli import heat, yamls
from fencepost.cli.imports.carried import Cargo
from fencepost.cli.imports.crontab import read_crontab
from fencepost.cli.imports.eventbridge import ForeignError, read_eventbridge
from fencepost.cli.imports.kubernetes import read_kubernetes
from fencepost.cli.imports.qstash import read_qstash
from fencepost.cli.reading import content, document, json_value
from fencepost.cli.session import Session, session
from fencepost.domain.faults import Faults

SHOWN = 20

app = typer.Typer(no_args_is_help=True, help="Turn what other schedulers hold into a file of jobs.")

Source = Annotated[str, typer.Argument(metavar="FILE", help="The file to read; - reads standard input.")]
Url = Annotated[str | None, typer.Option(help="The webhook of the runner that carries the commands out.")]
Target = Annotated[str | None, typer.Option(help='JSON of another target: {"sqs": {...}}.')]
Output = Annotated[str | None, typer.Option("--output", "-o", help="Write the file of jobs here.")]
Jitter = Annotated[int | None, typer.Option(min=1, help="Spread every job over so many seconds.")]
Day = Annotated[
    str | None, typer.Option(help="The day of the heat map, UTC: 2026-03-29; tomorrow by default.")
]


@app.command()
def crontab(
    context: typer.Context,
    source: Source,
    url: Url = None,
    target: Target = None,
    timezone: Annotated[str, typer.Option("--timezone", "--tz", help="The machine's own zone.")] = "UTC",
    users: Annotated[
        bool, typer.Option("--users", help="A system crontab: a user before each command.")
    ] = False,
    output: Output = None,
    jitter: Jitter = None,
    day: Day = None,
) -> None:
    """Read a crontab. Commands become payloads for a runner of your own.

    Example: fencepost import crontab crontab.txt --tz Europe/Berlin --url https://runner.example.com/run
    """
    run = session(context)
    where = _target(url, target)
    try:
        cargo = read_crontab(content(source), where, run.around.clock.now(), timezone=timezone, users=users)
    except Faults as refused:
        raise typer.BadParameter(str(refused)) from refused
    _unload(run, cargo, output, jitter, day)


@app.command()
def eventbridge(
    context: typer.Context, source: Source, output: Output = None, jitter: Jitter = None, day: Day = None
) -> None:
    """Read EventBridge schedules or rules, as `aws scheduler` or `aws events` print them.

    Example: fencepost import eventbridge schedules.json -o jobs-eventbridge.yaml
    """
    run = session(context)
    _unload(run, _read(read_eventbridge, document(source), run), output, jitter, day)


@app.command()
def qstash(
    context: typer.Context, source: Source, output: Output = None, jitter: Jitter = None, day: Day = None
) -> None:
    """Read QStash schedules, as `GET /v2/schedules` answers.

    Example: fencepost import qstash qstash.json
    """
    run = session(context)
    _unload(run, _read(read_qstash, document(source), run), output, jitter, day)


@app.command()
def kubernetes(
    context: typer.Context,
    source: Source,
    url: Url = None,
    target: Target = None,
    output: Output = None,
    jitter: Jitter = None,
    day: Day = None,
) -> None:
    """Read CronJob manifests, as `kubectl get cronjobs -o yaml` prints them.

    Example: fencepost import kubernetes cronjobs.yaml --url https://runner.example.com/run
    """
    run = session(context)
    where = _target(url, target)
    try:
        documents = yamls.read_all(content(source))
    except yaml.YAMLError as error:
        raise typer.BadParameter(f"{source} is no YAML: {' '.join(str(error).split())}") from error
    _unload(run, read_kubernetes(documents, where, run.around.clock.now()), output, jitter, day)


def _read(reader: Any, raw: object, run: Session) -> Cargo:  # noqa: ANN401 - one of the readers
    try:
        cargo: Cargo = reader(raw, run.around.clock.now())
    except ForeignError as error:
        raise typer.BadParameter(str(error)) from error
    return cargo


def _target(url: str | None, target: str | None) -> dict[str, Any]:
    if (url is None) == (target is None):
        raise typer.BadParameter("who carries the commands out? Give --url or --target")
    found = {"webhook": {"url": url}} if url else json_value(target, "--target")
    if not isinstance(found, dict):
        raise typer.BadParameter("--target is a JSON object")
    return found


def _unload(run: Session, cargo: Cargo, output: str | None, jitter: int | None, day: str | None) -> None:
    """The file to standard output or `output`, the report to standard error."""
    found = heat.heat((each.schedule for each in cargo.carried), _start(day, run.around.clock.now()))
    written = cargo.document(jitter=jitter)
    if output is not None:
        Path(output).write_text(yamls.write(written), encoding="utf-8")
    if run.choice.json:
        run.json({"file": written, "left": _left(cargo), "lost": _lost(cargo), "crowded": _crowded(found)})
        return
    if output is None:
        run.around.out.file.write(yamls.write(written))
    _report(run, cargo, found)


def _report(run: Session, cargo: Cargo, found: heat.Heat) -> None:
    if cargo.carried:
        run.around.err.print(heat.picture(found))
    for what, count in Counter(each for one in cargo.carried for each in one.lost).most_common():
        run.warn(f"not carried over, of {count:,} jobs: {what}")
    for left in cargo.left[:SHOWN]:
        run.warn(f"left behind: {left.where}: {left.what}: {left.why}")
    if len(cargo.left) > SHOWN:
        run.warn(f"left behind: {len(cargo.left) - SHOWN:,} more; --json tells them all")
    run.warn(f"{len(cargo.carried):,} jobs, {len(cargo.left):,} left behind")


def _left(cargo: Cargo) -> list[dict[str, str]]:
    return [{"where": each.where, "what": each.what, "why": each.why} for each in cargo.left]


def _lost(cargo: Cargo) -> list[dict[str, object]]:
    return [{"job": each.name, "lost": list(each.lost)} for each in cargo.carried if each.lost]


def _crowded(found: heat.Heat) -> list[dict[str, object]]:
    return [{"minute": f"{at:%H:%M}", "firings": count} for at, count in found.crowded()]


def _start(day: str | None, now: datetime) -> datetime:
    try:
        chosen = (now + timedelta(days=1)).date() if day is None else date.fromisoformat(day)
    except ValueError:
        raise typer.BadParameter(f"{day} is no day: 2026-03-29") from None
    return datetime(chosen.year, chosen.month, chosen.day, tzinfo=UTC)
