"""A stage's settings are judged before anything is synthesised, and every fault is told at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infra.app import stage_of
from infra.names import Fn
from infra.settings import AtMost, FunctionSize, Pollers, Provisioned, StageError, TableSize
from infra.stages import STAGES, dev, prod, staging

pytestmark = pytest.mark.xdist_group("infra")


def fed(stage, function, polling):
    return replace(stage, polling={**stage.polling, function: polling})


@pytest.mark.parametrize("name", STAGES)
def test_every_stage_is_sound(name):
    assert STAGES[name]().check().name == name


def test_dev_fits_into_a_hundred_reservations():
    assert dev().reserved <= 100


def test_dev_and_staging_share_an_account_of_a_thousand():
    together = replace(staging(), reserved_elsewhere=dev().reserved)
    assert together.check().account_concurrency == 1000


def test_more_reservations_than_the_account_can_give_are_refused():
    with pytest.raises(StageError, match="quota of 1000 less 100 allows 900"):
        replace(prod(), account_concurrency=1000).check()


def test_what_others_reserve_counts():
    room = dev().account_concurrency - 100 - dev().reserved
    replace(dev(), reserved_elsewhere=room).check()
    with pytest.raises(StageError, match="in all 901"):
        replace(dev(), reserved_elsewhere=room + 1).check()


def test_pollers_never_invoke_more_than_is_reserved():
    with pytest.raises(StageError, match="3 pollers invoke 30 at once, it reserves 20"):
        fed(dev(), Fn.DELIVER_CRITICAL, Pollers(minimum=2, maximum=3)).check()


def test_four_mappings_of_one_function_share_its_reservation():
    with pytest.raises(StageError, match="dead-letter: 4 x 3 at once, it reserves 8"):
        fed(dev(), Fn.DEAD_LETTER, AtMost(concurrency=3)).check()


@pytest.mark.parametrize(
    "polling", [Pollers(minimum=1, maximum=2), Pollers(minimum=2, maximum=1), AtMost(concurrency=1)]
)
def test_pollers_stay_within_what_lambda_offers(polling):
    with pytest.raises(StageError, match=r"must be 2\.\."):
        fed(dev(), Fn.DELIVER_BULK, polling).check()


@pytest.mark.parametrize("horizon", [59, 841])
def test_the_horizon_fits_into_a_queue_delay(horizon):
    with pytest.raises(StageError, match=f"horizon is {horizon}"):
        replace(dev(), horizon=horizon).check()


def test_every_fault_is_told_at_once():
    broken = replace(dev(), horizon=1, shards=0, account_concurrency=50)
    with pytest.raises(StageError) as refused:
        broken.check()
    assert all(word in str(refused.value) for word in ("horizon is 1", "shards is 0", "quota of 50"))


def test_a_function_without_room_is_refused():
    sizes = dict(dev().functions)
    del sizes[Fn.SWEEP]
    with pytest.raises(StageError, match="no room for sweep"):
        replace(dev(), functions=sizes).check()


def test_half_a_bought_capacity_is_refused():
    writes = Provisioned(least=10, most=5)
    with pytest.raises(StageError, match="timers: writes from 10 to 5; timers: writes and reads are either"):
        replace(dev(), tables={"timers": TableSize(writes=writes)}).check()


def test_the_context_chooses_and_overrides():
    stage = stage_of({"stage": "prod", "account": "210987654321", "region": "eu-central-1", "restored": "r1"})
    assert (stage.name, stage.account, stage.region, stage.restored) == (
        "prod",
        "210987654321",
        "eu-central-1",
        "r1",
    )


def test_accounts_that_may_call_are_named_by_their_numbers():
    assert stage_of({"callers": "111122223333,444455556666"}).callers == ("111122223333", "444455556666")
    with pytest.raises(StageError, match="callers: payments is no account"):
        stage_of({"callers": "payments"})


def test_an_unknown_stage_is_refused_with_those_there_are():
    with pytest.raises(StageError, match="stage qa: there are dev, staging, prod"):
        stage_of({"stage": "qa"})


def test_prod_can_take_its_crowded_second():
    """48,720 due in one second, a hundred a second off the queue per poller, five seconds, one second's head start."""
    pollers = prod().polling[Fn.DELIVER_STANDARD]
    assert isinstance(pollers, Pollers)
    assert pollers.minimum * 100 * 5 >= 48_720
    assert isinstance(prod().functions[Fn.DELIVER_STANDARD], FunctionSize)
