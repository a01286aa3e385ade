"""SARIF 2.1.0, for GitHub code scanning and other viewers: rules, related locations and fixes included."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from torchlayout import __version__
from torchlayout.check.links import HOME
from torchlayout.cli.catalog import name_of, page_of, rule_url, summary_of
from torchlayout.cli.formats._severity import severity
from torchlayout.cli.output import Out
from torchlayout.cli.report import STDIN, Report
from torchlayout.program.nodes import Span
from torchlayout.rules.finding import Finding, Related

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "SRCROOT"


def render(reports: Iterable[Report], out: Out) -> None:
    results: list[dict[str, Any]] = []
    rules: dict[str, int] = {}
    notifications: list[dict[str, Any]] = []
    for report in reports:
        if report.result.error is not None:
            notifications.append(_notification(report))
        for finding in report.findings:
            index = rules.setdefault(finding.code, len(rules))
            results.append({**_result(report, finding), "ruleIndex": index})
    run = {
        "tool": {
            "driver": {
                "name": "torchlayout",
                "version": __version__,
                "informationUri": HOME,
                "rules": [_rule(code) for code in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"uri": PurePath(os.getcwd()).as_uri() + "/"}},
        "invocations": [{"executionSuccessful": not notifications, "toolExecutionNotifications": notifications}],
        "results": results,
    }
    out.write(json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n")


def _rule(code: str) -> dict[str, Any]:
    summary, page = summary_of(code), page_of(code)
    return {
        "id": code,
        "name": name_of(code),
        "shortDescription": {"text": summary},
        "fullDescription": {"text": summary},
        "help": {"text": page or summary, "markdown": page or summary},
        "helpUri": rule_url(code),
        "defaultConfiguration": {"level": severity(code)},
    }


def _result(report: Report, finding: Finding) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": severity(finding.code),
        "message": {"text": finding.message},
        "locations": [_location(report, finding.span)],
    }
    if finding.related:
        result["relatedLocations"] = [_related(report, i, related) for i, related in enumerate(finding.related, 1)]
    safety = report.safety(finding)
    # A notebook's edits are to the text of a cell, which is no region of the file.
    if finding.fix is not None and safety is not None and report.notebook is None:
        result["fixes"] = [_fix(report, finding)]
        result["properties"] = {"fixSafety": safety.value}
    return result


def _location(report: Report, span: Span) -> dict[str, Any]:
    physical = {"artifactLocation": _artifact(report.path), "region": _region(span)}
    if report.notebook is None:
        return {"physicalLocation": physical}
    physical["region"] = {"startLine": report.file_place(span).row}
    place = report.start(span)
    cell = {"name": f"cell {place.cell}, line {place.row}", "kind": "cell"}
    return {"physicalLocation": physical, "logicalLocations": [cell]}


def _related(report: Report, number: int, related: Related) -> dict[str, Any]:
    if related.path is None:
        location = _location(report, related.span)
    else:
        location = {"physicalLocation": {"artifactLocation": _artifact(related.path), "region": _region(related.span)}}
    return {"id": number, "message": {"text": related.message}, **location}


def _fix(report: Report, finding: Finding) -> dict[str, Any]:
    assert finding.fix is not None
    replacements = [
        {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}} for edit in finding.fix.edits
    ]
    return {
        "description": {"text": finding.fix.title},
        "artifactChanges": [{"artifactLocation": _artifact(report.path), "replacements": replacements}],
    }


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column + 1,
        "endLine": span.end_line,
        "endColumn": span.end_column + 1,
    }


def _artifact(path: str) -> dict[str, str]:
    """The file: relative to the current folder where it lies below it, as code scanning wants it."""
    if path == STDIN:
        return {"uri": "stdin"}
    absolute = os.path.abspath(path)
    try:
        relative = os.path.relpath(absolute)
    except ValueError:  # another drive
        relative = os.pardir
    if relative.startswith(os.pardir):
        return {"uri": PurePath(absolute).as_uri()}
    return {"uri": quote(os.fsencode(relative.replace(os.sep, "/"))), "uriBaseId": ROOT}


def _notification(report: Report) -> dict[str, Any]:
    error = report.result.error
    assert error is not None
    physical: dict[str, Any] = {"artifactLocation": _artifact(report.path)}
    if error.line is not None:
        line = max(1, error.line)
        physical["region"] = {"startLine": report.file_place(Span(line, 0, line, 0)).row}
    return {
        "level": "error",
        "message": {"text": report.error_message},
        "locations": [{"physicalLocation": physical}],
    }
