"""Names imported from other files of the linted project.

A dotted path is followed to a file of the same package (or, for a script, to a file beside it); the file is read and
outlined, never run, and never more than once while it stays the same. Links are not followed.
"""

from __future__ import annotations

import ast
import os
import tokenize
from collections.abc import Iterator
from functools import lru_cache

from torchlayout.interp.frame import Frame, Run
from torchlayout.interp.values import Path, Value
from torchlayout.program.outline import dotted
from torchlayout.program.unit import UNKNOWN, Entry, Unit

MAX_BYTES = 200_000
"""A larger file is not looked into."""
MAX_REEXPORTS = 4
"""Imports of imports that are followed."""
MAX_FILES = 24
"""Other files that are looked into for one file."""


def resolve_import(path: str, fr: Frame) -> Value | None:
    """The function or class of the project that a dotted path leads to, seen from the frame's file; None where it is
    not found."""
    return find(path, fr.unit, fr.run)


def find(path: str, unit: Unit, run: Run) -> Value | None:
    """See `resolve_import`."""
    if not run.options.follow_imports or not path or path.startswith(("torch.", "builtins.", "numpy.")):
        return None
    key = (unit.path, path)
    if key not in run.imported:
        run.imported[key] = None
        run.imported[key] = _find(path, unit, run, MAX_REEXPORTS)
    return run.imported[key]


def _find(path: str, unit: Unit, run: Run, depth: int) -> Value | None:
    from torchlayout.interp.definitions import class_of, function_of
    from torchlayout.interp.names import alias_of, from_constant, method_of_class

    located = _locate(path, unit.path)
    if located is None or depth == 0:
        return None
    file, rest = located
    if os.path.abspath(file) == os.path.abspath(unit.path) or not rest:
        return None
    run.trace.reads.add(file)
    if len(run.trace.reads) > MAX_FILES:
        run.note(f"{run.unit.path}: more than {MAX_FILES} other files are imported from")
        return None
    other = _load(file)
    if other is None:
        return None
    name = rest[0]
    try:
        entry = other.outline.find(name)
        if entry is not None and len(rest) == 1:
            return class_of(entry, other, run) if entry.is_class else function_of(entry, other, run)
        if entry is not None and entry.is_class and len(rest) == 2:
            return method_of_class(entry, rest[1], other, run)
        constant = other.constant(name) if len(rest) == 1 else UNKNOWN
        if constant is not UNKNOWN:
            return from_constant(constant)
        onward = other.resolve(".".join(rest))
    except SyntaxError:
        return None
    if onward is None:
        alias = alias_of(name, other, run) if len(rest) == 1 else None
        return None if isinstance(alias, Path) else alias
    return _find(onward, other, run, depth - 1)


def texts(path: str, unit: Unit, run: Run) -> Iterator[str]:
    """The texts that define what an imported dotted path leads to: of a function or class that and what it uses in
    its file, of a module all of it."""
    for _ in range(MAX_REEXPORTS):
        located = _locate(path, unit.path)
        if located is None or len(run.trace.reads) >= MAX_FILES:
            return
        file, rest = located
        run.trace.reads.add(file)
        other = _load(file)
        if other is None:
            return
        if not rest:
            yield other.source.clean
            return
        entry = _definition(rest[0], other)
        if entry is not None:
            used = [other.outline.find(name) for name in other.outline.mentions(entry)]
            yield from (other.outline.code(one) for one in (entry, *used) if one is not None)
            return
        onward = other.resolve(".".join(rest))
        if onward is None:
            return
        path, unit = onward, other


def _definition(name: str, unit: Unit) -> Entry | None:
    """The function or class of that name, or the one whose attribute it is: `f = Cls.apply`."""
    values = unit.outline.assigned.get(name)
    if values and isinstance(values[0], ast.Attribute):
        name = (dotted(values[0]) or "").partition(".")[0]
    return unit.outline.find(name)


def _locate(path: str, origin: str) -> tuple[str, list[str]] | None:
    """The file that a dotted path leads to, and what is left of the path inside it."""
    folder = os.path.dirname(os.path.abspath(origin))
    if path.startswith("."):
        dots = len(path) - len(path.lstrip("."))
        for _ in range(dots - 1):
            folder = os.path.dirname(folder)
        parts = path.lstrip(".").split(".")
    else:
        parts = path.split(".")
        folder = _import_root(folder)
        if not (
            os.path.isdir(os.path.join(folder, parts[0])) or os.path.isfile(os.path.join(folder, parts[0] + ".py"))
        ):
            return None
    place = folder
    for count, part in enumerate(parts):
        if not part.isidentifier():
            return None
        file = os.path.join(place, part + ".py")
        inner = os.path.join(place, part)
        if os.path.isfile(file) and not os.path.islink(file):
            return file, parts[count + 1 :]
        if not os.path.isdir(inner) or os.path.islink(inner):
            package = os.path.join(place, "__init__.py")
            return (package, parts[count:]) if os.path.isfile(package) and not os.path.islink(package) else None
        place = inner
    return None


@lru_cache(maxsize=256)
def _import_root(folder: str) -> str:
    """The folder that holds the outermost package around a file."""
    while os.path.isfile(os.path.join(folder, "__init__.py")) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder


def _load(file: str) -> Unit | None:
    """The file as a unit; None where it cannot be read, is too large, or is no Python."""
    try:
        state = os.stat(file)
        return _unit(file, state.st_mtime_ns, state.st_size) if state.st_size <= MAX_BYTES else None
    except OSError:
        return None


@lru_cache(maxsize=64)
def _unit(file: str, modified: int, size: int) -> Unit | None:
    del modified, size  # part of the key: a file that changed is read again
    try:
        with tokenize.open(file) as stream:
            unit = Unit(file, stream.read())
        unit.outline.entries  # noqa: B018 - a syntax error shows here
    except (OSError, SyntaxError, ValueError, LookupError):
        return None
    return unit
