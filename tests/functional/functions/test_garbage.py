"""Bodies, events and stored items that nobody can read: whatever they hold, the firings of a neighbour go on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.application.ports import Outgoing, QueueName
from fencepost.application.store import Item, Key, Put, Table
from fencepost.domain import delivery as wire
from fencepost.domain.outcome import Accepted, Delivered, Failed, Outcome, TimedOut
from fencepost.runtime.function import Build
from functions.dead_letter.handler import build as dead_letter
from functions.deliver.handler import build as deliver
from functions.pump.handler import build as pump
from functions.scan.handler import build as scan
from functions.tick.handler import build as tick
from tests.support.api import ADMIN, Front, event_of
from tests.support.clients import Machine
from tests.support.functions import WorldStage, event
from tests.support.world import World

PAYMENTS = "/v1/teams/payments"
MINUTELY = {"cron": "* * * * *"}
AFTER = ("12:03", "12:04", "12:05", "12:06")


def answer(call: wire.Delivery) -> Outcome:
    """Some targets work on, some fail, one is silent, the neighbour's is well."""
    answers: dict[str, Outcome] = {
        "long": Accepted(),
        "dying": Failed(status=500, error="answered 500"),
        "dead": TimedOut(error="no answer within 10 s"),
    }
    return answers.get(call.facts.job, Delivered(status=200))


def eventful() -> tuple[Front, Machine]:
    """A stage on which much is under way beside the job `neighbour`, two minutes after it was opened."""
    front = Front.at("2026-03-01T12:00:30Z")
    front.stage.targets.then = answer
    spared = {"calm.example.com": {"max_parallel": 2, "max_per_minute": 30}}
    told = ["dead", "paused", "skipped", "circuit_open"]
    front.patch(PAYMENTS, {"max_concurrency": 20, "notify_on": told, "hosts": spared}, by=ADMIN)
    quick = {"initial_delay_seconds": 1, "max_delay_seconds": 2}
    jobs: dict[str, dict[str, Any]] = {
        "neighbour": {},
        "calm": {},
        "long": {"overlap": "queue"},
        "dying": {"retry": quick | {"max_attempts": 2}},
        "dead": {"retry": quick | {"max_attempts": 9}},
        "gone": {"overlap": "skip"},
        "resting": {},
    }
    for name, more in jobs.items():
        target = {"webhook": {"url": f"https://{name}.example.com/hook"}}
        assert front.job(name, MINUTELY, target=target, **more).status == 201
    front.job("filled", {"cron": "0 * * * *"})
    span = {"from": "2026-03-01T00:00:00Z", "to": "2026-03-01T12:00:00Z"}
    front.post(PAYMENTS + "/jobs/filled/backfills", span)
    front.post(PAYMENTS + "/jobs/resting/pause", {"until": "2026-03-01T12:05:00Z"})
    machine = Machine(front)
    machine.run("2026-03-01T12:02:40Z")
    front.delete(PAYMENTS + "/jobs/gone")
    return front, machine


def unharmed(front: Front, machine: Machine) -> list[str]:
    """The minutes in which the neighbour should have succeeded, and did not."""
    machine.run("2026-03-01T12:06:30Z")
    found = front.get(PAYMENTS + "/jobs/neighbour/executions?limit=100").body["items"]
    ran = {record["due"][11:16] for record in found if record["state"] == "SUCCEEDED"}
    return [minute for minute in AFTER if minute not in ran]


def strangers(front: Front) -> Iterator[Key]:
    """One item of every kind that is neither the neighbour's own nor what its team and the stage themselves are."""
    uid = front.get(PAYMENTS + "/jobs/neighbour").body["uid"]
    own = {("T#payments", "T"), ("Z", "stage"), ("N#payments", "neighbour")}
    seen = set[tuple[str, ...]]()
    for table in Table:
        for item in front.memory.everything(table):
            pk, sk = str(item["pk"]), str(item["sk"])
            kind = (table, pk.partition("#")[0], sk[0] if table is Table.JOBS and pk[0] in "JET" else "")
            if uid not in pk + sk and (pk, sk) not in own and kind not in seen:
                seen.add(kind)
                yield Key(table, pk, sk)


Garble = Callable[[Item], dict[str, Any]]
GARBLED: dict[str, Garble] = {
    "without its version": lambda item: {name: value for name, value in item.items() if name != "v"},
    "with nothing in it": lambda _: {"v": 1},
    "all words": lambda item: {name: value if name == "v" else "?" for name, value in item.items()},
    "all lists": lambda item: {
        name: value if name == "v" else [1, {"a": None}] for name, value in item.items()
    },
    "with numbers beyond all time": lambda item: {
        name: 10**30 if isinstance(value, int) and name != "v" else value for name, value in item.items()
    },
}


@pytest.mark.parametrize("how", GARBLED)
def test_R10_stored_items_that_nobody_can_read_block_no_neighbour(how: str) -> None:
    """One of every kind, all in one stage; so each of them stands in nobody's way either."""
    front, machine = eventful()
    keys = list(strangers(front))
    assert len(keys) >= 25
    assert {key.table for key in keys} == set(Table)
    for key in keys:
        item = front.memory.get(key) or {}
        facts = {name: value for name, value in item.items() if name not in {"pk", "sk"}}
        front.memory.write(Put(key=key, item=GARBLED[how](facts)))
    assert unharmed(front, machine) == []


TEXTS = st.text(max_size=60)
JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(["v", "execution", "shard", "now", "team", "errand", "notice", "minute"])
BODIES = TEXTS | JSON_VALUES.map(json.dumps) | st.dictionaries(FIELDS, JSON_VALUES).map(json.dumps)
ABOUT = st.dictionaries(FIELDS, JSON_VALUES).map(lambda fields: json.dumps({**fields, "v": 1}))


@settings(max_examples=10, deadline=None)
@given(bodies=st.lists(st.tuples(st.sampled_from(QueueName), BODIES | ABOUT), min_size=1, max_size=12))
def test_R10_bodies_that_nobody_can_read_block_no_neighbour(bodies: list[tuple[QueueName, str]]) -> None:
    front = Front.at("2026-03-01T12:02:40Z")
    front.job("neighbour", MINUTELY)
    machine = Machine(front)
    front.stage.queues.send([Outgoing(queue=queue, body=body) for queue, body in bodies])
    assert unharmed(front, machine) == []


@pytest.mark.parametrize(
    ("build", "name"),
    [(deliver, "sqs_deliver"), (scan, "sqs_scan"), (pump, "sqs_pump"), (dead_letter, "sqs_dead_letter")],
)
@pytest.mark.parametrize("missing", ["body", "receiptHandle", "attributes", "messageId", "eventSourceARN"])
def test_R10_a_record_of_a_batch_that_nobody_can_read_blocks_no_neighbour(
    build: Build, name: str, missing: str
) -> None:
    stage = WorldStage(World())
    good = event(name)["Records"][0]
    bad = {part: value for part, value in deepcopy(good).items() if part != missing}
    handler = build(stage)
    alone = handler({"Records": [good]}, None)
    both = handler({"Records": [bad, {**good, "messageId": "another"}]}, None)
    failed = {each["itemIdentifier"] for each in both["batchItemFailures"]}
    assert ("another" in failed) == bool(alone["batchItemFailures"])


@settings(max_examples=8, deadline=None)
@given(
    garbage=st.dictionaries(TEXTS | st.sampled_from(["detail", "Records", "path", "httpMethod"]), JSON_VALUES)
)
def test_R10_the_minutes_wake_up_needs_nothing_of_its_event(garbage: dict[str, Any]) -> None:
    front = Front.at("2026-03-01T12:02:40Z")
    front.job("neighbour", MINUTELY)
    machine = Machine(front)
    tick(front.stage)(garbage, None)
    assert unharmed(front, machine) == []


@settings(max_examples=60, deadline=None)
@given(body=BODIES, garbage=st.dictionaries(st.sampled_from(sorted(event_of("get_job"))), JSON_VALUES))
def test_R10_a_call_that_nobody_can_read_leaves_the_next_one_as_it_was(
    body: str, garbage: dict[str, Any]
) -> None:
    wrong = FRONT.call("PUT", PAYMENTS + "/jobs/report", raw=body)
    assert 400 <= wrong.status < 500
    with suppress(Exception):  # no gateway makes such an event
        FRONT.handler({**event_of("get_job"), **garbage}, None)
    assert FRONT.get(PAYMENTS).status == 200


FRONT = Front.at("2026-03-01T12:00:00Z")
