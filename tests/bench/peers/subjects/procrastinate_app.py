"""Procrastinate: periodic tasks in PostgreSQL, one worker with fifty at once."""

from __future__ import annotations

import os

from procrastinate import App, PsycopgConnector

from tests.bench.peers.subjects.call import AT_ONCE, JOBS, call

app = App(connector=PsycopgConnector(conninfo=os.environ.get("PEERS_POSTGRES", ""), max_size=10))


@app.task(name="peers.call")
def work(timestamp: int, number: int) -> None:
    """One firing; a task that is no coroutine runs in a thread."""
    del timestamp
    call(number)


for job in range(JOBS):
    app.periodic(cron="* * * * *", periodic_id=f"job-{job}", task_kwargs={"number": job})(work)


def main() -> None:
    """Makes the schema and works until it is ended."""
    with app.open():
        app.schema_manager.apply_schema()
    app.run_worker(concurrency=AT_ONCE, delete_jobs="successful")


if __name__ == "__main__":
    main()
