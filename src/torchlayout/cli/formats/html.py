"""One self-contained page: each file's source with its findings, and drawings of memory before and after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from torchlayout.cli.catalog import name_of, rule_url
from torchlayout.cli.formats._severity import severity
from torchlayout.cli.output import Out
from torchlayout.cli.report import Report
from torchlayout.cli.svg import draw
from torchlayout.rules.finding import Finding

CONTEXT = 6
"""Lines of source shown before and after a finding; the rest of the file is left out."""

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --bad: #c33; --warn: #b70; --note: #37b }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem }
h2 { font-size: 1rem; font-family: ui-monospace, monospace; border-bottom: 1px solid var(--line); margin-top: 2.5rem }
pre, code { font-family: ui-monospace, monospace; font-size: 13px }
pre { margin: 0; overflow-x: auto } .number { color: #888; user-select: none; white-space: pre }
mark { background: none; color: inherit; text-decoration: underline wavy var(--bad) }
.skip { color: #888; margin: 0; padding-left: 1ch }
.finding { border-left: 4px solid var(--bad); margin: .4rem 0 .8rem 3rem; padding: .2rem .8rem; background: #8881 }
.finding.warning { border-color: var(--warn) } .finding.note { border-color: var(--note) }
.finding p { margin: .2rem 0 } .finding ol { margin: .2rem 0; padding-left: 1.4rem }
figure { display: inline-block; margin: .4rem 1.5rem .4rem 0; vertical-align: top; max-width: 100%; overflow-x: auto }
figcaption { font-size: 12px; margin-bottom: .3rem }
svg rect { stroke: #8888 }
svg text { font: 10px ui-monospace, monospace; text-anchor: middle; dominant-baseline: central }
svg rect:not([fill=none]) + text { fill: #000 }
"""


_LEGEND = """\
<details><summary>How to read the drawings</summary><p>The grid is the tensor as its user sees it (of more than two \
dimensions, one grid after the other), the number in a cell its offset in memory. The strip below is memory; the \
number in a cell tells when reading the tensor in order comes there, and so does the shade: it fades evenly where the \
tensor is contiguous. Long dimensions are shortened, and sizes that are not known have small numbers.</p></details>"""


def render(reports: Iterable[Report], out: Out) -> None:
    out.write('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>torchlayout</title>\n')
    out.write('<meta name="viewport" content="width=device-width, initial-scale=1">\n')
    out.write(f"<style>{_STYLE}</style></head><body>\n<h1>torchlayout</h1>\n{_LEGEND}\n")
    count = files = 0
    for report in reports:
        if report.result.error is not None:
            out.write(f"<h2>{escape(report.path)}</h2>\n<p>not checked: {escape(report.error_message)}</p>\n")
        if not report.findings:
            continue
        count, files = count + len(report.findings), files + 1
        out.write(f"<h2>{escape(report.path)}</h2>\n")
        for part in _file(report):
            out.write(part)
    out.write(f"<p>Findings: {count}, in files: {files}.</p>\n" if count else "<p>No findings.</p>\n")
    out.write("</body></html>\n")


def _file(report: Report) -> Iterator[str]:
    by_line: dict[int, list[Finding]] = {}
    for finding in report.findings:
        by_line.setdefault(finding.span.line, []).append(finding)
    wanted = {line for middle in by_line for line in range(middle - CONTEXT, middle + CONTEXT + 1)}
    previous = 0
    for number, text in enumerate(report.shown_lines, 1):
        if number not in wanted:
            continue
        if number != previous + 1 and previous:
            yield '<p class="skip">⋮</p>\n'
        previous = number
        place = report.line_label(number)
        yield f'<pre><span class="number">{place:>9}  </span>{_marked(text, by_line.get(number, []))}</pre>\n'
        for finding in by_line.get(number, []):
            yield _finding(report, finding)


def _marked(text: str, findings: list[Finding]) -> str:
    """The line with its findings' spans marked; of spans that overlap, the first."""
    parts = []
    position = 0
    for finding in findings:
        span = finding.span
        end = span.end_column if span.end_line == span.line else len(text)
        if span.column >= position and end > span.column:
            parts += [escape(text[position : span.column]), f"<mark>{escape(text[span.column : end])}</mark>"]
            position = end
    return "".join(parts) + escape(text[position:])


def _finding(report: Report, finding: Finding) -> str:
    code = f'<a href="{escape(rule_url(finding.code))}"><b>{escape(finding.code)}</b></a>'
    parts = [f'<div class="finding {severity(finding.code)}">']
    parts.append(f"<p>{code} {escape(name_of(finding.code))}: {escape(finding.message)}</p>")
    if finding.related:
        stories = (f"{escape(r.message)} ({escape(report.related_place(r))})" for r in finding.related)
        parts.append("<ol>" + "".join(f"<li>{story}</li>" for story in stories) + "</ol>")
    safety = report.safety(finding)
    if finding.fix is not None and safety is not None:
        parts.append(f"<p>Fix ({safety.value}): {escape(finding.fix.title)}</p>")
    if finding.drawing is not None:
        parts.append(draw(finding.drawing, refused=severity(finding.code) == "error"))
    return "".join(parts) + "</div>\n"
