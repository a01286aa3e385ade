"""`torchlayout rules`: all rules."""

from __future__ import annotations

import json

import click

from torchlayout.check.selection import known_codes
from torchlayout.check.settings import DEFAULT_SELECT
from torchlayout.cli.catalog import name_of, rule_url, summary_of
from torchlayout.cli.output import Out, Segment, standard_output


@click.command(short_help="List all rules.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(output_format: str) -> None:
    """List all rules: code, name, whether it is on by default, and what it reports."""
    rows = [
        {
            "code": code,
            "name": name_of(code),
            "default": code.startswith(DEFAULT_SELECT),
            "summary": summary_of(code),
            "url": rule_url(code),
        }
        for code in known_codes()
    ]
    out = Out(standard_output())
    if output_format == "json":
        out.write(json.dumps(rows, indent=2) + "\n")
    elif out.colours:
        out.console.print(_table(rows))
    else:
        width = max(len(str(row["name"])) for row in rows)
        for row in rows:
            state = "on " if row["default"] else "off"
            out.line(Segment(str(row["code"]), "code"), f"  {row['name']:<{width}}  {state}  {row['summary']}")


def _table(rows: list[dict[str, object]]) -> object:
    from rich.table import Table

    table = Table("code", "name", "default", "reports", box=None, pad_edge=False)
    for row in rows:
        table.add_row(str(row["code"]), str(row["name"]), "on" if row["default"] else "off", str(row["summary"]))
    return table
