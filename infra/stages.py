"""The stages there are. A platform team edits this page, and nothing else, to fit Fencepost to its accounts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from infra.names import Fn
from infra.settings import ApiSize, AtMost, FunctionSize, Pollers, Polling, Stage, TableSize

_DELIVER_TIMEOUT = 50
_PASS_TIMEOUT = 60


# Within the crowded five seconds each firing reads its job and payload, writes its record twice and its slot twice;
# claims are spread over the minutes before.
_CROWDED: Mapping[str, TableSize] = {
    "jobs": TableSize(warm_writes=4_000, warm_reads=28_000),
    "timers": TableSize(warm_writes=8_400, warm_reads=12_000),
    "executions": TableSize(warm_writes=30_000, warm_reads=13_000),
    "control": TableSize(warm_writes=25_000, warm_reads=15_000),
}


def _functions(reserved: Mapping[Fn, int]) -> dict[Fn, FunctionSize]:
    """Memory buys CPU. A scan mostly paces itself and a delivery mostly waits; sweep and audit read and get a whole core."""
    shapes = {
        Fn.API: (1024, 28),
        Fn.TICK: (512, 30),
        Fn.SCAN: (512, _PASS_TIMEOUT),
        Fn.PUMP: (512, _PASS_TIMEOUT),
        Fn.DELIVER_CRITICAL: (512, _DELIVER_TIMEOUT),
        Fn.DELIVER_STANDARD: (512, _DELIVER_TIMEOUT),
        Fn.DELIVER_BULK: (512, _DELIVER_TIMEOUT),
        Fn.DELIVER_RECOVERY: (512, _DELIVER_TIMEOUT),
        Fn.DEAD_LETTER: (512, _DELIVER_TIMEOUT),
        Fn.SWEEP: (1769, 900),
        Fn.AUDIT: (1769, 900),
    }
    return {
        name: FunctionSize(memory=memory, timeout=timeout, reserved=reserved[name])
        for name, (memory, timeout) in shapes.items()
    }


def dev() -> Stage:
    """Small: its reservations fit into a hundred, so several of its kind share an account of a thousand."""
    reserved = {
        Fn.API: 10,
        Fn.TICK: 2,
        Fn.SCAN: 5,
        Fn.PUMP: 2,
        Fn.DELIVER_CRITICAL: 20,
        Fn.DELIVER_STANDARD: 20,
        Fn.DELIVER_BULK: 5,
        Fn.DELIVER_RECOVERY: 5,
        Fn.DEAD_LETTER: 8,
        Fn.SWEEP: 1,
        Fn.AUDIT: 1,
    }
    polling: dict[Fn, Polling] = {
        Fn.DELIVER_CRITICAL: Pollers(minimum=2, maximum=2),
        Fn.DELIVER_STANDARD: Pollers(minimum=2, maximum=2),
        Fn.DELIVER_BULK: AtMost(concurrency=5),
        Fn.DELIVER_RECOVERY: AtMost(concurrency=5),
        Fn.DEAD_LETTER: AtMost(concurrency=2),
        Fn.SCAN: AtMost(concurrency=5),
        Fn.PUMP: AtMost(concurrency=2),
    }
    return Stage(
        name="dev",
        shards=4,
        account_concurrency=1000,
        functions=_functions(reserved),
        polling=polling,
        api=ApiSize(rate=50, burst=100),
        retain=False,
        log_days=14,
    )


def staging() -> Stage:
    """The shape of prod at a tenth of its size, kept like prod so that a deployment is rehearsed for real."""
    reserved = {
        Fn.API: 20,
        Fn.TICK: 2,
        Fn.SCAN: 16,
        Fn.PUMP: 5,
        Fn.DELIVER_CRITICAL: 40,
        Fn.DELIVER_STANDARD: 100,
        Fn.DELIVER_BULK: 20,
        Fn.DELIVER_RECOVERY: 10,
        Fn.DEAD_LETTER: 8,
        Fn.SWEEP: 1,
        Fn.AUDIT: 1,
    }
    polling: dict[Fn, Polling] = {
        Fn.DELIVER_CRITICAL: Pollers(minimum=2, maximum=4),
        Fn.DELIVER_STANDARD: Pollers(minimum=2, maximum=10),
        Fn.DELIVER_BULK: AtMost(concurrency=20),
        Fn.DELIVER_RECOVERY: AtMost(concurrency=10),
        Fn.DEAD_LETTER: AtMost(concurrency=2),
        Fn.SCAN: AtMost(concurrency=16),
        Fn.PUMP: AtMost(concurrency=5),
    }
    return replace(
        dev(),
        name="staging",
        shards=16,
        functions=_functions(reserved),
        polling=polling,
        api=ApiSize(rate=200, burst=400),
        log_days=30,
    )


def prod() -> Stage:
    """The design point: 116 firings a second on average, 812 sustained, 48,720 due in one second.

    A poller takes up to a hundred messages a second off its queue, so these are through with the crowded second
    within five, cold starts included (`fencepost size`, docs/performance.md). The quota of a new account is 1,000: it
    has to be raised before the first deployment.
    """
    reserved = {
        Fn.API: 50,
        Fn.TICK: 2,
        Fn.SCAN: 64,
        Fn.PUMP: 20,
        Fn.DELIVER_CRITICAL: 400,
        Fn.DELIVER_STANDARD: 1250,
        Fn.DELIVER_BULK: 200,
        Fn.DELIVER_RECOVERY: 50,
        Fn.DEAD_LETTER: 12,
        Fn.SWEEP: 2,
        Fn.AUDIT: 2,
    }
    polling: dict[Fn, Polling] = {
        Fn.DELIVER_CRITICAL: Pollers(minimum=20, maximum=40),
        Fn.DELIVER_STANDARD: Pollers(minimum=122, maximum=125),
        Fn.DELIVER_BULK: AtMost(concurrency=200),
        Fn.DELIVER_RECOVERY: AtMost(concurrency=50),
        Fn.DEAD_LETTER: AtMost(concurrency=3),
        Fn.SCAN: AtMost(concurrency=64),
        Fn.PUMP: AtMost(concurrency=20),
    }
    return Stage(
        name="prod",
        shards=64,
        account_concurrency=3000,
        functions=_functions(reserved),
        polling=polling,
        tables=_CROWDED,
        api=ApiSize(rate=1000, burst=2000, firewall=True),
        retain=True,
        recovery_days=35,
        log_days=90,
        demand_bytecode=True,
    )


STAGES: Mapping[str, Callable[[], Stage]] = {"dev": dev, "staging": staging, "prod": prod}
