"""Putting mended text back on disk: whole or not at all.

The new content is written beside the file and then takes its place in one step, so that a full disk, a crash or a
second run at the same moment leave either the old content or the new, never a part of it.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path


class ChangedMeanwhile(OSError):
    """The file is no longer what was read; writing would lose what someone else wrote."""


def replace_content(path: Path, before: bytes, after: bytes) -> None:
    """Replace a file's content `before` by `after`; keeps its mode, and its owner where that is allowed.

    A link stays a link: what it points to is replaced. Raises ChangedMeanwhile when the file's content is not
    `before`, PermissionError for a read-only file, and OSError for what the system refuses; in all cases the
    original is intact and nothing is left beside it.
    """
    target = Path(os.path.realpath(path))
    with _locked(target):
        state = target.stat()
        if target.read_bytes() != before:
            raise ChangedMeanwhile(f"{path} changed while it was being fixed")
        if not state.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
            raise PermissionError(13, "file is read-only", str(path))
        _swap(target, after, state)


def _swap(target: Path, content: bytes, state: os.stat_result) -> None:
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if hasattr(os, "chown"):
            with contextlib.suppress(OSError):
                os.chown(name, state.st_uid, state.st_gid)
        os.chmod(name, stat.S_IMODE(state.st_mode))
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


@contextlib.contextmanager
def _locked(target: Path) -> Iterator[None]:
    """Keep other runs of this program off the file, where the system can lock files."""
    try:
        import fcntl
    except ImportError:  # Windows: the comparison of contents alone guards against a second run
        yield
        return
    while True:
        with open(target, "rb") as file:
            with contextlib.suppress(OSError):  # a file system without locks: as on Windows
                fcntl.flock(file, fcntl.LOCK_EX)
            # While we waited, the one before us may have put a new file in its place.
            if os.path.samestat(os.fstat(file.fileno()), os.stat(target)):
                yield
                return
