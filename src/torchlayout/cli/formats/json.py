"""One JSON array of all findings, as ruff prints it."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable

from torchlayout.cli.formats._objects import as_object
from torchlayout.cli.output import Out
from torchlayout.cli.report import Report


def render(reports: Iterable[Report], out: Out) -> None:
    separator = "\n"
    out.write("[")
    for report in reports:
        for finding in report.findings:
            text = json.dumps(as_object(report, finding), indent=2)
            out.write(separator + textwrap.indent(text, "  "))
            separator = ",\n"
    out.write("]\n" if separator == "\n" else "\n]\n")
