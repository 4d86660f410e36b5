"""A store and queues of any size that hold nothing: every answer is made for the key that was asked for.

Runs as a process of its own (`python -m tests.bench.ondemand`, prints its port), so that its CPU is nobody's but its
own. It speaks the wire protocols of DynamoDB and SQS as far as a firing needs them, over plain HTTP on loopback.
"""

from __future__ import annotations

import hashlib
import json
import random
import socketserver
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from fencepost.adapters.dynamodb.codec import encode_item
from fencepost.adapters.dynamodb.requests import wire_key
from fencepost.adapters.dynamodb.schema import table_names
from fencepost.application import keys
from fencepost.application.codec import encode_execution, encode_timer
from fencepost.application.codec_job import encode_detail, encode_job, encode_team
from fencepost.application.planting import WATERMARK
from fencepost.application.store import Item, Key, Table
from fencepost.application.switches.codec import StageSwitches, encode_stage
from fencepost.domain.identity import ExecutionId
from fencepost.domain.instants import MINUTE, floor_minute, from_ms, to_ms
from fencepost.domain.model import Bucket, Execution, Origin, Team, Tier, Timer, TimerKind
from fencepost.domain.states import ExecutionState
from tests.bench.jobs import TEAM, detail_of, job_of, number_of, uid_of

PREFIX = "bench-"
ROOT = Path(__file__).resolve().parents[2]
_TABLES = {name: table for table, name in table_names(PREFIX).items()}


@dataclass(frozen=True)
class Register:
    """So many jobs, of which `crowd` come due in one minute of shard 0: at `due_ms`, registered at `since_ms`."""

    registered: int
    crowd: int
    due_ms: int
    since_ms: int

    @property
    def due(self) -> datetime:
        """When the crowd comes due."""
        return from_ms(self.due_ms)

    @property
    def bucket(self) -> Bucket:
        """Where its timers lie."""
        return Bucket(floor_minute(self.due), 0)

    def numbers(self) -> list[int]:
        """Which jobs it is."""
        return random.Random(self.due_ms).sample(range(self.registered), self.crowd)

    def timers(self) -> list[Timer]:
        """The crowd's timers by sort key."""
        uids = sorted(uid_of(number) for number in self.numbers())
        common: dict[str, Any] = {"kind": TimerKind.FIRE, "instant": self.due, "sequence": 1, "due": self.due}
        return [Timer(bucket=self.bucket, uid=uid, team=TEAM, tzdata="2026f", **common) for uid in uids]

    def record(self, identity: ExecutionId) -> Execution:
        """The claimed firing of that id."""
        job = job_of(number_of(identity.uid), from_ms(self.since_ms))
        return Execution(
            id=identity,
            team=job.team,
            job=job.name,
            state=ExecutionState.QUEUED,
            origin=Origin.SCHEDULE,
            tier=Tier.STANDARD,
            due=self.due,
            generation=1,
            planted_generation=1,
            claimed_at=self.due - 2 * MINUTE,
            claim_id="a" * 20,
            tzdata="2026f",
            hint=job.detail,
        )

    def item(self, key: Key) -> Item | None:
        """What lies there."""
        if key == keys.stage():
            return encode_stage(StageSwitches())
        match key.table, key.pk[:2]:
            case Table.JOBS, "J#" if key.sk == "J":
                return encode_job(job_of(number_of(key.pk[2:]), from_ms(self.since_ms)))
            case Table.JOBS, "J#" if key.sk.startswith("P#"):
                return encode_detail(detail_of(number_of(key.pk[2:])))
            case Table.JOBS, "T#":
                return encode_team(Team(name=key.pk[2:]))
            case Table.EXECUTIONS, _:
                return encode_execution(
                    self.record(ExecutionId.parse(f"{key.pk}-{key.sk.replace('#', '-', 1)}"))
                )
            case Table.CONTROL, "W#" if key == keys.watermark(0):
                return {"v": 1, WATERMARK: to_ms(self.bucket.minute - MINUTE)}
        return None


class OnDemand:
    """Answers requests by their target and body."""

    def __init__(self) -> None:
        self.register = Register(1, 1, 0, 0)

    def answer(self, target: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The body of the answer."""
        match target.rpartition(".")[2]:
            case "Register":
                self.register = Register(**body)
                return {}
            case "GetItem":
                found = self._wire(_key(body["TableName"], body["Key"]))
                return {} if found is None else {"Item": found}
            case "BatchGetItem":
                return {
                    "Responses": {
                        name: self._found(name, asked["Keys"]) for name, asked in body["RequestItems"].items()
                    }
                }
            case "Query":
                return self._query(body)
            case "BatchWriteItem":
                return {"UnprocessedItems": {}}
            case "SendMessageBatch":
                return {"Successful": [_accepted(entry) for entry in body["Entries"]], "Failed": []}
            case _:
                return {}

    def _found(self, table: str, wanted: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        items = (self._wire(_key(table, key)) for key in wanted)
        return [item for item in items if item is not None]

    def _wire(self, key: Key) -> dict[str, Any] | None:
        item = self.register.item(key)
        return None if item is None else _json(encode_item(item) | wire_key(key))

    def _query(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        bucket = {"S": keys.bucket_partition(self.register.bucket)}
        if bucket in body["ExpressionAttributeValues"].values():
            return _crowd(self.register)
        return {"Items": [], "Count": 0, "ScannedCount": 0}


@lru_cache(maxsize=4)
def _crowd(register: Register) -> Mapping[str, Any]:
    items = [encode_item(encode_timer(each)) | wire_key(keys.timer(each)) for each in register.timers()]
    return {"Items": items, "Count": len(items), "ScannedCount": len(items)}


def _key(table: str, wire: Mapping[str, Any]) -> Key:
    return Key(_TABLES[table], wire["pk"]["S"], wire["sk"]["S"])


def _accepted(entry: Mapping[str, Any]) -> dict[str, str]:
    digest = hashlib.md5(entry["MessageBody"].encode(), usedforsecurity=False).hexdigest()
    return {"Id": entry["Id"], "MessageId": f"m-{entry['Id']}", "MD5OfMessageBody": digest}


def _json(item: Mapping[str, Any]) -> dict[str, Any]:
    """Bytes as the wire carries them."""
    import base64

    return {
        name: {"B": base64.b64encode(value["B"]).decode()} if "B" in value else value
        for name, value in item.items()
    }


class _Connection(socketserver.StreamRequestHandler):
    """One kept connection."""

    disable_nagle_algorithm = True

    def handle(self) -> None:
        """Until the caller hangs up."""
        store = cast("_Server", self.server).store
        while request := self.rfile.readline():
            del request
            headers: dict[str, str] = {}
            while (line := self.rfile.readline()) not in {b"\r\n", b""}:
                name, _, value = line.decode("latin-1").partition(":")
                headers[name.lower()] = value.strip()
            body = self.rfile.read(int(headers.get("content-length", "0")))
            answer = json.dumps(
                store.answer(headers.get("x-amz-target", ""), json.loads(body or b"{}"))
            ).encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: {len(answer)}\r\n\r\n"
            self.wfile.write(head.encode() + answer)


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.store = OnDemand()


@contextmanager
def running() -> Iterator[str]:
    """The endpoint of a process that answers until the block is left."""
    command = [sys.executable, "-m", "tests.bench.ondemand"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


def configuration(register: Register) -> str:
    """The body that makes the process hold `register`; its target is `Bench.Register`."""
    return json.dumps(asdict(register))


if __name__ == "__main__":
    with _Server() as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()
