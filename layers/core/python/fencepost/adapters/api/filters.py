"""The filters of lists."""

from __future__ import annotations

from fencepost.adapters.api.queries import Parameter, instant, label, text, word

_INSTANT = {"type": "string", "format": "date-time"}
_STATES = ("ACTIVE", "PAUSED", "COMPLETED", "ERROR")
_TIERS = ("critical", "standard", "bulk")
_EXECUTION_STATES = (
    "QUEUED",
    "WAITING",
    "RUNNING",
    "RETRY_WAIT",
    "SUCCEEDED",
    "DEAD",
    "SKIPPED",
    "CANCELLED",
)


def choice(name: str, words: tuple[str, ...], says: str) -> Parameter:
    """One of some words."""
    return Parameter(name=name, read=word(*words), schema={"type": "string", "enum": list(words)}, says=says)


def moment(name: str, says: str) -> Parameter:
    """An instant."""
    return Parameter(name=name, read=instant, schema=_INSTANT, says=says)


JOB_FILTERS = (
    choice("state", _STATES, "Only jobs that are shown in this state."),
    choice("tier", _TIERS, "Only jobs of this tier."),
    Parameter(
        name="label",
        read=label,
        schema={"type": "string", "pattern": "^[^:]+:.*$", "maxLength": 100},
        says="Only jobs with this label, as name:value; several must all be there.",
        repeated=True,
    ),
    Parameter(
        name="prefix",
        read=text(r"[a-z0-9][a-z0-9-]{0,62}", "must be the beginning of a job's name"),
        schema={"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,62}$"},
        says="Only jobs whose names begin so.",
    ),
    moment("next_after", "Only jobs whose next occurrence is not before this."),
    moment("next_before", "Only jobs whose next occurrence is before this."),
)
AUDIT_FILTERS = (
    moment("from", "Only changes made then or later."),
    moment("to", "Only changes made before."),
    Parameter(
        name="actor",
        read=text(r"[!-~]{1,200}", "must be a principal, as entries name it"),
        schema={"type": "string", "pattern": "^[!-~]{1,200}$"},
        says="Only changes made by this principal.",
    ),
)
RECORD_FILTERS = (
    choice("state", _EXECUTION_STATES, "Only records in this state."),
    Parameter(
        name="backfill",
        read=text(r"[0-9a-f]{12}", "must be the id of a backfill"),
        schema={"type": "string", "pattern": "^[0-9a-f]{12}$"},
        says="Only the executions of this backfill.",
    ),
    moment("since", "Only records of this instant and later ones."),
    moment("before", "Only records of instants before this."),
    moment(
        "at", "Only the one record that explains this nominal instant: its own, or the range that holds it."
    ),
)
