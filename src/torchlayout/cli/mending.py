"""--fix and --diff: reports of files whose fixes are applied, on disk or as a diff."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from torchlayout.check.engine import analyze
from torchlayout.check.reading import UnreadableSource
from torchlayout.check.results import FileError, FileResult
from torchlayout.check.settings import Settings
from torchlayout.cli.report import Report
from torchlayout.cli.sources import Opened, opened
from torchlayout.fixing import ChangedMeanwhile, Fixed, fix_text, patch, replace_content, unified_diff
from torchlayout.rules.finding import Finding, Safety

ATTEMPTS = 3
"""How often a file is read and mended anew when another program changes it at the same moment."""


class Mender:
    """Applies fixes of a safety of at most `limit`, and counts them by code."""

    def __init__(self, settings: Settings, limit: Safety) -> None:
        self._settings = settings
        self._limit = limit
        self.applied: Counter[str] = Counter()
        self.changed = 0
        """Files that were changed, or that a diff would change."""
        self.notes: list[str] = []

    def on_disk(self, reports: Iterable[Report]) -> Iterator[Report]:
        """The reports after fixing the files; what could not be written has its error and its findings."""
        for report in reports:
            yield self._file(report) if self._is_fixable(report) else report

    def as_diffs(self, reports: Iterable[Report], write: Callable[[bytes], object]) -> Iterator[Report]:
        """The same reports; what fixing would change is written as a unified diff, and the files are left alone."""
        for report in reports:
            if self._is_fixable(report):
                try:
                    data = Path(report.path).read_bytes()
                    content = opened(data, report.path)
                    change = self.diff(data, content, report.path, self._findings(content, report))
                except (UnreadableSource, OSError, ValueError) as error:
                    report, change = _failed(report, error), b""
                write(change)
            yield report

    def diff(self, data: bytes, content: Opened, path: str, findings: Iterable[Finding]) -> bytes:
        """What fixing a file, whose bytes are `data`, would change: a patch; of a notebook, a diff of each cell."""
        fixed = self.mend(content.text, path, list(findings))
        if fixed.text == content.text:
            return b""
        if content.notebook is None:
            change = patch(data, content.bytes_for(fixed.text), path)
            self.changed += 1
            return change
        after = content.notebook.texts(fixed.text)
        self.changed += 1
        shown = "".join(
            unified_diff(cell.text, text, f"{path}:cell {cell.number}")
            for cell, text in zip(content.notebook.cells, after, strict=True)
        )
        return shown.encode("utf-8", "backslashreplace")

    def mend(self, text: str, path: str, findings: list[Finding]) -> Fixed:
        """The text after its fixes; counts them."""
        fixed = fix_text(text, lambda t: list(analyze(t, path, self._settings).findings), self._limit, findings)
        self.applied.update(fixed.applied)
        self.notes += [f"{path}: {note}" for note in fixed.notes]
        return fixed

    def _is_fixable(self, report: Report) -> bool:
        return report.result.error is None and any(f.fix is not None for f in report.findings)

    def _file(self, report: Report) -> Report:
        for attempt in range(ATTEMPTS):
            counted = self.applied.copy()
            try:
                return self._once(report)
            except ChangedMeanwhile as error:
                self.applied = counted
                if attempt == ATTEMPTS - 1:
                    return _failed(report, error)
            except (UnreadableSource, OSError, ValueError) as error:
                self.applied = counted
                return _failed(report, error)
        raise AssertionError("unreachable")

    def _findings(self, content: Opened, report: Report) -> list[Finding]:
        """What there is to mend: checked anew where the file changed since."""
        if content.text == report.result.source:
            return list(report.result.findings)
        return list(analyze(content.text, report.path, self._settings).findings)

    def _once(self, report: Report) -> Report:
        path = Path(report.path)
        data = path.read_bytes()
        content = opened(data, report.path)
        fixed = self.mend(content.text, report.path, self._findings(content, report))
        after = content.bytes_for(fixed.text)
        if fixed.text != content.text:
            replace_content(path, data, after)
            self.changed += 1
        result = replace(report.result, source=fixed.text, findings=tuple(fixed.findings))
        if content.notebook is None:
            return Report(result)
        # The mended notebook has the same cells; its program is read back, for its lines may have moved.
        again = opened(after, report.path)
        return Report(replace(result, source=again.text), again.notebook)


def _failed(report: Report, error: Exception) -> Report:
    """The report of a file that could not be mended: its findings, and what went wrong."""
    if isinstance(error, UnreadableSource):
        trouble = error.error
    elif isinstance(error, ChangedMeanwhile):
        trouble = FileError("not fixed: the file keeps changing while it is being fixed")
    elif isinstance(error, UnicodeEncodeError):
        trouble = FileError(f"not fixed: the file's encoding, {error.encoding}, lacks a character of the fix")
    elif isinstance(error, FileNotFoundError):
        trouble = FileError("not fixed: the file is gone")
    elif isinstance(error, OSError):
        trouble = FileError(f"not fixed: {error.strerror or error}; the file is as it was")
    else:
        trouble = FileError(f"not fixed: {error}")
    return Report(replace(report.result, error=trouble), report.notebook)


def with_notebook(result: FileResult) -> Report:
    """The report of a result; reads a notebook again for the places of its cells, where they are needed."""
    from torchlayout.cli.sources import is_notebook

    if not is_notebook(result.path) or not (result.findings or result.error):
        return Report(result)
    try:
        content = opened(Path(result.path).read_bytes(), result.path)
    except (UnreadableSource, OSError):
        return Report(result) if result.error is not None else _changed(result)
    if result.source not in (None, content.text):
        return _changed(result)
    return Report(result, content.notebook)


def _changed(result: FileResult) -> Report:
    """The report of a notebook whose findings have no place any more."""
    trouble = FileError("the notebook changed while it was being checked; check it again")
    return Report(FileResult(result.path, error=trouble))
