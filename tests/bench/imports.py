"""CPU of a cold start on this machine: what a handler imports and composes, beside boto3 with its clients."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

from fencepost.application.ports import QueueName
from fencepost.application.store import Table
from tests.bench.ondemand import PREFIX, ROOT, running

HANDLERS = ("tick", "scan", "deliver", "pump", "dead_letter", "sweep", "api")
LEAN = ("tick", "scan", "deliver", "pump")
CLIENTS = "import boto3; [boto3.client(name, region_name='us-east-1') for name in ('dynamodb', 'sqs')]"
SUBJECTS: Mapping[str, str] = {
    "boto3": "import boto3",
    "boto3, clients of DynamoDB and SQS": CLIENTS,
    **{f"functions/{name}": f"import functions.{name}.handler" for name in HANDLERS},
}
_TIMED = "import time; begun = time.process_time_ns(); {}; print((time.process_time_ns() - begun) / 1e6)"


def measured(rounds: int = 9) -> dict[str, float]:
    """Milliseconds of CPU by subject: the best of `rounds` interleaved fresh processes. Bytecode is there already.

    A handler composes its ports as on Lambda.
    """
    best = dict.fromkeys(SUBJECTS, float("inf"))
    with running() as endpoint:
        for _ in range(rounds):
            for name, code in SUBJECTS.items():
                best[name] = min(best[name], _once(code, endpoint))
    return best


def _once(code: str, endpoint: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", _TIMED.format(code)],
        cwd=ROOT,
        env=environment() | {"AWS_ENDPOINT_URL": endpoint},
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout.splitlines()[-1])


def environment() -> dict[str, str]:
    """What a function of a stage finds in its environment."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "HOME") if name in os.environ}
    tables = {f"FENCEPOST_TABLE_{table.upper()}": f"{PREFIX}{table}" for table in Table}
    queues = {
        f"FENCEPOST_QUEUE_{queue.upper().replace('-', '_')}": f"https://sqs.us-east-1.amazonaws.com/1/fencepost-bench-{queue}"
        for queue in QueueName
    }
    return {
        **kept,
        **tables,
        **queues,
        "AWS_LAMBDA_FUNCTION_NAME": "fencepost-bench",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_SESSION_TOKEN": "testing",
        "FENCEPOST_STAGE": "bench",
        "FENCEPOST_KMS_KEY_ID": "key",
    }
