"""JUnit XML: a suite for each file, a failed case for each finding, an error for a file that could not be checked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from torchlayout.cli.output import Out
from torchlayout.cli.report import Report

# XML 1.0 has no way to write these.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(reports: Iterable[Report], out: Out) -> None:
    told = [report for report in reports if report.findings or report.result.error]
    failures = sum(len(report.findings) for report in told)
    errors = sum(report.result.error is not None for report in told)
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write(
        f'<testsuites name="torchlayout" tests="{max(1, failures + errors)}" failures="{failures}" errors="{errors}">\n'
    )
    for report in told:
        _suite(report, out)
    if not told:
        # Without any case, CI servers take the report for a broken one.
        out.write('  <testsuite name="torchlayout" tests="1" failures="0" errors="0">\n')
        out.write('    <testcase name="no findings" classname="torchlayout"/>\n  </testsuite>\n')
    out.write("</testsuites>\n")


def _suite(report: Report, out: Out) -> None:
    error = report.result.error
    errors, failures = int(error is not None), len(report.findings)
    name = _attribute(report.path)
    out.write(f'  <testsuite name={name} tests="{failures + errors}" failures="{failures}" errors="{errors}">\n')
    if error is not None:
        out.write(f'    <testcase name="checked" classname={name} file={name}>\n')
        out.write(f"      <error message={_attribute(report.error_message)}/>\n    </testcase>\n")
    for finding in report.findings:
        place = report.start(finding.span)
        story = "\n".join(
            [
                f"{report.path}:{place}: {finding.code} {finding.message}",
                *(f"  {report.related_place(related)}: {related.message}" for related in finding.related),
            ]
        )
        case = f"{finding.code} at {place}"
        line = report.file_place(finding.span).row
        out.write(f'    <testcase name="{case}" classname={name} file={name} line="{line}">\n')
        out.write(f"      <failure type={_attribute(finding.code)} message={_attribute(finding.message)}>")
        out.write(f"{escape(_FORBIDDEN.sub('?', story))}</failure>\n    </testcase>\n")
    out.write("  </testsuite>\n")


def _attribute(text: str) -> str:
    return quoteattr(_FORBIDDEN.sub("?", text))
