"""Where things lie."""

from __future__ import annotations

TEAM = "/v1/teams/{team}"
JOB = TEAM + "/jobs/{job}"
EXECUTION = TEAM + "/executions/{id}"
