"""One JSON object a line for each finding."""

from __future__ import annotations

import json
from collections.abc import Iterable

from torchlayout.cli.formats._objects import as_object
from torchlayout.cli.output import Out
from torchlayout.cli.report import Report


def render(reports: Iterable[Report], out: Out) -> None:
    for report in reports:
        for finding in report.findings:
            out.write(json.dumps(as_object(report, finding)) + "\n")
