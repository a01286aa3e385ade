"""Annotations of GitHub Actions: `::error file=...`; advice (LAY4) as notices."""

from __future__ import annotations

from collections.abc import Iterable

from torchlayout.cli.formats._severity import severity
from torchlayout.cli.output import Out
from torchlayout.cli.report import Report

_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}


def render(reports: Iterable[Report], out: Out) -> None:
    for report in reports:
        for finding in report.findings:
            start, end = report.start(finding.span), report.end(finding.span)
            place = {"line": start.row, "col": start.column, "endLine": end.row, "endColumn": end.column}
            if start.cell is not None:
                place = {"line": report.file_place(finding.span).row}  # GitHub knows a notebook by its JSON
            properties = {"title": f"torchlayout ({finding.code})", "file": report.path, **place}
            listed = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
            text = f"{report.path}:{start}: {finding.code} {finding.message}"
            text += "".join(f"\n  {r.message} ({report.related_place(r)})" for r in finding.related)
            out.write(f"::{_LEVELS[severity(finding.code)]} {listed}::{_data(text)}\n")


def _data(text: str) -> str:
    """Escaped as GitHub's workflow commands ask for a message."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escaped as they ask for a property."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
