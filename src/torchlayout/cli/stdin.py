"""Standard input as a file, for editors: findings, or the mended text on standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace

from torchlayout.check.engine import analyze
from torchlayout.check.patterns import Patterns
from torchlayout.check.reading import UnreadableSource
from torchlayout.check.results import FileResult
from torchlayout.check.settings import Settings
from torchlayout.cli.mending import Mender
from torchlayout.cli.output import write_bytes
from torchlayout.cli.report import STDIN, Report
from torchlayout.cli.sources import opened
from torchlayout.cli.status import Mistake


def reports(settings: Settings, name: str | None, mender: Mender | None, *, diff: bool) -> Iterator[Report]:
    """The one report of standard input.

    With a mender the content is written to standard output, mended or, where that cannot be, as it came, so that an
    editor that takes it for the new content loses nothing; for `diff`, the difference instead.
    """
    data = _read()
    path = name or STDIN
    if settings.force_exclude and name and _excluded(name, settings):
        _echo(data, wanted=mender is not None and not diff)
        return
    try:
        content = opened(data, path)
    except UnreadableSource as unreadable:
        _echo(data, wanted=mender is not None and not diff)
        yield Report(FileResult(path, error=unreadable.error))
        return
    result = analyze(content.text, path, settings, always_parse=True)
    if mender is None or result.error is not None:
        _echo(data, wanted=mender is not None and not diff)
        yield Report(result, content.notebook)
    elif diff:
        write_bytes(mender.diff(data, content, path, result.findings))
        yield Report(result, content.notebook)
    else:
        fixed = mender.mend(content.text, path, list(result.findings))
        after = content.bytes_for(fixed.text)
        _echo(after, wanted=True)
        yield Report(replace(result, source=fixed.text, findings=tuple(fixed.findings)), opened(after, path).notebook)


def _read() -> bytes:
    if sys.stdin is None:
        raise Mistake("standard input is closed")
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise Mistake(f"cannot read standard input: {error.strerror or error}") from None


def _excluded(name: str, settings: Settings) -> bool:
    patterns = Patterns(settings.exclude + settings.extend_exclude, settings.root)
    return patterns.match(os.path.normpath(name))


def _echo(data: bytes, *, wanted: bool) -> None:
    if wanted:
        write_bytes(data)
