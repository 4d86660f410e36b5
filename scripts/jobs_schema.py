"""Writes docs/jobs.schema.json, with which editors complete and check files of jobs. Made from the API's document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "docs" / "openapi.json"
SCHEMA = ROOT / "docs" / "jobs.schema.json"
_REFERENCE = "#/components/schemas/"
_NOT_IN_FILES = "InShape"  # a delay would begin anew with every application


def schema(document: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a file of jobs."""
    known = {name: each for name, each in document["components"]["schemas"].items() if name != _NOT_IN_FILES}
    job = known["JobBody"]
    job = {**job, "required": [], "title": "Job"}  # defaults may bring what a job leaves out
    definitions: dict[str, Any] = {"Job": _local(job)}
    _gather(definitions["Job"], known, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Jobs of a Fencepost team",
        "description": "What `fencepost apply -f` takes.",
        "type": "object",
        "additionalProperties": False,
        "required": ["version", "jobs"],
        "properties": {
            "version": {"const": 1},
            "team": {"type": "string", "description": "The team; --team must not contradict it."},
            "defaults": {
                "$ref": "#/$defs/Job",
                "description": "For every job that does not say it itself; a job's own field replaces it as a whole.",
            },
            "jobs": {
                "type": "object",
                "description": "The jobs by name.",
                "propertyNames": {"pattern": "^[a-z0-9][a-z0-9-]{0,62}$"},
                "additionalProperties": {"$ref": "#/$defs/Job"},
            },
        },
        "$defs": dict(sorted(definitions.items())),
    }


def text(document: dict[str, Any]) -> str:
    """The schema as it is committed."""
    return json.dumps(schema(document), indent=2) + "\n"


def _gather(value: Any, known: dict[str, Any], found: dict[str, Any]) -> None:  # noqa: ANN401 - any JSON value
    """Adds every definition that `value` refers to, and what those refer to."""
    if isinstance(value, list):
        for each in value:
            _gather(each, known, found)
    elif isinstance(value, dict):
        name = str(value.get("$ref", "")).removeprefix("#/$defs/")
        if name and name not in found:
            found[name] = _local(known[name])
            _gather(found[name], known, found)
        for each in value.values():
            _gather(each, known, found)


def _local(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The value with references into its own file, and without what files may not hold."""
    if isinstance(value, list):
        return [_local(each) for each in value if each != {"$ref": _REFERENCE + _NOT_IN_FILES}]
    if not isinstance(value, dict):
        return value
    return {
        name: str(each).replace(_REFERENCE, "#/$defs/") if name == "$ref" else _local(each)
        for name, each in value.items()
    }


if __name__ == "__main__":
    SCHEMA.write_text(text(json.loads(SOURCE.read_text(encoding="utf-8"))), encoding="utf-8")
    print(f"wrote {SCHEMA.relative_to(ROOT)}")
