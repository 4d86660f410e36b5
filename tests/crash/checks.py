"""What must be true once all is at rest, read from the stored records, timers, slots and the target's log alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from fencepost.application.store import Table
from fencepost.domain.model import Execution
from fencepost.domain.states import ExecutionState
from tests.crash.life import Life

MINUTE_MS = 60_000
FINAL = {"SUCCEEDED", "DEAD", "SKIPPED", "CANCELLED"}


def quiet(life: Life) -> bool:
    """Nothing is on its way, but what is due in the future by a job's schedule: no record that is due and not final, no
    errand but those for months ahead, no mark, no message about what is over, no timer that still has to be handed over.
    """
    now = to_ms(life.clock.now())
    records = [item for item in life.ground.items(Table.EXECUTIONS) if "state" in item]
    ahead = {f"{item['pk']}-{item['sk'].replace('#', '-', 1)}" for item in records if item["due"] > now}
    unfinished = [item for item in records if item["state"] not in FINAL and item["due"] <= now]
    control = [str(item["pk"]) for item in life.ground.items(Table.CONTROL)]
    left = [pk for pk in control if pk.startswith(("M#", "B#", "O#", "E#")) and pk != "E#forget"]
    woken = [body for body in life.ground.waiting() if "execution" in body or "notice" in body]
    over = [body for body in woken if not any(each in body for each in ahead)]
    timers = [str(item["sk"]).split("#") for item in life.ground.items(Table.TIMERS)]
    due = [timer for timer in timers if int(timer[0]) <= now]
    fire = Counter(timer[2] for timer in timers)
    return not (unfinished or left or over or due) and set(fire.values()) <= {1}


def check_all(life: Life) -> None:
    """Rules of every story: one outcome, rising fences, nothing leaked, one timer for each job, the dead told."""
    records = life.records()
    check_calls(life, records)
    check_slots(life, records)
    check_timers(life)
    dead = [record for record in records if record.state is ExecutionState.DEAD]
    told = {notice.execution_id for notice in life.notifier.told}
    assert {str(record.id) for record in dead} <= told, "a death that nobody was told of"
    for kind in ("Q#",):
        assert not [item for item in life.ground.items(Table.TIMERS) if item["pk"].startswith(kind)]
    assert not [item for item in life.ground.items(Table.CONTROL) if item["pk"].startswith("X#")]


def check_calls(life: Life, records: list[Execution]) -> None:
    """The target's log against the records."""
    by_id = {str(record.id): record for record in records}
    log: Mapping[str, list[Any]] = defaultdict(list)
    for call in life.targets.calls:
        log[call.execution].append(call)
    assert log.keys() <= by_id.keys()
    for identity, record in by_id.items():
        calls, delivered = log[identity], [each for each in record.attempts if each.outcome == "delivered"]
        fences = [call.fence for call in calls]
        assert fences == sorted(set(fences)), f"{identity}: fences {fences} do not rise"
        assert len({call.body for call in calls}) <= 1, f"{identity}: another body"
        assert not [call for call in calls if call.at < record.due], f"{identity}: called early"
        accepted = len(delivered) + sum(each.outcome == "completed" for each in record.attempts)
        assert accepted == (1 if record.state is ExecutionState.SUCCEEDED else 0), f"{identity}: {record}"
        assert fences == [] or record.fence >= fences[-1], f"{identity}: the record forgot a fence"
        made = len(record.attempts) + record.attempts_dropped
        assert len(calls) <= made, f"{identity}: {len(calls)} calls, {made} attempts"


def check_slots(life: Life, records: list[Execution]) -> None:
    """Slots and locks are free, lanes are empty and unmarked."""
    unfinished = {str(record.id) for record in records if not record.final}
    for item in life.ground.items(Table.CONTROL):
        kind, holder = str(item["pk"])[:2], item.get("x")
        if kind in {"S#", "L#"} and holder is not None and holder not in unfinished:
            lapsed = item.get("until") is not None and item["until"] <= to_ms(life.clock.now())
            assert lapsed, f"{item} is held by nobody"
        assert kind not in {"B#", "O#"} or str(item["sk"]).partition("#")[2] in unfinished, (
            f"{item} waits for nothing"
        )
        assert kind != "M#" or unfinished, f"a mark is left: {item}"


def check_timers(life: Life) -> None:
    """Each active job has exactly one `fire` timer of its generation, ahead of now; no other job has one that is due."""
    jobs = {item["pk"][2:]: item for item in life.ground.items(Table.JOBS) if item["sk"] == "J"}
    now = to_ms(life.clock.now())
    ahead: Counter[str] = Counter()
    for item in life.ground.items(Table.TIMERS):
        stamp, kind, whom, sequence = str(item["sk"]).split("#")
        assert int(stamp) > now - 2 * MINUTE_MS, f"a timer that nobody fetched: {item}"
        if kind == "F" and jobs[whom]["gen"] == int(sequence):
            ahead[whom] += 1
    active = {uid for uid, job in jobs.items() if job["state"] == "ACTIVE" and not job.get("exhausted")}
    assert ahead == dict.fromkeys(active, 1), f"timers {ahead}, active {active}"


def check_ends(life: Life, job: str, state: ExecutionState, *, count: int) -> list[Execution]:
    """The job's records, all in that state."""
    found = life.of(job)
    assert [record.state for record in found] == [state] * count, found
    return found


def check_minutes(life: Life, job: str, *, every: int = 1, second: int = 0, since_edit: bool = False) -> None:
    """Every nominal instant between the first record and now has one record, or lies in the range of one."""
    records = [record for record in life.of(job) if record.origin == "schedule"]
    assert records
    uid = records[0].id.uid
    [stored] = [
        item for item in life.ground.items(Table.JOBS) if item["pk"] == f"J#{uid}" and item["sk"] == "J"
    ]
    begin = stored["created"]
    if since_edit:
        changed = [
            i for i in life.ground.items(Table.JOBS) if i["pk"] == f"J#{uid}" and i["sk"].startswith("G#")
        ]
        begin = min(item["until"] for item in changed)
    now = to_ms(life.clock.now())
    first = begin - begin % MINUTE_MS + MINUTE_MS * 0 + second * 1000
    instants = [at for at in range(first, now - MINUTE_MS, MINUTE_MS) if at > begin]
    wanted = [at for at in instants if datetime.fromtimestamp(at / 1000, UTC).minute % every == 0]
    for at in wanted:
        own = [record for record in records if to_ms(record.id.nominal) == at]
        covering = [r for r in records if r.until and to_ms(r.id.nominal) <= at <= to_ms(r.until)]
        assert len(own) <= 1, own
        assert own or covering, f"{at} of {wanted} is unexplained: {records}"
    for record in records:
        assert record.state.value in FINAL or to_ms(record.due) > now - MINUTE_MS, record


def to_ms(instant: datetime | None) -> int:
    """Epoch milliseconds."""
    assert instant is not None
    return round(instant.timestamp() * 1000)
