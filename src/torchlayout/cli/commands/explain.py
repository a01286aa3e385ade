"""`torchlayout explain FILE:LINE[:COLUMN]`: the layout of each value on a line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click

from torchlayout.check.reading import UnreadableSource
from torchlayout.check.results import FileError, FileResult
from torchlayout.cli import status
from torchlayout.cli.explaining import Explained, explain
from torchlayout.cli.options import configuration, settings_options
from torchlayout.cli.output import Out, Segment, standard_output, visible, width
from torchlayout.cli.report import Report
from torchlayout.cli.sources import Opened, is_notebook, opened
from torchlayout.cli.status import Mistake
from torchlayout.notebooks import Notebook

_PLACE = re.compile(r"(?P<path>.+?):(?P<numbers>\d+(?::\d+){0,2})")


@click.command(short_help="Show the layout of each tensor on a line.")
@click.argument("place", metavar="FILE:LINE[:COLUMN]")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@settings_options
def command(place: str, output_format: str, **given: Any) -> int:
    """Show how each tensor on a line lies in memory, by sizes and strides, and how it came to lie so.

    In a notebook the place is FILE:CELL:LINE[:COLUMN]. Sizes that the source does not tell have names.
    """
    path, numbers = _parsed(place)
    settings = configuration((path,), given).settings
    try:
        content = opened(_read(path), path)
        line, column = _line(content, path, numbers)
        values = explain(content.text, path, settings, line)
    except UnreadableSource as unreadable:
        return _failed(path, unreadable.error)
    except SyntaxError as error:
        trouble = FileError(f"syntax error: {error.msg}", error.lineno, error.offset)
        return _failed(path, trouble, content.notebook)
    report = Report(FileResult(path, content.text), content.notebook)
    chosen = [value for value in values if column is None or _covers(value, column)]
    out = Out(standard_output())
    if output_format == "json":
        out.write(json.dumps([_as_object(report, value) for value in chosen], indent=2) + "\n")
    else:
        _print(report, line, chosen, out)
    if not chosen:
        where = ", ".join(str(report.start(value.answer.span)) for value in values)
        status.say(f"no tensor is known there; there are some at {where}" if values else "no tensor is known there")
    return status.OK


def _parsed(place: str) -> tuple[str, list[int]]:
    match = _PLACE.fullmatch(place)
    if match is None:
        raise Mistake(f"expected FILE:LINE or FILE:LINE:COLUMN, not {place!r}")
    numbers = [int(number) for number in match["numbers"].split(":")]
    wanted = (2, 3) if is_notebook(match["path"]) else (1, 2)
    if len(numbers) not in wanted or min(numbers) < 1:
        form = "FILE:CELL:LINE[:COLUMN]" if wanted[0] == 2 else "FILE:LINE[:COLUMN]"
        raise Mistake(f"expected {form}, counted from 1, not {place!r}")
    return match["path"], numbers


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UnreadableSource(f"cannot read the file: {error.strerror or error}") from None


def _line(content: Opened, path: str, numbers: list[int]) -> tuple[int, int | None]:
    """The line of the checked text, and the column."""
    if content.notebook is not None:
        cell, row, *rest = numbers
        line = content.notebook.line_of(cell, row)
        if line is None:
            raise Mistake(f"{path} has no code cell {cell} with a line {row}")
    else:
        line, *rest = numbers
        if line > content.text.count("\n") + 1:
            raise Mistake(f"{path} has no line {line}")
    return line, rest[0] if rest else None


def _failed(path: str, error: FileError, notebook: Notebook | None = None) -> int:
    report = Report(FileResult(path, error=error), notebook)
    status.say_error(path, report.error_place(), report.error_message)
    return status.FAILED


def _covers(value: Explained, column: int) -> bool:
    span = value.answer.span
    return span.column < column <= max(span.end_column, span.column + 1)


# ---------------------------------------------------------------- output
def _as_object(report: Report, value: Explained) -> dict[str, Any]:
    start = report.start(value.answer.span)
    return {
        "expression": value.text,
        "location": {"row": start.row, "column": start.column},
        "layout": None if value.raises else value.answer.layout,
        "findings": [{"code": finding.code, "message": finding.message} for finding in value.reported],
        "origins": [
            {"message": related.message, "place": report.related_place(related)} for related in value.answer.related
        ],
    }


def _print(report: Report, line: int, values: list[Explained], out: Out) -> None:
    out.line(Segment(f"{report.path}:{report.line_label(line)}", "path"))
    out.line(f"    {visible(report.shown_lines[line - 1].strip())}")
    for value in values:
        out.line()
        place = report.start(value.answer.span)
        out.line(Segment(visible(value.text), "heading"), f"  (column {place.column}): {_summary(value)}")
        for row in [] if value.raises else _table(value.answer.layout or {}):
            out.line(f"    {row}")
        for related in value.answer.related:
            out.line(f"    {related.message}, {report.related_place(related)}")
        for finding in value.reported:
            out.line(f"    {finding.code} {finding.message}")


def _summary(value: Explained) -> str:
    """In a few words: whether it is contiguous, and how sure that is."""
    if value.raises:
        return "raises"
    layout = value.answer.layout or {}
    contiguous = str(layout.get("contiguous"))
    known = {"yes": "contiguous", "no": "not contiguous"}.get(contiguous)
    if known is None:
        return "contiguous or not: unknown"
    return f"{known}, proved" if layout.get("proved") else f"{known}, if the inputs are contiguous and no size is 1"


def _table(layout: dict[str, object]) -> list[str]:
    """Sizes above strides, a column for each dimension."""
    shape, stride = layout.get("shape"), layout.get("stride")
    if not isinstance(shape, list) or not isinstance(stride, list):
        return ["sizes and strides unknown"]
    if not shape:
        return ["no dimensions"]
    columns = [max(width(size), width(step)) for size, step in zip(shape, stride, strict=True)]
    return [
        f"{name}  " + "  ".join(" " * (columns[i] - width(text)) + text for i, text in enumerate(texts))
        for name, texts in (("size  ", shape), ("stride", stride))
    ]
