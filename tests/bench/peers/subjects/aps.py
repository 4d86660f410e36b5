"""APScheduler: jobs in a SQL store (a SQLite file), fifty threads."""

from __future__ import annotations

import os

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers.blocking import BlockingScheduler
from apscheduler.triggers.cron import CronTrigger

from tests.bench.peers.subjects.call import AT_ONCE, JOBS, call


def main() -> None:
    """Runs until it is ended. A second's grace, the default, would drop most of a crowd: it has a minute's."""
    store = SQLAlchemyJobStore(f"sqlite:///{os.environ['PEERS_DIR']}/jobs.sqlite")
    scheduler = BlockingScheduler(
        jobstores={"default": store},
        executors={"default": ThreadPoolExecutor(AT_ONCE)},
        job_defaults={"misfire_grace_time": 60},
        timezone="UTC",
    )
    for number in range(JOBS):
        scheduler.add_job(call, CronTrigger(minute="*", timezone="UTC"), args=[number], id=f"job-{number}")
    scheduler.start()


if __name__ == "__main__":
    main()
