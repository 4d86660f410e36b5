"""The route of audits."""

from __future__ import annotations

from fencepost.adapters.api import answers_audit, audits
from fencepost.adapters.api.access import Role
from fencepost.adapters.api.filters import moment
from fencepost.adapters.api.paths import TEAM
from fencepost.adapters.api.queries import CURSOR, Parameter, text
from fencepost.adapters.api.route import Route

_JOB = r"(~[a-z2-7]{20}|[a-z0-9][a-z0-9-]{0,62})"
AUDIT_ROUTES = (
    Route(
        name="auditTeam",
        method="GET",
        path=TEAM + "/audit",
        says="Work out anew what should have happened to a team's jobs, and say where the ledger says otherwise. A page "
        "looks at some dozens of jobs or some thousand records; it may hold no finding and still have a next one.",
        role=Role.READER,
        handle=audits.audit,
        gives={200: answers_audit.Audited},
        query=(
            CURSOR,
            moment("from", "From this occurrence on; a day before the end by default."),
            moment("to", "Before this occurrence; now by default."),
            Parameter(
                name="job",
                read=text(_JOB, "must be the name of a job, or ~ and its uid"),
                schema={"type": "string", "pattern": f"^{_JOB}$"},
                says="Only this job; ~uid finds a deleted one as well.",
            ),
        ),
    ),
)
