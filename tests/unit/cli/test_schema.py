"""The JSON Schema of files of jobs: current, and of one mind with the reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from fencepost.adapters.api.openapi import document
from fencepost.cli import yamls
from fencepost.client import DeclarationError
from fencepost.client.declaration import FIELDS, read_jobs
from scripts.jobs_schema import SCHEMA, schema, text

ROOT = Path(__file__).resolve().parents[3]
MADE = schema(document())
VALIDATOR = Draft202012Validator(MADE)
JOB = {"schedule": {"cron": "0 9 * * *"}, "target": {"webhook": {"url": "https://example.com"}}}


def file(job: Any, /, **more: Any) -> dict[str, Any]:
    return {"version": 1, "jobs": {"a": job}, **more}


def test_the_committed_schema_is_current():
    assert SCHEMA.read_text(encoding="utf-8") == text(document()), "run: python scripts/jobs_schema.py"


def test_it_knows_every_field_that_the_reader_knows():
    assert set(MADE["$defs"]["Job"]["properties"]) == set(FIELDS)


def test_the_example_is_valid():
    assert VALIDATOR.is_valid(yamls.read((ROOT / "examples" / "jobs.yaml").read_text()))


@pytest.mark.parametrize(
    "raw",
    [
        file(JOB),
        file({"schedule": {"every": "PT15M", "jitter_seconds": 30}}, defaults={"target": JOB["target"]}),
        file({**JOB, "labels": {"app": "ledger"}, "retry": {"max_attempts": 3}}, team="payments"),
    ],
)
def test_what_is_right_is_right_for_both(raw):
    assert VALIDATOR.is_valid(raw)
    assert read_jobs(raw).jobs


@pytest.mark.parametrize(
    "raw",
    [
        file(JOB, version=2),
        {"version": 1},
        file(JOB, job={}),
        file({**JOB, "colour": "red"}),
        file({**JOB, "schedule": {"in": "PT5M"}}),
        {"version": 1, "jobs": {"A": JOB}},
        file(JOB, defaults={"colour": "red"}),
        [],
    ],
)
def test_what_is_wrong_is_wrong_for_both(raw):
    assert not VALIDATOR.is_valid(raw)
    with pytest.raises(DeclarationError):
        read_jobs(raw)


def test_every_reference_is_to_something_in_the_file():
    found = json.dumps(MADE)

    assert "#/components" not in found
    assert "InShape" not in found
