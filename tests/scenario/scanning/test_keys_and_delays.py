"""Keys that hold their content, delays that never surface late, groups that no single timer can spoil."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.adapters.memory.store import MemoryStore
from fencepost.application import keys
from fencepost.application.codec import decode_timer, encode_timer
from fencepost.application.messages import delay_seconds
from fencepost.application.scanning.claimer import groups
from fencepost.application.scanning.report import ScanReport
from fencepost.application.store import Action, Cancelled, Committed, InvalidWriteError, Put
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import from_wire
from fencepost.domain.limits import Limits
from fencepost.domain.model import Bucket, Timer, TimerKind
from tests.support.shard import Shard, uid_of

EVERY_MINUTE = {"cron": "* * * * *", "timezone": "UTC"}
MINUTE = from_wire("2026-03-01T02:00:00Z")


def fire(name: str, *, generation: int = 1, seconds: int = 0) -> Timer:
    at = MINUTE + timedelta(seconds=seconds)
    uid = (name * 20)[:20]
    return Timer(
        bucket=Bucket.at(at, 0), kind=TimerKind.FIRE, instant=at, uid=uid, sequence=generation, due=at
    )


def test_B1_a_key_names_bucket_instant_kind_whom_and_generation() -> None:
    timers = [fire("a"), fire("a", generation=2), fire("b"), fire("a", seconds=5)]
    assert len({keys.timer(timer) for timer in timers}) == 4


def test_B1_wake_ups_of_one_execution_are_told_apart_by_attempt_and_fence() -> None:
    execution = ExecutionId.occurrence("a" * 20, MINUTE)
    common = {"bucket": Bucket.at(MINUTE, 0), "instant": MINUTE, "due": MINUTE, "uid": "a" * 20}
    made = [
        Timer(kind=kind, sequence=number, execution=execution, **common)  # type: ignore[arg-type]  # one mapping
        for kind in (TimerKind.RETRY, TimerKind.WATCH)
        for number in (1, 2)
    ]
    assert len({keys.timer(timer) for timer in made}) == 4


@given(
    ms=st.integers(min_value=0, max_value=59_999),
    generation=st.integers(min_value=1, max_value=10**9),
    ordinal=st.integers(min_value=1, max_value=10**9),
    offset=st.integers(min_value=-50_400, max_value=50_400),
    late=st.integers(min_value=0, max_value=86_400),
)
def test_B1_what_is_stored_under_a_key_reads_back_as_it_was(
    ms: int, generation: int, ordinal: int, offset: int, late: int
) -> None:
    at = MINUTE + timedelta(milliseconds=ms)
    timer = Timer(
        bucket=Bucket.at(at + timedelta(seconds=late), 63),
        kind=TimerKind.FIRE,
        instant=at,
        uid="a" * 20,
        sequence=generation,
        due=at + timedelta(seconds=late),
        team="payments",
        ordinal=ordinal,
        offset=offset,
        not_before=at + timedelta(seconds=late) if late % 2 else None,
    )
    key = keys.timer(timer)
    assert decode_timer({**encode_timer(timer), "pk": key.pk, "sk": key.sk}) == timer


def test_a_partition_reads_in_the_order_of_instants() -> None:
    timers = [fire("c", seconds=50), fire("b", seconds=5), fire("a", seconds=30)]
    in_order = sorted(timers, key=lambda timer: keys.timer(timer).sk)
    assert [timer.instant.second for timer in in_order] == [5, 30, 50]


@pytest.mark.parametrize(
    ("ahead", "delay"),
    [(-5.0, 0), (0.0, 0), (0.4, 0), (1.0, 0), (1.2, 1), (2.0, 1), (59.6, 59), (180.0, 179), (3600.0, 900)],
)
def test_D8_a_delay_surfaces_up_to_a_second_before_due_and_never_after(ahead: float, delay: int) -> None:
    assert delay_seconds(timedelta(seconds=ahead), Limits()) == delay


@given(ms=st.integers(min_value=0, max_value=840_000))
def test_D8_inside_the_longest_horizon_no_delay_is_too_long(ms: int) -> None:
    ahead = timedelta(milliseconds=ms)
    early = ahead - timedelta(seconds=delay_seconds(ahead, Limits()))
    assert timedelta(0) <= early <= timedelta(seconds=1)


@pytest.mark.parametrize("minutes", [0.5, 15, 60])
def test_D8_a_horizon_that_no_delay_can_cover_is_refused(minutes: float) -> None:
    with pytest.raises(ValueError, match="horizon"):
        Limits(horizon=timedelta(minutes=minutes))


@given(st.lists(st.sampled_from("abcdef"), max_size=60), st.integers(min_value=1, max_value=7))
def test_F3_a_group_holds_one_timer_of_a_job_and_nobody_is_left_out(names: list[str], size: int) -> None:
    timers = [fire(name, seconds=n) for n, name in enumerate(names)]
    made = list(groups(timers, size))
    assert all(len(group) <= size for group in made)
    assert all(len({timer.uid for timer in group}) == len(group) for group in made)
    assert sorted(timer.due for group in made for timer in group) == [timer.due for timer in timers]
    for name in set(names):
        mine = [timer.due for group in made for timer in group if timer.uid[0] == name]
        assert mine == sorted(mine)


class Picky(MemoryStore):
    """Refuses every request in which one job takes part, as DynamoDB refuses what it cannot take."""

    def __init__(self, uid: str) -> None:
        super().__init__()
        self.uid = uid

    def transact(self, actions: Sequence[Action], token: str | None = None) -> Committed | Cancelled:
        if any(action.key.pk == self.uid and isinstance(action, Put) for action in actions):
            raise InvalidWriteError("one item is too large")
        return super().transact(actions, token)


def test_F3_a_request_refused_as_a_whole_is_tried_singly_and_the_culprit_set_aside() -> None:
    shard = Shard("2026-03-01T02:00:30Z", store=Picky(uid_of("culprit")))
    jobs = [shard.register(name, {"at": "2026-03-01T02:02:00Z"}) for name in ("one", "culprit", "three")]
    report = shard.scan()
    assert (report.claimed, report.quarantined) == (2, 1)
    assert [len(shard.records(job)) for job in jobs] == [1, 0, 1]


def test_F07_a_scanner_that_never_heard_of_a_job_fires_it() -> None:
    shard = Shard("2026-03-01T02:00:30Z")
    job = shard.register("elsewhere", EVERY_MINUTE)
    fresh = Shard("2026-03-01T02:00:30Z", store=shard.store, clock=shard.clock)
    report = ScanReport()
    fresh.scanner().claimer.claim(shard.timers(), report)
    assert report.claimed == len(shard.records(job)) > 0
