"""Every chapter, with a death before and after each of its calls: in memory, and on the real adapters."""

from __future__ import annotations

from functools import partial

import pytest

from fencepost.application.delivery.dead_letter import DeadLetters
from fencepost.application.delivery.dead_letters import dead_letter_key, dead_letter_notified
from fencepost.application.delivery.results import Acknowledge
from fencepost.application.scanning.handover import HandOver
from fencepost.domain.notification import NotificationKind
from fencepost.runtime.clock import monotonic_ms
from tests.crash.chapters import CHAPTERS
from tests.crash.danger import Danger
from tests.crash.grounds import Yard, in_memory, on_engine
from tests.crash.points import play
from tests.support.engine import Engine


@pytest.fixture(scope="module")
def yard(engine: Engine):
    """Tables and queues that all points share."""
    return Yard.of(engine)


def died_at(name, grounds, at, *, after):
    """Plays the chapter; whatever is wrong at rest says where the process died."""
    danger = Danger(at, after)
    try:
        play(name, grounds, danger)
        assert danger.killed, "nobody died"
    except AssertionError as error:
        died = danger.calls[at] if at < len(danger.calls) else "never"
        raise AssertionError(
            f"{name}, died {'after' if after else 'before'} call {at}, {died}: {error}"
        ) from error


def deaths(name):
    """The chapter's deaths in memory: all that leave something else behind than another does."""
    peace = Danger()
    play(name, in_memory, peace)
    first, *_ = peace.effects
    assert len(peace.effects) >= 10
    return [(first, False), *((at, True) for at in peace.effects)]


@pytest.mark.parametrize("name", CHAPTERS)
def test_A1_P8_a_story_comes_to_rest_wherever_a_process_dies(name):
    """In memory, before the first call that changes something and after each: a death before a call leaves what the call
    before it left, and a read leaves nothing.
    """
    for at, after in deaths(name):
        died_at(name, in_memory, at, after=after)


def timer_first(self, outgoing, timer_keys):
    """Deletes timers before their messages are sent."""
    self.store.batch_delete(list(timer_keys))
    return HONEST_SENT(self, outgoing, timer_keys)


def note_first(self, record, team, now):
    """Notes that a team was told before it is."""
    item = self.tools.store.get(dead_letter_key(record))
    if item is not None and "notified" not in item:
        self.tools.store.write(dead_letter_notified(record, now))
        self.notices.send(NotificationKind.DEAD, record, team, now)
    return Acknowledge(why="the team is told")


HONEST_SENT = HandOver._sent
SABOTAGE = {
    "registers": (HandOver, "_sent", timer_first),
    "dies for good": (DeadLetters, "_notified", note_first),
}


def holds(name, at, *, after):
    """Whether the chapter comes to a good end."""
    try:
        died_at(name, in_memory, at, after=after)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize("name", SABOTAGE)
def test_the_checks_notice_a_rule_that_was_taken_away(name, monkeypatch):
    monkeypatch.setattr(*SABOTAGE[name])
    assert not all(holds(name, at, after=after) for at, after in deaths(name))


@pytest.mark.engine
@pytest.mark.parametrize("name", CHAPTERS)
def test_A1_a_story_comes_to_rest_on_the_engine(name, yard):
    play(name, partial(on_engine, yard), Danger())


@pytest.mark.engine
@pytest.mark.crash_full
@pytest.mark.parametrize("beside", ["changes", "reads"])
@pytest.mark.parametrize("name", CHAPTERS)
def test_A1_P8_a_story_comes_to_rest_on_the_engine_wherever_a_process_dies(name, beside, yard):
    """On the engine, at each request to DynamoDB and SQS and each call of a target or of a team, none left out."""
    grounds, began = partial(on_engine, yard), monotonic_ms()
    peace = Danger()
    play(name, grounds, peace)
    changes = set(peace.effects)
    chosen = [at for at in range(len(peace.calls)) if (at in changes) == (beside == "changes")]
    for at in chosen:
        for after in (False, True):
            died_at(name, grounds, at, after=after)
    seconds = (monotonic_ms() - began) / 1000
    print(f"{name}: {2 * len(chosen)} points beside {beside} of {len(peace.calls)} calls, {seconds:.0f} s")
