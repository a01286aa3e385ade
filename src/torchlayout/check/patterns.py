"""Path patterns, written as in .gitignore and relative to one folder."""

from __future__ import annotations

import functools
import os

from pathspec import GitIgnoreSpec


class Patterns:
    """Several patterns and the folder they are relative to (the current one where None).

    As in .gitignore the last pattern that speaks of a path decides, and `!` takes back.
    """

    def __init__(self, lines: tuple[str, ...], root: str | None = None) -> None:
        self._root = os.path.abspath(root or os.curdir)
        self._spec = GitIgnoreSpec.from_lines(lines)

    def match(self, path: str, *, folder: bool = False) -> bool:
        """Whether the patterns hold for `path`. A path outside the folder is matched by its name alone."""
        relative = self._relative(os.path.abspath(path))
        return self._spec.match_file(relative + "/" if folder else relative)

    def _relative(self, absolute: str) -> str:
        if absolute.startswith(self._root + os.sep):  # the common case, without relpath's cost
            relative = absolute[len(self._root) + 1 :]
        else:
            relative = os.path.basename(absolute)
        return relative.replace(os.sep, "/")


@functools.lru_cache(maxsize=256)
def patterns(lines: tuple[str, ...], root: str | None) -> Patterns:
    """The same patterns, compiled once."""
    return Patterns(lines, root)
