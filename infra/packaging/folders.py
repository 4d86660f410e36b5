"""Folders that are built once per content: named by a hash of what goes in, and complete or absent."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "assets"
KEPT = 6


def digest(parts: Iterable[bytes]) -> str:
    """A short hash of all parts, each told from the next by its length."""
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "big") + part)
    return total.hexdigest()[:16]


def built(name: str, key: str, build: Callable[[Path], None], under: Path = BUILD) -> Path:
    """The folder of this key; `build` fills a new one. Whoever is interrupted, or second, leaves nothing behind."""
    folder = under / f"{name}-{key}"
    if folder.exists():
        return folder
    under.mkdir(parents=True, exist_ok=True)
    _forget(name, under)
    draft = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=under))
    try:
        build(draft)
        _readable(draft)
        draft.rename(folder)
    except OSError:
        if not folder.exists():
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def _readable(folder: Path) -> None:
    """Modes travel in the zip, and a function runs as another user: what only its packer may read, it cannot import."""
    for path in (folder, *folder.rglob("*")):
        wanted = 0o755 if path.is_dir() else 0o644
        mode = path.stat().st_mode
        if mode & wanted != wanted:
            path.chmod(mode | wanted)


def _forget(name: str, under: Path) -> None:
    """Removes all but the newest few of a name: each change of the code makes another."""
    known = [path for path in under.iterdir() if path.name.rpartition("-")[0] == name]
    for old in sorted(known, key=lambda path: path.stat().st_mtime)[:-KEPT]:
        shutil.rmtree(old, ignore_errors=True)


def files(folder: Path) -> list[str]:
    """Every file in it, by its path from there, sorted."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
