"""One line for each finding: `path:row:column: CODE message`."""

from __future__ import annotations

from collections.abc import Iterable

from torchlayout.cli.output import Out, Segment
from torchlayout.cli.report import Report


def render(reports: Iterable[Report], out: Out) -> None:
    for report in reports:
        for finding in report.findings:
            place = report.start(finding.span)
            out.line(Segment(report.path, "path"), f":{place}: ", Segment(finding.code, "code"), f" {finding.message}")
