"""Celery: beat puts the tasks into Redis, a worker of fifty threads runs them."""

from __future__ import annotations

import os

from celery import Celery
from celery.schedules import crontab

from tests.bench.peers.subjects.call import JOBS, call

app = Celery("peers", broker=os.environ.get("PEERS_REDIS"))
app.conf.update(
    task_ignore_result=True,
    timezone="UTC",
    worker_prefetch_multiplier=1,
    beat_schedule={
        f"job-{number}": {"task": "peers.call", "schedule": crontab(), "args": (number,)}
        for number in range(JOBS)
    },
)


@app.task(name="peers.call")
def work(number: int) -> None:
    """One firing."""
    call(number)
