"""Results kept between runs, one small file for each content and settings: of the command line, and of flake8.

An entry's name is a digest of what decides a result: the file's bytes and place, the codes and settings in force,
Python's version, and the linter's own files; it holds the digests of other files that the analysis read, and counts
only while they are the same. Several runs may share a folder (each entry is written aside and renamed), and an
entry that cannot be read counts as absent. Entries that no run asks for are removed, and nothing else ever is: the
folder may be one that holds other files too.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from torchlayout import __version__
from torchlayout.check.fingerprint import fingerprint
from torchlayout.check.results import FileError, FileResult, Suppression
from torchlayout.check.selection import LINTER_FAILED
from torchlayout.check.settings import OPTIONS, Settings
from torchlayout.program.nodes import Span
from torchlayout.rules.drawing import Drawing, Picture
from torchlayout.rules.finding import Edit, Finding, Fix, Related, Safety

DEFAULT_FOLDER = ".torchlayout_cache"
DAY = 24 * 3600
KEPT_SECONDS = 14 * DAY
"""Entries that no run used for so long are removed. Looked for, and use noted (as the file's time), once a day."""

MARKS = {"CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n", ".gitignore": "*\n"}
"""What tells backups and git that the folder may be forgotten."""

_SHELF = re.compile(r"\d[\w.+]*-[0-9a-f]{16}")
_TIDIED = ".tidied"


def opened(settings: Settings) -> Cache | None:
    """The cache that the settings ask for; None where nothing is to be kept."""
    if not settings.cache:
        return None
    return Cache(settings.cache_dir or os.path.join(settings.root or os.curdir, DEFAULT_FOLDER))


def conditions(settings: Settings, path: str, codes: frozenset[str], *, noqa: bool = True) -> tuple[object, ...]:
    """What decides a file's result besides its bytes: its place, what is assumed, the codes that are looked for, and
    whether flake8's comments are honoured (where not, flake8 asks: what it shows is not what the command line does)."""
    assumed = tuple((option.name, getattr(settings, option.name)) for option in OPTIONS if option.analysis)
    try:
        place = os.path.relpath(path, settings.root)
    except ValueError:  # another drive
        place = os.path.abspath(path)
    return place, assumed, settings.report_unused_suppressions, tuple(sorted(codes)), noqa


class Cache:
    """A folder of results. Picklable: worker processes open the same folder."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.abspath(folder)
        self._shelf = os.path.join(self.folder, f"{__version__}-{fingerprint()}")
        self._is_tidy = False

    def result(
        self, data: bytes, path: str, conditions: tuple[object, ...], work: Callable[[], FileResult]
    ) -> FileResult:
        """The result kept for these bytes under these conditions, without its source; or that of `work`, which is
        kept unless the linter failed: its next release may not."""
        key = self.key(data, *conditions)
        result = self.get(key, path)
        if result is None:
            result = work()
            if not any(finding.code == LINTER_FAILED for finding in result.findings):
                self.put(key, result)
        return result

    def key(self, data: bytes, *conditions: object) -> str:
        """The digest of a file's bytes under the given conditions (their repr must not vary between runs)."""
        digest = hashlib.sha256(repr((sys.version_info[:3], conditions)).encode())
        digest.update(data)
        return digest.hexdigest()

    def get(self, key: str, path: str) -> FileResult | None:
        """The result kept under a key, for the file now at `path`; its source is left out."""
        try:
            with open(self._place(key), encoding="utf-8") as file:
                if os.fstat(file.fileno()).st_mtime < time.time() - DAY:
                    with contextlib.suppress(OSError):
                        os.utime(self._place(key))
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
            if not self._is_tidy:
                self._tidy()
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
        """Make the folder, marked as a cache where it holds nothing else."""
        os.makedirs(self._shelf, exist_ok=True)
        if all(name in MARKS or _SHELF.fullmatch(name) for name in os.listdir(self.folder)):
            for name, text in MARKS.items():
                with open(os.path.join(self.folder, name), "w", encoding="ascii") as file:
                    file.write(text)

    def _tidy(self) -> None:
        """Remove what no run used of late, in the shelves of other versions too."""
        self._is_tidy = True
        stamp = os.path.join(self._shelf, _TIDIED)
        now = time.time()
        if os.path.exists(stamp) and os.path.getmtime(stamp) > now - DAY:
            return
        with open(stamp, "w", encoding="ascii"):
            os.utime(stamp)
        for shelf in filter(_SHELF.fullmatch, os.listdir(self.folder)):
            for folder, _, names in os.walk(os.path.join(self.folder, shelf), topdown=False):
                with contextlib.suppress(OSError):  # another run is at it too
                    for path in (os.path.join(folder, name) for name in names):
                        if os.path.getmtime(path) < now - KEPT_SECONDS:
                            os.unlink(path)
                    os.rmdir(folder)  # refused while anything is in it


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
