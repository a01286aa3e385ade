"""Waiting for files to change: woken by watchfiles where it is installed, otherwise by the clock."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence

INTERVAL = 0.5
"""Seconds between two looks at the files' times."""

SLOW_INTERVAL = 5.0
"""The same where watchfiles tells of changes anyway."""

Times = dict[str, tuple[int, int]]


def changes(paths: Sequence[str], suffixes: tuple[str, ...]) -> Iterator[None]:
    """Yields whenever a file with one of the endings under `paths` changed, came or went since the call, or since
    the last time. Never ends by itself."""
    return _changes(paths, suffixes, _times(paths, suffixes))


def _changes(paths: Sequence[str], suffixes: tuple[str, ...], before: Times) -> Iterator[None]:
    for _ in _ticks(paths):
        now = _times(paths, suffixes)
        if now != before:
            before = now
            yield


def _ticks(paths: Sequence[str]) -> Iterator[None]:
    """Yields when it is time to look, the first time at once."""
    yield
    try:
        import watchfiles
    except ImportError:
        while True:
            time.sleep(INTERVAL)
            yield
    roots = [path for path in paths if os.path.exists(path)] or [os.curdir]
    timeout = round(SLOW_INTERVAL * 1000)
    for _ in watchfiles.watch(*roots, raise_interrupt=True, rust_timeout=timeout, yield_on_timeout=True):
        yield


def _times(paths: Sequence[str], suffixes: tuple[str, ...]) -> Times:
    found: Times = {}
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
