"""What checking one file gives."""

from __future__ import annotations

from dataclasses import dataclass

from torchlayout.program.nodes import Span
from torchlayout.rules.finding import Finding


@dataclass(frozen=True, slots=True)
class FileError:
    """Why a file could not be checked. `line` is 1-based, `column` 1-based, None where the whole file is meant."""

    message: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class Suppression:
    """A comment that silences findings: where it stands and what it says."""

    span: Span
    text: str
    codes: tuple[str, ...]
    """Codes and prefixes; empty for all."""
    whole_file: bool
    blanket: bool
    """A bare `# noqa`, which may be there for another linter and is never called unused."""


@dataclass(frozen=True, slots=True)
class FileResult:
    """One file's outcome. Either `error` is set, or `findings` is what to show, in order of place.

    `source` is the text the spans count in (None when it could not be read, and dropped by `run.check_paths`
    where nothing is reported). `notes` are for `--verbose`: bounds that were reached, tracebacks of failures.
    """

    path: str
    source: str | None = None
    findings: tuple[Finding, ...] = ()
    error: FileError | None = None
    unused_suppressions: tuple[Suppression, ...] = ()
    notes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    """Paths of other files that the analysis looked at, or looked for: when one changes, the result may."""
