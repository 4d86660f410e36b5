"""Answers against the API document: status, media type and body, by the document's own schemas."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jsonschema_rs import Draft202012Validator


@dataclass
class Contract:
    """Raises AssertionError for an answer that the document does not announce."""

    document: Mapping[str, Any]
    _validators: dict[str, Draft202012Validator] = field(default_factory=dict)

    def check(self, method: str, path: str, status: int, headers: Mapping[str, str], body: Any) -> None:
        """Holds one answer to the document; routes that it does not know may only be answered by 404 and 405."""
        operation = self.operation(method, path)
        if operation is None:
            assert status in {404, 405}, f"{method} {path} is not documented and answered {status}"
            return
        responses = operation["responses"]
        assert str(status) in responses, f"{method} {path} answered {status}: {body}"
        content = responses[str(status)].get("content")
        if content is None:
            assert body is None, f"{method} {path} answered {status} with a body"
            return
        media = headers["Content-Type"]
        assert media in content, f"{method} {path} answered {media}"
        self.holds(content[media]["schema"], body, f"{method} {path} {status}")

    def holds(self, schema: Mapping[str, Any], body: Any, where: str = "") -> None:
        """Holds a body to a schema of the document."""
        errors = list(self._validator(schema).iter_errors(body))
        assert not errors, f"{where}: {errors[0].message} at {errors[0].instance_path}"

    def operation(self, method: str, path: str) -> Mapping[str, Any] | None:
        """The documented operation of a path; a literal part goes before a variable."""
        paths = self.document["paths"]
        fitting = [each for each in paths if re.fullmatch(re.sub(r"{\w+}", "[^/]+", each), path)]
        if not fitting:
            return None
        found: Mapping[str, Any] | None = paths[min(fitting, key=lambda each: each.count("{"))].get(
            method.lower()
        )
        return found

    def _validator(self, schema: Mapping[str, Any]) -> Draft202012Validator:
        name = repr(schema)
        if name not in self._validators:
            whole = {**schema, "components": self.document["components"]}
            self._validators[name] = Draft202012Validator(whole)
        return self._validators[name]
