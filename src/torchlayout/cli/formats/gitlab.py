"""GitLab's code quality report."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable
from typing import Any

from torchlayout.cli.formats._severity import severity
from torchlayout.cli.output import Out
from torchlayout.cli.report import Report

_LINE = re.compile(r"\bline \d+")

_LEVELS = {"error": "major", "warning": "minor", "note": "info"}


def render(reports: Iterable[Report], out: Out) -> None:
    entries: list[dict[str, Any]] = []
    seen: set[str] = set()
    for report in reports:
        path = _in_project(report)
        for finding in report.findings:
            start, end = report.start(finding.span), report.end(finding.span)
            if start.cell is not None:  # GitLab knows a notebook by its JSON
                start = end = report.file_place(finding.span)
            entries.append(
                {
                    "check_name": finding.code,
                    "description": f"{finding.code}: {finding.message}",
                    "fingerprint": _fingerprint(seen, path, finding.code, _LINE.sub("", finding.message)),
                    "location": {
                        "path": path,
                        "positions": {
                            "begin": {"line": start.row, "column": start.column},
                            "end": {"line": end.row, "column": end.column},
                        },
                    },
                    "severity": _LEVELS[severity(finding.code)],
                }
            )
    out.write(json.dumps(entries, indent=2) + "\n")


def _in_project(report: Report) -> str:
    """The path as GitLab knows it: relative to the project's folder, with slashes."""
    root = os.environ.get("CI_PROJECT_DIR", os.curdir)
    try:
        path = os.path.relpath(report.filename, root)
    except ValueError:  # another drive
        path = report.filename
    return report.path if report.path == "-" else path.replace(os.sep, "/")


def _fingerprint(seen: set[str], *parts: str) -> str:
    """What makes a finding the same one in the next pipeline: not its line, nor
    those that its message names, which move with the code above them.

    Findings that are alike but for their place are told apart by their order.
    """
    count = 0
    while True:
        text = "\0".join([*parts, str(count)])
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        if digest not in seen:
            seen.add(digest)
            return digest
        count += 1
