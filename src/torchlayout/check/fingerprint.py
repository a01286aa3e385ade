"""What tells one state of the linter from another, so that a changed linter forgets its old answers.

A wheel's record holds a digest of every file that was installed, so that results outlive an installation of the same
(on a build server, each build's). A linter that runs from its sources is known by their sizes and times.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Iterator


def fingerprint() -> str:
    """A digest of the linter's own files and of its parser's release: a millisecond from sources, less from a wheel."""
    import torchlayout

    home = os.path.dirname(os.path.abspath(torchlayout.__file__))
    digest = hashlib.sha256()
    for line in _recorded(home) or _seen(home):
        digest.update(line.encode())
    parser = importlib.util.find_spec("libcst")
    if parser is not None and parser.origin is not None:
        digest.update((_record(os.path.dirname(parser.origin)) or _size_and_time(parser.origin)).encode())
    return digest.hexdigest()[:16]


def _record(home: str) -> str:
    """The name of the folder that a wheel leaves beside its package, "torchlayout-1.0.dist-info"; "" without."""
    folder, package = os.path.split(home)
    try:
        names = os.listdir(folder)
    except OSError:
        return ""
    return next((name for name in sorted(names) if name.startswith(f"{package}-") and name.endswith(".dist-info")), "")


def _recorded(home: str) -> list[str]:
    """The digests of our own modules as they were installed; none where we were not."""
    folder, package = os.path.split(home)
    try:
        with open(os.path.join(folder, _record(home), "RECORD"), encoding="utf-8") as file:
            return [line for line in file if line.startswith(f"{package}/") and ".py,sha256=" in line]
    except (OSError, ValueError):
        return []


def _seen(home: str) -> Iterator[str]:
    for folder, folders, names in os.walk(home):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".py"):
                yield f"{folder[len(home) :]}/{name} {_size_and_time(os.path.join(folder, name))}\n"


def _size_and_time(path: str) -> str:
    """Of a file; nothing where it went in this moment."""
    try:
        about = os.stat(path)
    except OSError:
        return ""
    return f"{about.st_size} {about.st_mtime_ns}"
