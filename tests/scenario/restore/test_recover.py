"""`fencepost recover`: an old copy of a store, with the ledger it replaces and without, from the first minute to the last.

A stage lives for six minutes, is copied, lives on for twenty, and is closed. The copy is put under a new stage. What the
old one fired after the copy shall not be fired again, and what it had not finished shall be.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.adapters.seam import seamed
from fencepost.application import keys, messages
from fencepost.application.codec import decode_execution
from fencepost.application.restoring.holding import RESTORER
from fencepost.application.scanning.sweep import Sweep
from fencepost.application.store import Key, Put, Share, Table
from fencepost.client import at, cron
from fencepost.domain.instants import from_wire
from fencepost.domain.outcome import Accepted, Delivered, Failed
from fencepost.domain.states import ExecutionState, Reason
from fencepost.runtime.api import recovery
from fencepost.runtime.restored import Held
from functions.audit import handler as audit
from functions.sweep import handler as sweep
from tests.support.api import ADMIN, Front
from tests.support.audits import HOOK, Past
from tests.support.clients import Terminal
from tests.support.grants import held
from tests.support.stores import engine_store, memory_store, moto_store, sqlite_store

S = ExecutionState
MINUTELY = cron("* * * * *")
COPIED, CLOSED = "2026-03-01T10:06:40Z", "2026-03-01T10:26:20Z"


class Target:
    """Takes everything, but fails what is called `flaky` until it is well; remembers what it took."""

    def __init__(self):
        self.well = False
        self.took: Counter[str] = Counter()

    def __call__(self, delivery):
        job, identity = delivery.facts.job, delivery.facts.execution_id
        if job in {"flaky", "doomed"} and not self.well:
            return Failed(status=500, error="answered 500")
        if job == "long":
            return Accepted()  # and its worker is never heard of again
        self.took[identity] += 1
        return Delivered(status=200)


def lived(target):
    """The old stage, and its store as it was copied."""
    past = Past()
    past.front.stage.targets.then = target
    patient = {"max_attempts": 9, "initial_delay_seconds": 420, "multiplier": 1, "max_delay_seconds": 420}
    past.put("one", MINUTELY)
    past.put("in-turn", MINUTELY, overlap="queue")
    past.put("flaky", at("2026-03-01T10:05:00Z"), retry=patient)
    past.put("flaky-since", at("2026-03-01T10:20:00Z"), retry=patient)
    past.put("doomed", at("2026-03-01T10:07:00Z"), retry={"max_attempts": 1})
    past.put("healed", at("2026-03-01T10:04:00Z"), retry=patient)
    past.put("long", at("2026-03-01T10:22:00Z"), lease_seconds=600, max_run_seconds=3600)
    past.put("later", at("2026-03-01T11:00:00Z"))
    past.front.stage.targets.then = lambda delivery: (
        Failed(status=500, error="answered 500")
        if delivery.facts.job == "flaky-since" and not target.well
        else target(delivery)
        if delivery.facts.job != "healed" or delivery.facts.attempt > 1
        else Failed(status=500, error="answered 500")
    )
    past.run(COPIED)
    copy = [(table, dict(item)) for table in Table for item in past.store.everything(table)]
    past.run(CLOSED)
    return past, copy


def put(store, copy):
    """Every item where it was, in another store."""
    for table, item in copy:
        facts = {name: value for name, value in item.items() if name not in {"pk", "sk"}}
        store.write(Put(key=Key(table, item["pk"], item["sk"]), item=facts))


class Story:
    """The old stage, the copy under a new one, and whoever calls it."""

    def __init__(self, store, *, ledger=True, life=None, replaced=None):
        self.target = Target()
        self.old, copy = life or lived(self.target)
        self.new = Past(Front.at(CLOSED, team=False))
        front = self.new.front
        put(store, copy)
        for _ in range(2_000):
            front.stage.entropy.token()
        front.stage.settings = replace(front.stage.settings, restored="r1", no_fire_before=from_wire(CLOSED))
        front.stage.targets.then = self.target
        front.stage.replaced = (replaced or self.old.store) if ledger else None
        self.store = store
        front.through(seamed(store, "store", Held("r1")))
        self.target.well = True
        self.recover = Terminal(front)
        front.stage.queues.send(self._left_behind())

    def _left_behind(self):
        """Messages of before the restore that still lie in the queues: they survive it."""
        now = self.new.front.clock.now()
        limits = self.new.front.stage.settings.limits
        return [
            messages.wake(record, at=now, now=now, limits=limits)
            for record in self.records(self.store)
            if not record.final
        ]

    def records(self, store):
        found = [item for page in store.scan(Share(table=Table.EXECUTIONS)) for item in page]
        return [decode_execution(item) for item in found if not item["pk"].startswith("D#")]

    def record(self, job, store=None):
        (found,) = [each for each in self.records(store or self.store) if each.job == job]
        return found

    def run(self, until):
        self.new.run(until)

    def twice(self):
        return {identity for identity, times in self.target.took.items() if times > 1}


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    with ExitStack() as stack:
        opened = {
            "memory": memory_store,
            "sqlite": lambda: stack.enter_context(sqlite_store(tmp_path / "restored.db")),
        }
        yield opened[request.param]()


@pytest.fixture
def story(store):
    return Story(store)


def recovered(story, *words):
    printed = story.recover("recover", "--shares", "3", "--yes", *words, by="AKIDADMIN")
    assert printed.status == 0, printed.err
    return printed


def test_the_story_has_all_that_it_needs(story):
    """Fired after the copy, unfinished at it and ended since, unfinished to the end, dead since, and untouched."""
    before = {record.id: record for record in story.records(story.store)}
    since = {record.id: record for record in story.records(story.old.store)}
    assert len(since) - len(before) > 30
    assert (story.record("healed").state, story.record("healed", story.old.store).state) == (
        S.RETRY_WAIT,
        S.SUCCEEDED,
    )
    assert story.record("flaky", story.old.store).state is S.RETRY_WAIT
    assert story.record("flaky-since", story.old.store).state is S.RETRY_WAIT
    assert story.record("long", story.old.store).state is S.RUNNING
    assert story.record("doomed", story.old.store).state is S.DEAD


def test_F5_a_restored_stage_fires_nothing_until_it_is_opened(story):
    """Not its timers, not the messages left in the queues, not what is declared meanwhile; and it says why."""
    taken = story.target.took.copy()
    story.new.owner.job("new").put(schedule=at("2026-03-01T10:28:00Z"), target=HOOK)
    story.run("2026-03-01T10:30:00Z")
    assert story.target.took == taken
    body = story.new.front.get("/v1/stage").body
    assert body["paused"]
    assert {pause["by"] for pause in body["pauses"]} == {RESTORER}
    assert sweep.build(held(story.new.front.stage, sweep.__name__))({}, None) == {"held": "r1"}


def test_F5_what_was_held_meanwhile_runs_once_it_is_open(story):
    """A job declared before the opening, and the messages that were left in the queues: each once."""
    story.new.owner.job("new").put(schedule=at("2026-03-01T10:28:00Z"), target=HOOK)
    story.run("2026-03-01T10:30:00Z")
    recovered(story)
    story.run("2026-03-01T10:50:00Z")
    assert story.record("new").state is S.SUCCEEDED
    assert story.twice() == set()
    assert story.record("flaky").state is S.SUCCEEDED


def test_F5_nothing_fires_twice_and_nothing_unfinished_is_lost(story):
    printed = recovered(story)
    assert "open" in printed.out
    story.run("2026-03-01T10:50:00Z")

    assert story.twice() == set()
    ended = {record.job: record.state for record in story.records(story.store) if record.job != "later"}
    assert {ended[job] for job in ("flaky", "flaky-since", "healed")} == {S.SUCCEEDED}
    assert ended["doomed"] is S.DEAD
    open_ = [each for each in story.records(story.store) if not each.final and each.due < from_wire(CLOSED)]
    assert {each.job for each in open_} <= {"long"}


def test_F5_what_was_fired_after_the_copy_is_in_the_new_ledger_as_it_was(story):
    recovered(story)
    kept = {record.id: record for record in story.records(story.store)}
    for record in story.records(story.old.store):
        if record.final:
            assert kept[record.id] == record


def test_F5_jobs_go_on_where_the_old_stage_stopped(story):
    """Each minute is explained once: fired by the old stage, skipped as restored, or fired by the new one."""
    recovered(story)
    story.run("2026-03-01T10:40:00Z")
    for job in ("one", "in-turn"):
        instant, end = from_wire("2026-03-01T10:01:00Z"), from_wire("2026-03-01T10:38:00Z")
        records = [each for each in story.records(story.store) if each.job == job]
        while instant <= end:
            (record,) = [each for each in records if each.due <= instant <= (each.until or each.due)]
            assert record.state is S.SUCCEEDED or record.reason is Reason.RESTORED
            instant += timedelta(minutes=1)
        newest = max((each for each in records if each.state is S.SUCCEEDED), key=lambda each: each.due)
        assert newest.due >= end


def test_F5_a_run_that_the_old_stage_began_goes_on_under_a_larger_fence(story):
    before = story.record("long", story.old.store).fence
    recovered(story)
    story.run("2026-03-01T10:36:00Z")
    after = story.record("long")
    assert after.fence > before
    assert [attempt.fence for attempt in after.attempts] == sorted(each.fence for each in after.attempts)


def test_F5_an_audit_of_the_recovered_stage_finds_nothing(story):
    recovered(story)
    story.run("2026-03-01T10:50:00Z")
    handler = audit.build(held(story.new.front.stage, audit.__name__))
    told = handler({}, None)
    assert told["findings"] == 0, told


def test_F5_recovering_twice_changes_nothing(story):
    recovered(story, "--keep-held")
    once = story.records(story.store)
    printed = recovered(story, "--keep-held")
    assert "0 that had ended" in printed.out
    assert "0 other records" in printed.out
    assert story.records(story.store) == once
    recovered(story)
    refused = story.recover("recover", "--yes", by="AKIDADMIN")
    assert refused.status == 1
    assert "the stage is open" in refused.err
    again = story.new.front.post("/v1/stage/recovery", {"shares": 1, "ledger": False}, by=ADMIN)
    assert again.status == 200
    story.run("2026-03-01T10:50:00Z")
    assert story.twice() == set()


def test_F5_without_the_replaced_ledger_what_was_under_way_runs_again_and_nothing_else(store):
    """The copy cannot know that it ended: the target sees the same execution under a larger fence."""
    story = Story(store, ledger=False)
    under_way = {str(each.id) for each in story.records(story.store) if not each.final}
    recovered(story)
    story.run("2026-03-01T10:50:00Z")
    assert story.twice() <= under_way
    assert story.record("healed").state is S.SUCCEEDED
    skipped = [each for each in story.records(story.store) if each.reason is Reason.RESTORED]
    assert {each.job for each in skipped} >= {"one", "in-turn"}


def test_a_stage_on_its_own_tables_has_nothing_to_recover_and_nothing_to_open():
    front = Front.at()
    for path in ("/v1/stage/recovery", "/v1/stage/open"):
        assert front.post(path, {}, by=ADMIN).status == 409
    assert Terminal(front)("recover", "--yes", by="AKIDADMIN").status == 1


def test_only_administrators_recover_and_open(story):
    assert story.new.front.post("/v1/stage/recovery", {}).status == 403
    assert story.new.front.post("/v1/stage/open", {}).status == 403
    assert story.new.front.post("/v1/stage/recovery", {"share": 3, "shares": 3}, by=ADMIN).status == 422


def test_what_cannot_be_read_keeps_the_stage_held(story):
    key = keys.execution(story.record("healed").id)
    story.store.write(Put(key=key, item={"v": 1, "state": "QUEUED"}))
    printed = story.recover("recover", "--yes", by="AKIDADMIN")
    assert printed.status == 1
    assert f"cannot be read: {key.pk}/{key.sk}" in printed.err
    assert "held" in printed.out


def test_shares_that_take_too_long_are_cut_finer(story):
    """Time passes with every read: the sixteen shares that come to no end become sixty-four."""
    clock = story.new.front.clock
    honest = Sweep.mend

    def slowly(self, now, number, of, *rest):
        clock.set(clock.now() + timedelta(seconds=16 if of < 4 else 1))
        honest(self, now, number, of, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sweep, "mend", slowly)
        printed = story.recover("recover", "--shares", "1", "--yes", by="AKIDADMIN")
    assert "going on in 4 shares" in printed.err
    assert printed.status == 0


def test_the_opening_is_in_the_audit_trail_and_the_copys_own_switches_stay(story):
    story.new.front.post("/v1/stage/pause", {"tiers": ["bulk"], "note": "quiet"}, by=ADMIN)
    recovered(story, "--note", "back to 10:06")
    body = story.new.front.get("/v1/stage").body
    assert [(pause["tier"], pause["note"]) for pause in body["pauses"]] == [("bulk", "quiet")]
    newest = story.new.front.get("/v1/stage/revisions", by=ADMIN).body["items"][0]
    assert (newest["what"], newest["note"], newest["after"]["restored"]) == ("open", "back to 10:06", "r1")


def test_dynamodb_comes_to_the_same_ledger():
    life, ledgers = lived(Target()), []
    with moto_store() as dynamodb:
        for store in (memory_store(), dynamodb):
            story = Story(store, life=life)
            until = story.new.front.clock.now() + timedelta(hours=1)
            found = recovery(story.new.front.stage, story.old.store).run(0, 1, until, ledger=True)
            assert found.finished
            ledgers.append({each.id: each for each in story.records(store)})
    assert ledgers[0] == ledgers[1]


@pytest.mark.engine
def test_F5_the_command_comes_to_the_same_ledger_on_the_local_engine(engine):
    """The copy and the ledger that it replaces both lie on the engine; recovered and opened, the stage goes on there."""
    life, said, ledgers, ends = lived(Target()), [], [], []
    replaced = engine_store(engine)
    put(replaced, [(table, item) for table in Table for item in life[0].store.everything(table)])
    for store, before in ((memory_store(), None), (engine_store(engine), replaced)):
        story = Story(store, life=life, replaced=before)
        said.append(recovered(story, "--json").json)
        # What another share brings has its timer from then on; it is counted and woken besides as the shares are cut.
        assert said[-1].pop("unfinished") >= said[-1].pop("woken") > 0
        ledgers.append({each.id: each for each in story.records(store)})
        story.run("2026-03-01T10:28:00Z")
        ends.append({each.id: (each.state, each.reason) for each in story.records(store)})
        assert story.twice() == set()
    assert said[0] == said[1]
    assert said[0]["opened"]
    assert min(said[0][name] for name in ("retired", "brought", "planted")) > 0
    assert ledgers[0] == ledgers[1]
    assert ends[0] == ends[1]
    kept = [{each.id: each for each in story.records(each)} for each in (replaced, life[0].store)]
    assert kept[0] == kept[1], "the replaced ledger is only read"
