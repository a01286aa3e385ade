"""Findings as JSON objects, with the keys that ruff's JSON has."""

from __future__ import annotations

import os
from typing import Any

from torchlayout.cli.catalog import name_of, rule_url
from torchlayout.cli.report import Place, Report
from torchlayout.rules.finding import Finding


def as_object(report: Report, finding: Finding) -> dict[str, Any]:
    start, end = report.start(finding.span), report.end(finding.span)
    found: dict[str, Any] = {
        "cell": start.cell,
        "code": finding.code,
        "end_location": _location(end),
        "filename": report.filename,
        "fix": _fix(report, finding),
        "location": _location(start),
        "message": finding.message,
        "name": name_of(finding.code),
        "noqa_row": report.noqa_row(finding),
        "related": [_related(report, related) for related in finding.related],
        "url": rule_url(finding.code),
    }
    if finding.layout is not None:
        found["layout"] = finding.layout
    return found


def _location(place: Place) -> dict[str, int]:
    return {"column": place.column, "row": place.row}


def _fix(report: Report, finding: Finding) -> dict[str, Any] | None:
    safety = report.safety(finding)
    if finding.fix is None or safety is None:
        return None
    return {
        "applicability": safety.value,
        "edits": [
            {
                "content": edit.text,
                "end_location": _location(report.end(edit.span)),
                "location": _location(report.start(edit.span)),
            }
            for edit in finding.fix.edits
        ],
        "message": finding.fix.title,
    }


def _related(report: Report, related: Any) -> dict[str, Any]:
    elsewhere = related.path is not None
    span = related.span
    start = Place(None, span.line, span.column + 1) if elsewhere else report.start(span)
    end = Place(None, span.end_line, span.end_column + 1) if elsewhere else report.end(span)
    return {
        "cell": start.cell,
        "end_location": _location(end),
        "filename": os.path.abspath(related.path) if elsewhere else report.filename,
        "location": _location(start),
        "message": related.message,
    }
