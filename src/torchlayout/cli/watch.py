"""Waiting for files to change: watchfiles where it is installed, otherwise by looking at their times."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence

INTERVAL = 0.5
"""Seconds between two looks at the files' times."""


def changes(paths: Sequence[str], suffixes: tuple[str, ...]) -> Iterator[None]:
    """Yields whenever a file with one of the endings under `paths` may have changed. Never ends by itself."""
    try:
        import watchfiles
    except ImportError:
        yield from _by_looking(paths, suffixes)
        return
    roots = [path for path in paths if os.path.exists(path)] or [os.curdir]
    for changed in watchfiles.watch(*roots, raise_interrupt=True):
        if any(path.endswith(suffixes) for _, path in changed):
            yield


def _by_looking(paths: Sequence[str], suffixes: tuple[str, ...]) -> Iterator[None]:
    before = _times(paths, suffixes)
    while True:
        time.sleep(INTERVAL)
        now = _times(paths, suffixes)
        if now != before:
            before = now
            yield


def _times(paths: Sequence[str], suffixes: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for path in paths:
        for file in _files(path, suffixes):
            try:
                about = os.stat(file)
            except OSError:
                continue
            found[file] = (about.st_mtime_ns, about.st_size)
    return found


def _files(path: str, suffixes: tuple[str, ...]) -> Iterator[str]:
    if not os.path.isdir(path):
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (os.path.join(folder, name) for name in names if name.endswith(suffixes))
