"""The code in docs/fences.md, taken from the page as it stands: a stale fence changes nothing, in any of the stores."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import boto3
import pytest
from moto import mock_aws

from tests.support.node import run_javascript

PAGE = Path(__file__).resolve().parents[3] / "docs" / "fences.md"
# Who calls with which fence, and whether that one is heard: the later holder, its repeat, the late loser, another firing.
STORY = [("a", 5, True), ("a", 7, True), ("a", 7, True), ("a", 5, False), ("b", 1, True), ("a", 8, True)]


def code(heading):
    """The code under a heading of the page."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1]
    found = re.search(r"```\w+\n(.*?)```", section, re.DOTALL)
    assert found is not None, f"no code under {heading}"
    return found[1]


def defined(heading):
    """What the Python code under a heading defines."""
    names: dict[str, object] = {}
    exec(compile(code(heading), str(PAGE), "exec"), names)  # noqa: S102 - our own page
    return names


@pytest.fixture
def database():
    db = sqlite3.connect(":memory:", isolation_level="DEFERRED")
    db.execute("CREATE TABLE fences (execution TEXT PRIMARY KEY, fence INTEGER NOT NULL)")
    db.execute("CREATE TABLE done (execution TEXT, fence INTEGER)")
    yield db
    db.close()


def test_sql(database):
    rows = [
        database.execute(code("SQL"), {"execution": execution, "fence": fence}).rowcount
        for execution, fence, _ in STORY
    ]
    assert rows == [int(heard) for _, _, heard in STORY]


def test_python_keeps_work_and_fence_or_neither(database):
    page = defined("Python")

    def work(db, execution, fence, breaks=False):
        db.execute("INSERT INTO done VALUES (?, ?)", (execution, fence))
        if breaks:
            raise RuntimeError("the import failed")

    for execution, fence, heard in STORY:
        call = lambda db, e=execution, f=fence: work(db, e, f)  # noqa: E731 - one line of the story
        if heard:
            page["fenced"](database, execution, fence, call)
        else:
            with pytest.raises(page["StaleFenceError"]):
                page["fenced"](database, execution, fence, call)
    done = database.execute("SELECT execution, fence FROM done").fetchall()
    assert done == [(execution, fence) for execution, fence, heard in STORY if heard]
    with pytest.raises(RuntimeError):
        page["fenced"](database, "c", 9, lambda db: work(db, "c", 9, breaks=True))
    assert database.execute("SELECT * FROM fences WHERE execution = 'c'").fetchall() == []


def test_javascript():
    script = (
        code("JavaScript")
        + """
answer = given.map(([execution, fence]) => {
  try { return fenced(execution, fence, () => "done") === "done"; }
  catch (error) { return error instanceof StaleFenceError ? false : String(error); }
});
"""
    )
    heard = run_javascript(script, [[execution, fence] for execution, fence, _ in STORY])
    assert heard == [heard for _, _, heard in STORY]


def test_dynamodb():
    page = defined("DynamoDB")
    with mock_aws():
        table = boto3.resource("dynamodb", region_name="us-east-1").create_table(
            TableName="imports",
            KeySchema=[{"AttributeName": "execution", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "execution", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        for execution, fence, heard in STORY:
            if heard:
                page["fenced_write"](table, execution, fence, fence * 10)
                continue
            before = table.get_item(Key={"execution": execution})["Item"]
            with pytest.raises(page["StaleFenceError"]):
                page["fenced_write"](table, execution, fence, fence * 10)
            assert table.get_item(Key={"execution": execution})["Item"] == before
        assert table.get_item(Key={"execution": "a"})["Item"]["imported_rows"] == 80
