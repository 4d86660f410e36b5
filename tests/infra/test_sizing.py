"""The stage for the design point is as large as `fencepost size` says, and what that says fits into a stage."""

from __future__ import annotations

from dataclasses import replace

from fencepost.domain.sizing import Load, advise
from fencepost.domain.sizing.usage import DELIVERY_MB
from infra.names import Fn
from infra.settings import Pollers
from infra.stages import prod

DESIGN_POINT = Load(jobs=10_000_000, rate=116, spike=48_720)


def test_prod_is_what_is_advised_for_the_design_point():
    stage, advice = prod(), advise(DESIGN_POINT)
    polling = stage.polling[Fn.DELIVER_STANDARD]
    assert isinstance(polling, Pollers)
    assert stage.shards == advice.shards
    assert polling.minimum >= advice.pollers
    assert stage.size(Fn.DELIVER_STANDARD).reserved >= advice.delivery_concurrency
    assert stage.size(Fn.DELIVER_STANDARD).memory == DELIVERY_MB
    assert stage.size(Fn.SCAN).reserved >= advice.scan_concurrency
    assert stage.account_concurrency >= advice.account_concurrency
    for table, wanted in (
        ("timers", advice.timer_writes),
        ("executions", advice.record_writes),
        ("control", advice.slot_writes),
    ):
        assert (stage.table(table).warm_writes or 0) >= wanted, table
    assert (stage.table("jobs").warm_reads or 0) >= advice.job_reads


def test_what_is_advised_is_a_stage_that_can_be_synthesised():
    base = prod()
    for load in (DESIGN_POINT, Load(jobs=1_000, rate=0.5, spike=100), Load(jobs=10**6, rate=20, spike=5_000)):
        advice = advise(load)
        functions = {
            **base.functions,
            Fn.DELIVER_STANDARD: replace(
                base.size(Fn.DELIVER_STANDARD), reserved=advice.delivery_concurrency
            ),
        }
        polling = {
            **base.polling,
            Fn.DELIVER_STANDARD: Pollers(minimum=advice.pollers, maximum=advice.pollers),
        }
        others = sum(size.reserved for name, size in functions.items() if name is not Fn.DELIVER_STANDARD)
        quota = advice.account_concurrency + others
        replace(
            base, shards=advice.shards, functions=functions, polling=polling, account_concurrency=quota
        ).check()
