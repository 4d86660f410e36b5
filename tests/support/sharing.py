"""How tests are dealt out to workers: those that share a costly process stay together, all others go to whoever is free.

The mark `xdist_group` says the same, but with this pytest the plugin no longer reads it: it writes the group into an
attribute of the item that pytest does not have any more.
"""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling

TOGETHER = {
    "tests/live/": "live",
    "tests/functional/cli/test_live.py": "live",
    "tests/browser/": "browser",
    "tests/infra/": "infra",
}


def group_of(nodeid: str) -> str | None:
    """The group of a test by the first path that fits its file; None where it shares nothing."""
    return next((group for path, group in TOGETHER.items() if nodeid.startswith(path)), None)


class Together(LoadScopeScheduling):  # type: ignore[misc]  # the plugin has no types
    """Groups first, since they take longest; then test by test."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid) or nodeid
