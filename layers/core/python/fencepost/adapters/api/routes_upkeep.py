"""The routes of backfills, and of the switches of teams and of the stage."""

from __future__ import annotations

from fencepost.adapters.api import (
    answers,
    answers_upkeep,
    backfills,
    bodies_upkeep,
    history,
    switches,
)
from fencepost.adapters.api.access import Role
from fencepost.adapters.api.filters import AUDIT_FILTERS
from fencepost.adapters.api.paths import JOB, STAGE, TEAM
from fencepost.adapters.api.queries import PAGED
from fencepost.adapters.api.route import Route

BACKFILL_ROUTES = (
    Route(
        name="askForBackfill",
        method="POST",
        path=JOB + "/backfills",
        says="Run a past range of occurrences again, at a rate, by the schedule that the job has now.",
        role=Role.OPERATOR,
        handle=backfills.ask,
        takes=bodies_upkeep.BackfillBody,
        gives={202: answers_upkeep.Backfill},
        conflicts=True,
    ),
    Route(
        name="listBackfills",
        method="GET",
        path=JOB + "/backfills",
        says="A job's backfills, the last one asked for first.",
        role=Role.READER,
        handle=backfills.browse,
        gives={200: answers_upkeep.BackfillList},
        query=PAGED,
    ),
    Route(
        name="getBackfill",
        method="GET",
        path=JOB + "/backfills/{backfill}",
        says="How far a backfill has come, and what became of its executions.",
        role=Role.READER,
        handle=backfills.get,
        gives={200: answers_upkeep.BackfillWithCounts},
    ),
    Route(
        name="cancelBackfill",
        method="DELETE",
        path=JOB + "/backfills/{backfill}",
        says="Let nothing of a backfill begin any more; what has begun goes on.",
        role=Role.OPERATOR,
        handle=backfills.cancel,
        gives={200: answers_upkeep.Backfill},
        conflicts=True,
    ),
)

SWITCH_ROUTES = (
    Route(
        name="pauseTeam",
        method="POST",
        path=TEAM + "/pause",
        says="Let nothing of the team, or of some of its tiers, start; what comes due waits.",
        role=Role.OPERATOR,
        handle=switches.pause_team,
        takes=bodies_upkeep.SwitchOffBody,
        optional_body=True,
        gives={200: answers.Team},
        conditional=True,
        conflicts=True,
    ),
    Route(
        name="resumeTeam",
        method="POST",
        path=TEAM + "/resume",
        says="Let it start again; misfire policies decide about what waited for longer than a minute.",
        role=Role.OPERATOR,
        handle=switches.resume_team,
        takes=bodies_upkeep.SwitchOnBody,
        optional_body=True,
        gives={200: answers.Team},
        conditional=True,
        conflicts=True,
    ),
    Route(
        name="getStage",
        method="GET",
        path=STAGE,
        says="Whether the stage, or one of its tiers, is paused.",
        role=Role.ANYONE,
        handle=switches.get_stage,
        gives={200: answers_upkeep.Stage, 304: None},
        conditional=True,
    ),
    Route(
        name="listStageRevisions",
        method="GET",
        path=STAGE + "/revisions",
        says="Who flipped the stage's switches, when, and why; the newest first.",
        role=Role.ADMIN,
        handle=history.of_stage,
        gives={200: answers.RevisionPage},
        query=(*PAGED, *AUDIT_FILTERS),
    ),
    Route(
        name="pauseStage",
        method="POST",
        path=STAGE + "/pause",
        says="Let nothing of anybody, or of some tiers, start; what comes due waits.",
        role=Role.ADMIN,
        handle=switches.pause_stage,
        takes=bodies_upkeep.SwitchOffBody,
        optional_body=True,
        gives={200: answers_upkeep.Stage},
        conditional=True,
        conflicts=True,
    ),
    Route(
        name="resumeStage",
        method="POST",
        path=STAGE + "/resume",
        says="Let it start again; misfire policies decide about what waited for longer than a minute.",
        role=Role.ADMIN,
        handle=switches.resume_stage,
        takes=bodies_upkeep.SwitchOnBody,
        optional_body=True,
        gives={200: answers_upkeep.Stage},
        conditional=True,
        conflicts=True,
    ),
)
