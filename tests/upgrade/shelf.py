"""Where the fixtures lie, how they are read, and how those of the present version are made."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from fencepost.adapters.seam import PortCall
from fencepost.application.backfills.codec import decode_backfill, encode_backfill
from fencepost.application.codec_job import decode_job, encode_job
from fencepost.application.ports import QueueName
from fencepost.application.store import Table
from fencepost.domain.instants import to_wire
from fencepost.domain.notification import notification_to_wire
from tests.upgrade.kinds import ITEMS
from tests.upgrade.recorder import Recorder, to_json
from tests.upgrade.story import PAYMENTS, Story

T = TypeVar("T")
HERE = Path(__file__).resolve().parent
FIXTURES = HERE / "fixtures"
PYPROJECT = HERE.parents[1] / "pyproject.toml"


class _Late:
    """An around that is put on before the recorder can be made."""

    recorder: Recorder | None = None

    def __call__(self, call: PortCall, proceed: Callable[[], T], /) -> T:
        return proceed() if self.recorder is None else self.recorder(call, proceed)


def present() -> str:
    """The version of the project."""
    return str(tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["version"])


def releases() -> list[str]:
    """Every version that has fixtures."""
    return sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())


@cache
def recorded() -> dict[str, Any]:
    """What the story leaves behind today, by file: examples by kind, the shapes of all, and the stage at the end."""
    late = _Late()
    story = Story(late)
    front = story.front
    late.recorder = recorder = Recorder(front.memory)
    for table in Table:
        for item in front.memory.everything(table):
            recorder.item(table, item)
    story.tell()
    _seldom(recorder, story)
    for notification in front.stage.notifier.told:
        recorder.note("event", notification_to_wire(notification))
    listed = f"{PAYMENTS}/jobs?limit=2"
    page = story.ask("GET", listed).body
    following = [job["name"] for job in story.ask("GET", f"{PAYMENTS}/jobs?limit=100").body["items"]][2:4]
    recorder.note("cursor", {"list": listed, "cursor": page["next"], "following": following})
    return {**recorder.examples, "shapes": recorder.shapes, "everything": _everything(story)}


def _seldom(recorder: Recorder, story: Story) -> None:
    """What only a long sweep or other time-zone rules leave: written by the encoders, for records of the story."""
    for item in story.front.memory.everything(Table.JOBS):
        where = {name: item[name] for name in ("pk", "sk")}
        if item["sk"] == "J":
            job = decode_job(item)
            recorder.item(
                Table.JOBS, where | encode_job(replace(job, begins_with=job.created_at, dead_in_row=2))
            )
        elif str(item["sk"]).startswith("B#"):
            backfill = decode_backfill(item)
            recorder.item(Table.JOBS, where | encode_backfill(replace(backfill, swept=backfill.id)))


def _everything(story: Story) -> dict[str, Any]:
    front = story.front
    return {
        "now": to_wire(front.clock.now()),
        "tables": {
            table.value: [to_json(item) for item in front.memory.everything(table)] for table in Table
        },
        "messages": [
            {
                "queue": queue.value,
                "body": message.body,
                "group": message.group,
                "visible_at": to_wire(message.visible_at),
            }
            for queue in QueueName
            for message in front.stage.queues.waiting(queue)
        ],
    }


def write(made: dict[str, Any]) -> None:
    """Writes the fixtures of the present version."""
    folder = FIXTURES / present()
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.json"):
        old.unlink()
    for kind, content in made.items():
        (folder / f"{_file(kind)}.json").write_text(_lines(content) + "\n", encoding="utf-8")


def _lines(content: Any, deep: int = 3) -> str:
    """JSON with a line for each example, each shape's kind, each item of the stage."""
    if deep and isinstance(content, dict) and content:
        inner = (f"{json.dumps(name)}: {_lines(each, deep - 1)}" for name, each in sorted(content.items()))
        return "{\n" + ",\n".join(inner) + "\n}"
    if deep and isinstance(content, list) and content:
        return "[\n" + ",\n".join(_lines(each, 0) for each in content) + "\n]"
    return json.dumps(content, sort_keys=True, ensure_ascii=False)


def read(version: str, kind: str) -> Any:
    """The fixture of a version."""
    return json.loads((FIXTURES / version / f"{_file(kind)}.json").read_text(encoding="utf-8"))


def kinds(version: str) -> list[str]:
    """The kinds of items that a version has fixtures of."""
    files = {path.stem for path in (FIXTURES / version).glob("*.json")}
    return sorted(kind for kind in ITEMS if _file(kind) in files)


def _file(kind: str) -> str:
    return kind.replace(": ", "-").replace(" ", "-")
