"""RQ: its own cron scheduler puts the jobs into Redis, a pool of workers forks for each of them."""

from __future__ import annotations

from rq import cron

from tests.bench.peers.subjects.call import JOBS, call

for job in range(JOBS):
    cron.register(call, "default", args=(job,), cron="* * * * *", result_ttl=60)
