"""The library's words are the API's: what it may say, and what it reads."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

import pytest

from fencepost.adapters.api import answers, answers_team, answers_upkeep, answers_work, bodies_upkeep, models
from fencepost.client import bulk, keys, results, upkeep
from fencepost.client.shapes import BackfillFields, JobFields, TeamFields

READ = [
    (results.Job, answers.Job),
    (results.JobChange, answers.JobChange),
    (results.Occurrence, answers.Occurrence),
    (results.Team, answers.Team),
    (results.Revision, answers.Revision),
    (results.Preview, answers.Preview),
    (results.Health, answers.Health),
    (results.Limits, answers.Limits),
    (results.Execution, answers_work.Execution),
    (results.Attempt, answers_work.Attempt),
    (results.Coalesced, answers_work.Coalesced),
    (results.Redriven, answers_work.Redriven),
    (bulk.BulkResult, answers.BulkResult),
    (keys.SigningKey, answers_team.SigningKey),
    (keys.MadeKey, answers_team.MadeKey),
    (upkeep.Calendar, answers_team.Calendar),
    (upkeep.Refreshed, answers_team.Refreshed),
    (upkeep.Backfill, answers_upkeep.Backfill),
    (upkeep.Stage, answers_upkeep.Stage),
    (upkeep.Departure, answers_upkeep.TeamDeparture),
]


def wire_names(model: Any) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


@pytest.mark.parametrize(
    ("declared", "body"),
    [
        (JobFields, models.JobBody),
        (TeamFields, models.TeamBody),
        (BackfillFields, bodies_upkeep.BackfillBody),
    ],
)
def test_everything_that_the_api_takes_can_be_said(declared, body):
    assert set(declared.__annotations__) == wire_names(body) - {"from", "to"}


@pytest.mark.parametrize(("result", "answer"), READ, ids=[result.__name__ for result, _ in READ])
def test_everything_that_must_be_read_is_answered(result, answer):
    wanted = {
        each.metadata.get("wire", each.name)
        for each in fields(result)
        if each.name != "raw" and each.default is MISSING and each.default_factory is MISSING
    }

    assert wanted <= wire_names(answer)
