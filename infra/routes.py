"""The API's routes, read from its committed document: what is documented is what is deployed."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "openapi.json"
METHODS = ("get", "put", "post", "patch", "delete", "head", "options")


@dataclass(frozen=True, slots=True, order=True)
class Route:
    """One method of one path."""

    path: str
    method: str

    @property
    def parts(self) -> tuple[str, ...]:
        """The path's parts: each a literal or one ``{variable}``."""
        return tuple(self.path.strip("/").split("/"))

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of its variables."""
        return tuple(re.findall(r"{(\w+)}", self.path))


def read_routes(document: Path = DOCUMENT) -> tuple[Route, ...]:
    """Every route of the document, sorted. Raises ValueError where it has none."""
    paths = json.loads(document.read_text(encoding="utf-8")).get("paths", {})
    routes = sorted(
        Route(path, method.upper()) for path, item in paths.items() for method in item if method in METHODS
    )
    if not routes:
        raise ValueError(f"{document} has no paths")
    return tuple(routes)
