"""The page's files as they were built, and the headers that shut everything else out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from html import escape
from importlib.resources import files

from fencepost.local.gateway.request import Response

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "font-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
"""The page loads from its own server alone, talks to nobody else, and sits in no frame."""

SHUT: Mapping[str, Sequence[str]] = {
    "Content-Security-Policy": [POLICY],
    "X-Content-Type-Options": ["nosniff"],
    "X-Frame-Options": ["DENY"],
    "Referrer-Policy": ["no-referrer"],
    "Cross-Origin-Opener-Policy": ["same-origin"],
    "Cross-Origin-Resource-Policy": ["same-origin"],
    "Permissions-Policy": ["camera=(), geolocation=(), microphone=()"],
    "Cache-Control": ["no-store"],
}
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
INDEX = "index.html"


class Pages:
    """The built files by name, read once."""

    def find(self, name: str) -> Response | None:
        """A file; None where there is none of that name."""
        content = self._files.get(name)
        if content is None:
            return None
        kind = _TYPES[name[name.rindex(".") :]]
        return Response(status=200, headers={**SHUT, "Content-Type": [kind]}, body=content)

    @cached_property
    def _files(self) -> Mapping[str, bytes]:
        folder = files("fencepost.console") / "static"
        return {
            each.name: each.read_bytes() for each in folder.iterdir() if each.name.endswith(tuple(_TYPES))
        }


def notice(status: int, title: str, text: str) -> Response:
    """A page of two lines, for who cannot be shown the console."""
    body = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        '<link rel="stylesheet" href="/console/console.css">'
        f'<main class="notice"><h1>{escape(title)}</h1><p>{escape(text)}</p></main></html>'
    )
    return Response(status=status, headers={**SHUT, "Content-Type": [_TYPES[".html"]]}, body=body.encode())
