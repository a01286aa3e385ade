"""Results kept between runs, one small file for each content and settings.

An entry's name is a digest of what decides a result: the file's bytes and place, the codes and settings in force,
Python's version, and the linter's own files; it holds the digests of other files that the analysis read, and counts
only while they are the same. Several runs may share a folder (each entry is written aside and renamed), and an
entry that cannot be read counts as absent.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from typing import Any

from torchlayout import __version__
from torchlayout.check.results import FileError, FileResult, Suppression
from torchlayout.program.nodes import Span
from torchlayout.rules.drawing import Drawing, Picture
from torchlayout.rules.finding import Edit, Finding, Fix, Related, Safety

DEFAULT_FOLDER = ".torchlayout_cache"
KEPT_SECONDS = 14 * 24 * 3600
"""Entries of another version of the linter are removed when none was used for so long."""


class Cache:
    """A folder of results. Picklable: worker processes open the same folder."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.abspath(folder)
        self._shelf = os.path.join(self.folder, f"{__version__}-{_fingerprint()}")

    def key(self, data: bytes, *conditions: object) -> str:
        """The digest of a file's bytes under the given conditions (their repr must not vary between runs)."""
        digest = hashlib.sha256(repr((sys.version_info[:3], conditions)).encode())
        digest.update(data)
        return digest.hexdigest()

    def get(self, key: str, path: str) -> FileResult | None:
        """The result kept under a key, for the file now at `path`; its source is left out."""
        try:
            with open(self._place(key), encoding="utf-8") as file:
                kept = json.load(file)
            if any(_digest_of(other) != digest for other, digest in kept["reads"].items()):
                return None
            return _decoded(kept, path)
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return None

    def put(self, key: str, result: FileResult) -> None:
        """Keep a result; a full disk or a folder that cannot be written only costs the next run its time."""
        place = self._place(key)
        try:
            if not os.path.isdir(self._shelf):
                self._open()
            os.makedirs(os.path.dirname(place), exist_ok=True)
            descriptor, aside = tempfile.mkstemp(dir=os.path.dirname(place), prefix=".", suffix=".part")
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                    json.dump(_encoded(result), file, separators=(",", ":"))
                os.replace(aside, place)
            except BaseException:
                os.unlink(aside)
                raise
        except OSError:
            return

    def _place(self, key: str) -> str:
        return os.path.join(self._shelf, key[:2], key[2:])

    def _open(self) -> None:
        """Make the folder: marked as a cache, unseen by git, without what older versions left."""
        os.makedirs(self._shelf, exist_ok=True)
        with open(os.path.join(self.folder, "CACHEDIR.TAG"), "w", encoding="ascii") as file:
            file.write("Signature: 8a477f597d28d172789f06886806bc55\n")
        with open(os.path.join(self.folder, ".gitignore"), "w", encoding="ascii") as file:
            file.write("*\n")
        for name in os.listdir(self.folder):
            other = os.path.join(self.folder, name)
            if other != self._shelf and os.path.isdir(other) and os.path.getmtime(other) < time.time() - KEPT_SECONDS:
                shutil.rmtree(other, ignore_errors=True)


def _digest_of(path: str) -> str | None:
    """A file's digest; None while there is none."""
    try:
        about = os.stat(path)
    except OSError:
        return None
    return _digest_at(path, about.st_mtime_ns, about.st_size)


@functools.lru_cache(maxsize=4096)
def _digest_at(path: str, mtime: int, size: int) -> str | None:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return None


def _fingerprint() -> str:
    """A digest of the linter's own files by size and time, so that a changed linter forgets its old answers."""
    import torchlayout

    home = os.path.dirname(os.path.abspath(torchlayout.__file__))
    digest = hashlib.sha256()
    for folder, folders, names in os.walk(home):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".py"):
                about = os.stat(os.path.join(folder, name))
                digest.update(f"{folder[len(home) :]}/{name} {about.st_size} {about.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def _encoded(result: FileResult) -> dict[str, Any]:
    return {
        "findings": [_encoded_finding(finding) for finding in result.findings],
        "error": None if result.error is None else [result.error.message, result.error.line, result.error.column],
        "unused": [[s.span, s.text, s.codes, s.whole_file, s.blanket] for s in result.unused_suppressions],
        "notes": result.notes,
        "reads": {other: _digest_of(other) for other in result.reads},
    }


def _encoded_finding(finding: Finding) -> list[Any]:
    related = [[place.span, place.message, place.path] for place in finding.related]
    fix = None
    if finding.fix is not None:
        fix = [finding.fix.title, [[edit.span, edit.text] for edit in finding.fix.edits], finding.fix.safety.value]
    return [finding.code, finding.message, finding.span, related, fix, finding.layout, finding.drawing]


def _decoded(kept: Any, path: str) -> FileResult:
    return FileResult(
        path,
        None,
        tuple(_decoded_finding(*parts) for parts in kept["findings"]),
        None if kept["error"] is None else FileError(*kept["error"]),
        tuple(Suppression(_span(s[0]), s[1], tuple(s[2]), s[3], s[4]) for s in kept["unused"]),
        tuple(kept["notes"]),
        tuple(kept["reads"]),
    )


def _decoded_finding(
    code: str,
    message: str,
    span: list[int],
    related: list[Any],
    fix: list[Any] | None,
    layout: dict[str, object] | None,
    drawing: list[Any] | None,
) -> Finding:
    places = tuple(Related(_span(place), text, path) for place, text, path in related)
    mended = None
    if fix is not None:
        title, edits, safety = fix
        mended = Fix(title, tuple(Edit(_span(place), text) for place, text in edits), Safety(safety))
    drawn = None if drawing is None else Drawing(*(part and _picture(*part) for part in drawing))
    return Finding(code, message, _span(span), places, mended, layout, drawn)


def _picture(title: str, shape: list[str], stride: list[str]) -> Picture:
    return Picture(title, tuple(shape), tuple(stride))


def _span(numbers: list[int]) -> Span:
    line, column, end_line, end_column = numbers
    return Span(line, column, end_line, end_column)
