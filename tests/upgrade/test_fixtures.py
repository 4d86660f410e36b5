"""What every release stored and sent is read by today's code, and loses nothing by being written back."""

from __future__ import annotations

import ast
import json
from datetime import timedelta
from itertools import chain
from pathlib import Path

import pytest

from fencepost.application import messages
from fencepost.application.ports import Outgoing, QueueName
from fencepost.application.store import Key, Put, Table
from fencepost.domain.instants import from_wire
from fencepost.domain.notification import notification_of, notification_to_wire
from fencepost.domain.states import ExecutionState, JobState
from tests.support.api import Front
from tests.support.clients import Machine
from tests.upgrade import shelf
from tests.upgrade.kinds import CODECS, ITEMS, same, told
from tests.upgrade.recorder import from_json

PACKAGE = Path(messages.__file__).parent
RELEASES = shelf.releases()
EACH = [(version, kind) for version in RELEASES for kind in shelf.kinds(version)]
READERS = {
    "wake-up": messages.read_wake,
    "scan": messages.read_scan,
    "step": messages.read_upkeep,
    "notice": messages.read_grave,
    "pump": messages.read_upkeep,
}


def examples(version, kind):
    return [(from_json(each["item"]), each.get("reads")) for each in shelf.read(version, kind)]


@pytest.mark.parametrize(("version", "kind"), [pair for pair in EACH if pair[1] in CODECS])
def test_U1_what_a_release_stored_is_read_as_it_read_it(version, kind):
    for item, reads in examples(version, kind):
        assert same(reads, json.loads(json.dumps(told(CODECS[kind].read(item))))), item


@pytest.mark.parametrize(
    ("version", "kind"), [pair for pair in EACH if pair[1] in CODECS and CODECS[pair[1]].write]
)
def test_U1_what_was_read_is_written_back_without_loss(version, kind):
    codec = CODECS[kind]
    assert codec.write is not None
    for item, _ in examples(version, kind):
        if item.get("gone") is True:
            continue
        kept = {name for name in item if name not in codec.beside} - {"pk", "sk"}
        again = codec.write(codec.read(item))
        assert {name: again.get(name) for name in kept} == {name: item[name] for name in kept}


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("kind", READERS)
def test_U1_what_a_release_sent_is_understood(version, kind):
    for example in shelf.read(version, f"message: {kind}"):
        READERS[kind](example["body"])


@pytest.mark.parametrize("version", RELEASES)
def test_U1_what_a_release_told_reads_and_is_told_alike(version):
    for event in shelf.read(version, "event"):
        assert same(event, notification_to_wire(notification_of(event)))


def restored(version):
    """The stage as the release left it."""
    left = shelf.read(version, "everything")
    front = Front.at(left["now"], team=False)
    for table, items in left["tables"].items():
        for item in map(from_json, items):
            rest = {name: value for name, value in item.items() if name not in {"pk", "sk"}}
            front.memory.write(Put(key=Key(Table(table), item["pk"], item["sk"]), item=rest))
    for message in left["messages"]:
        delay = max(0, (from_wire(message["visible_at"]) - front.clock.now()) // timedelta(seconds=1))
        queue, group = QueueName(message["queue"]), message["group"]
        front.stage.queues.send(
            [Outgoing(queue=queue, body=message["body"], group=group, delay=min(900, delay))]
        )
    return front.through(front.memory), Machine(front)


@pytest.mark.parametrize("version", RELEASES)
def test_U1_a_stage_that_a_release_left_goes_on(version):
    front, machine = restored(version)
    begun = len(front.stage.targets.calls)
    machine.run(front.clock.now() + timedelta(minutes=20))
    assert len(front.stage.targets.calls) > begun + 60
    stored = {table: list(front.memory.everything(table)) for table in Table}
    jobs = {each["pk"][2:]: each for each in stored[Table.JOBS] if each["sk"] == "J"}
    active = {
        uid for uid, job in jobs.items() if job["state"] == JobState.ACTIVE and not job.get("exhausted")
    }
    aside = [each for each in stored[Table.TIMERS] if each["pk"].startswith("Q#")]
    kept = [each for each in stored[Table.TIMERS] if each not in aside and "#F#" in each["sk"]]
    fire = [str(each["sk"]).split("#") for each in kept]
    ahead = [uid for _, _, uid, generation in fire if int(generation) == jobs[uid]["gen"]]
    assert sorted(ahead) == sorted(active)
    assert len(aside) == 1
    late = [
        each
        for each in stored[Table.EXECUTIONS]
        if each.get("state") == ExecutionState.QUEUED
        and each["due"] < (front.clock.now() - timedelta(minutes=2)).timestamp() * 1000
    ]
    assert late == []


@pytest.mark.parametrize("version", RELEASES)
def test_U1_a_list_that_was_begun_before_the_deployment_goes_on_where_it_stopped(version):
    [kept] = shelf.read(version, "cursor")
    front, _ = restored(version)
    page = front.get(f"{kept['list']}&cursor={kept['cursor']}").body
    assert [job["name"] for job in page["items"]] == kept["following"]


def test_U1_every_kind_of_item_is_on_the_shelf():
    assert set(shelf.kinds(shelf.present())) == ITEMS


def test_U1_a_shape_that_is_not_on_the_shelf_of_this_version_has_to_be_recorded():
    """`python -m tests.upgrade` does that. Where this version was released already, the shape belongs to the next one."""
    assert json.loads(json.dumps(shelf.recorded()["shapes"])) == shelf.read(shelf.present(), "shapes")


def test_U1_every_attribute_that_a_codec_writes_is_on_the_shelf():
    """The names are taken from the encoders' text, so that no attribute is forgotten for want of a story."""
    shapes = chain.from_iterable(shelf.read(shelf.present(), "shapes").values())
    seen = {part for path in shapes for part in path.split(":")[0].split(" ")[0].replace("[]", "").split(".")}
    assert encoded() - seen == set()


def encoded():
    """The attributes named in functions that encode."""
    names = set()
    for path in PACKAGE.rglob("*codec*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.lstrip("_").startswith("encode"):
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Dict):
                        names |= {key.value for key in inner.keys if isinstance(key, ast.Constant)}
    assert len(names) > 80
    return names
