"""What one process remembers, for how long and of how many."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from fencepost.application.memory import Memory

NOW = datetime(2026, 3, 2, 10, tzinfo=UTC)
LIFE = timedelta(milliseconds=200)


def test_a_value_is_remembered_for_its_life_and_not_a_moment_longer() -> None:
    memory: Memory[int] = Memory(LIFE)
    memory.keep("payments", 7, NOW)
    assert memory.recall("payments", NOW + LIFE - timedelta(microseconds=1)) == 7
    assert memory.recall("payments", NOW + LIFE) is None


def test_a_value_from_the_future_is_not_trusted() -> None:
    memory: Memory[int] = Memory(LIFE)
    memory.keep("payments", 7, NOW)
    assert memory.recall("payments", NOW - timedelta(seconds=1)) is None


def test_the_oldest_values_make_room_for_the_newest() -> None:
    memory: Memory[int] = Memory(LIFE, size=3)
    for number in range(5):
        memory.keep(f"team-{number}", number, NOW)
    memory.keep("team-2", 22, NOW)
    memory.keep("team-5", 5, NOW)
    assert [memory.recall(f"team-{number}", NOW) for number in range(6)] == [None, None, 22, None, 4, 5]


def test_what_was_forgotten_is_gone() -> None:
    memory: Memory[int] = Memory(LIFE)
    memory.keep("payments", 7, NOW)
    memory.forget("payments")
    memory.forget("nobody")
    assert memory.recall("payments", NOW) is None
