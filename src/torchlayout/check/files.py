"""Which files to check: folders walked in a fixed order, with what .gitignore and the settings leave out.

No link is followed in a walk: what it points to is either met by itself, or lies outside the paths that
were given. A path that was named is checked even when it is a link, is ignored, or has another ending,
unless `force_exclude` is set.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pathspec import GitIgnoreSpec

from torchlayout.check.patterns import Patterns
from torchlayout.check.results import FileError, FileResult
from torchlayout.check.settings import Settings

SUFFIXES = (".py", ".ipynb")


class Found(NamedTuple):
    """A file to check; `named` says that the user gave its path, and did not leave it to a walk."""

    path: str
    named: bool


def discover(paths: Sequence[str], settings: Settings) -> Iterator[Found | FileResult]:
    """The files under `paths`, each once, folders in order of name; a FileResult for what cannot be read."""
    seen: set[str] = set()
    excluded = Patterns(settings.exclude + settings.extend_exclude, settings.root)
    for path in paths:
        for found in _from_path(os.path.normpath(path), settings, excluded):
            key = os.path.abspath(found.path)
            if key not in seen:
                seen.add(key)
                yield found


def _from_path(path: str, settings: Settings, excluded: Patterns) -> Iterator[Found | FileResult]:
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        yield _unreadable(path, "file", error)
        return
    folder = stat.S_ISDIR(mode)
    if settings.force_exclude and excluded.match(path, folder=folder):
        return
    if not folder:
        yield Found(path, named=True)
        return
    ignores: tuple[_Ignore, ...] = ()
    if settings.respect_gitignore:
        above = list(_ignores_above(path))
        ignores = tuple(found for found in above if isinstance(found, _Ignore))
        yield from (found for found in above if isinstance(found, FileResult))
    # Who names an ignored or excluded folder wants what is in it: only patterns about its inside hold then.
    if _ignored(path, True, ignores):
        ignores = ()
    if excluded.match(path, folder=True):
        excluded = Patterns(settings.exclude + settings.extend_exclude, path)
    yield from _walk(path, ignores, settings.respect_gitignore, excluded)


class _Ignore(NamedTuple):
    """The patterns of one .gitignore, and the folder they are relative to."""

    folder: str
    spec: GitIgnoreSpec


def _walk(
    folder: str, ignores: tuple[_Ignore, ...], gitignore: bool, excluded: Patterns
) -> Iterator[Found | FileResult]:
    """Depth first with a stack of its own: no nesting of folders is too deep."""
    stack: list[tuple[str, tuple[_Ignore, ...]] | Found | FileResult] = [(folder, ignores)]
    while stack:
        item = stack.pop()
        if isinstance(item, Found | FileResult):
            yield item
            continue
        folder, ignores = item
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield _unreadable(folder, "folder", error)
            continue
        if gitignore and any(entry.name == ".gitignore" for entry in listed):
            for found in _read_ignore(folder, _inside(folder, ".gitignore")):
                if isinstance(found, FileResult):
                    yield found
                else:
                    ignores = (*ignores, found)
        inside: list[tuple[str, tuple[_Ignore, ...]] | Found | FileResult] = []
        for entry in listed:
            inside.extend(_entry(entry, _inside(folder, entry.name), ignores, excluded))
        stack.extend(reversed(inside))


def _inside(folder: str, name: str) -> str:
    return name if folder == os.curdir else os.path.join(folder, name)


def _entry(
    entry: os.DirEntry[str], path: str, ignores: tuple[_Ignore, ...], excluded: Patterns
) -> Iterator[tuple[str, tuple[_Ignore, ...]] | Found | FileResult]:
    wanted = entry.name.endswith(SUFFIXES)
    try:
        folder = entry.is_dir(follow_symlinks=False)
        if not folder and not wanted:
            return
        if excluded.match(path, folder=folder) or _ignored(path, folder, ignores):
            return
        if folder:
            yield path, ignores
        elif entry.is_file(follow_symlinks=False):
            yield Found(path, named=False)
        elif entry.is_symlink():
            os.stat(path)  # a link that leads nowhere is said; one that leads somewhere is not followed
    except OSError as error:
        yield _unreadable(path, "file", error)


def _ignored(path: str, folder: bool, ignores: tuple[_Ignore, ...]) -> bool:
    """Whether the nearest .gitignore that speaks of the path leaves it out."""
    absolute = os.path.abspath(path)
    for ignore in reversed(ignores):
        relative = os.path.relpath(absolute, ignore.folder).replace(os.sep, "/")
        include = ignore.spec.check_file(relative + "/" if folder else relative).include
        if include is not None:
            return include
    return False


def _ignores_above(path: str) -> Iterator[_Ignore | FileResult]:
    """The .gitignore files above a folder, up to its repository's root, outermost first; none outside of one."""
    folder = os.path.abspath(path)
    chain: list[str] = []
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):
            break
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent
        chain.append(folder)
    yield from _read_ignore(folder, os.path.join(folder, ".git", "info", "exclude"))
    for above in reversed(chain):
        yield from _read_ignore(above, os.path.join(above, ".gitignore"))


def _read_ignore(folder: str, path: str) -> Iterator[_Ignore | FileResult]:
    """The patterns of a file, if there is one; a FileResult where it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError as error:
        if os.path.lexists(path) and not os.path.isdir(path):
            yield _unreadable(path, "file", error)
        return
    try:
        yield _Ignore(os.path.abspath(folder), GitIgnoreSpec.from_lines(lines))
    except ValueError:
        # One malformed pattern must not undo the others.
        for line in lines:
            try:
                yield _Ignore(os.path.abspath(folder), GitIgnoreSpec.from_lines([line]))
            except ValueError:
                continue


def _unreadable(path: str, what: str, error: OSError) -> FileResult:
    if isinstance(error, FileNotFoundError) and os.path.islink(path):
        return FileResult(path, error=FileError("broken link: it leads nowhere"))
    return FileResult(path, error=FileError(f"cannot read the {what}: {error.strerror or error}"))
