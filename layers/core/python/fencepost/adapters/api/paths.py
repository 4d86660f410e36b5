"""Where things lie."""

from __future__ import annotations

TEAMS = "/v1/teams"
TEAM = "/v1/teams/{team}"
JOB = TEAM + "/jobs/{job}"
STAGE = "/v1/stage"
EXECUTION = TEAM + "/executions/{id}"
