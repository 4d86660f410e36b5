"""The routes of executions and dead letters."""

from __future__ import annotations

from fencepost.adapters.api import answers_work, executions, models, work
from fencepost.adapters.api.access import Role
from fencepost.adapters.api.paths import EXECUTION, TEAM
from fencepost.adapters.api.queries import PAGED
from fencepost.adapters.api.route import Route

EXECUTION_ROUTES = (
    Route(
        name="getExecution",
        method="GET",
        path=EXECUTION,
        says="Read one record.",
        role=Role.READER,
        handle=executions.get,
        gives={200: answers_work.Execution},
    ),
    Route(
        name="heartbeat",
        method="POST",
        path=EXECUTION + "/heartbeat",
        says="The work goes on: extend the lease. 409 tells the worker to stop.",
        role=Role.OPERATOR,
        handle=work.heartbeat,
        takes=models.HeartbeatBody,
        gives={200: answers_work.Execution},
        conflicts=True,
    ),
    Route(
        name="complete",
        method="POST",
        path=EXECUTION + "/complete",
        says="The work is done. Only the latest fence is heard.",
        role=Role.OPERATOR,
        handle=work.complete,
        takes=models.CompleteBody,
        gives={200: answers_work.Execution},
        conflicts=True,
    ),
    Route(
        name="fail",
        method="POST",
        path=EXECUTION + "/fail",
        says="The work failed: retried by the job's policy, or dead at once if permanent.",
        role=Role.OPERATOR,
        handle=work.fail,
        takes=models.FailBody,
        gives={200: answers_work.Execution},
        conflicts=True,
    ),
    Route(
        name="redrive",
        method="POST",
        path=EXECUTION + "/redrive",
        says="Send a dead execution again, with its budget anew and a larger fence.",
        role=Role.OPERATOR,
        handle=work.redrive,
        takes=models.NoteBody,
        optional_body=True,
        gives={200: answers_work.Execution},
        conflicts=True,
        marks=True,
    ),
    Route(
        name="listDeadLetters",
        method="GET",
        path=TEAM + "/dead-letters",
        says="A team's dead executions, the newest death first.",
        role=Role.READER,
        handle=executions.dead_letters,
        gives={200: answers_work.DeadLetterList},
        query=PAGED,
    ),
    Route(
        name="redriveDeadLetters",
        method="POST",
        path=TEAM + "/dead-letters/redrive",
        says="Send a page of the team's dead executions again, the newest death first.",
        role=Role.OPERATOR,
        handle=work.redrive_all,
        takes=models.RedriveBody,
        optional_body=True,
        gives={200: answers_work.Redriven},
        conflicts=True,
        marks=True,
    ),
)
