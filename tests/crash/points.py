"""Plays a chapter from its beginning to its rest, with one death at one call."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import cache
from typing import Any
from unittest import mock

from fencepost.application import keys
from fencepost.application.scanning import sweep
from tests.crash.chapters import CHAPTERS, Chapter
from tests.crash.checks import check_all, quiet
from tests.crash.danger import Danger
from tests.crash.grounds import Ground, Left, in_memory
from tests.crash.life import Life

Grounds = Callable[[Danger], AbstractContextManager[Ground]]
FEW_MARKS = 1


@cache
def prepared(name: str) -> Left:
    """The stage on which the chapter begins."""
    danger = Danger()
    with mock.patch.object(keys, "MARK_PARTITIONS", FEW_MARKS), in_memory(danger) as ground:
        life = Life(ground, danger)
        life.prove_empty()
        CHAPTERS[name].prepare(life)
        return ground.left()


def play(name: str, grounds: Grounds, danger: Danger) -> None:
    """The whole chapter. Raises AssertionError for what is not true at rest."""
    chapter, left = CHAPTERS[name], prepared(name)
    with mock.patch.object(keys, "MARK_PARTITIONS", FEW_MARKS), grounds(danger) as ground:
        ground.begin(left)
        life = Life(ground, danger)
        life.targets.then = chapter.answer
        danger.armed = True
        chapter.act(life)
        danger.armed = False
        recover(life, chapter)


def recover(life: Life, chapter: Chapter) -> None:
    """New processes go on until all is at rest, though most ticks do not come; the second net must find nothing."""
    life.kill()
    life.ticks_every = 3
    life.until(lambda: quiet(life), minutes=20)
    found = second_net(life)
    assert {name: found[name] for name in FINDS} == dict.fromkeys(FINDS, 0), found
    check_all(life)
    chapter.check(life)


def second_net(life: Life) -> dict[str, Any]:
    """What the sweep finds in a copy of the stage; it reads a minute of the past at a time, and need not go far."""
    danger = Danger()
    with mock.patch.object(sweep, "LOOK_BACK", timedelta(hours=3)), in_memory(danger) as copy:
        copy.begin(life.ground.left())
        return Life(copy, danger).sweep()


FINDS = ("stray_buckets", "timerless_jobs", "forgotten_executions", "unmarked_lanes", "quarantined")
