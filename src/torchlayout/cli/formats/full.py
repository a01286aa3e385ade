"""The whole story of each finding: source with carets, where the layout came from, and the fix (the default)."""

from __future__ import annotations

from collections.abc import Iterable

from torchlayout.cli.excerpt import change, excerpt
from torchlayout.cli.output import Out, Segment, visible
from torchlayout.cli.report import Report, other_file
from torchlayout.fixing.edits import apply_edits, split_lines
from torchlayout.program.nodes import Span
from torchlayout.rules.finding import Finding, Related, Safety

_SAFETY = {
    Safety.SAFE: "",
    Safety.UNSAFE: " (unsafe: may change what the program does)",
    Safety.DISPLAY: " (to be done by hand)",
}


def render(reports: Iterable[Report], out: Out) -> None:
    for report in reports:
        for finding in report.findings:
            _finding(report, finding, out)


def _finding(report: Report, finding: Finding, out: Out) -> None:
    out.line(Segment(finding.code, "code"), f" {visible(finding.message)}")
    _place(report, finding.span, out)
    for related in finding.related:
        out.line(Segment("note", "note"), f": {visible(related.message)}")
        _related(report, related, out)
    _fix(report, finding, out)
    out.line()


def _place(report: Report, span: Span, out: Out) -> None:
    out.line(Segment("  --> ", "gutter"), f"{report.path}:{report.start(span)}")
    first, last, numbers = report.bounds(span.line)
    for line in excerpt(report.shown_lines, span, first, last, numbers):
        out.line(*line)


def _related(report: Report, related: Related, out: Out) -> None:
    if related.path is None:
        _place(report, related.span, out)
        return
    lines = other_file(related.path)
    out.line(Segment("  --> ", "gutter"), report.related_place(related))
    if 1 <= related.span.line <= len(lines):
        for line in excerpt(lines, related.span, 1, len(lines)):
            out.line(*line)


def _fix(report: Report, finding: Finding, out: Out) -> None:
    safety = report.safety(finding)
    if finding.fix is None or safety is None:
        return
    out.line(Segment("help", "help"), f": {visible(finding.fix.title)}{_SAFETY[safety]}")
    edits = finding.fix.edits
    try:
        mended = apply_edits(report.source, edits)
    except ValueError:
        return
    first = min(edit.span.line for edit in edits)
    last = max(edit.span.end_line for edit in edits)
    before, after = report.shown_lines, split_lines(report.restored(mended))
    numbers = report.bounds(first)[2]
    digits = len(str(last - numbers))
    growth = len(after) - len(before)
    for line in change(before[first - 1 : last], after[first - 1 : last + growth], first - numbers, digits):
        out.line(*line)
