"""`torchlayout config`: the settings in force, and where each came from."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import click

from torchlayout.check.settings import OPTIONS
from torchlayout.cli.options import configuration, settings_options
from torchlayout.cli.output import Out, Segment, standard_output


@click.command(short_help="Print the settings in force, and where each value came from.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@settings_options
def command(paths: tuple[str, ...], output_format: str, **given: Any) -> None:
    """Print the settings in force for PATHS (default: the current folder), each with where its value came from."""
    found = configuration(paths, given)
    out = Out(standard_output())
    if output_format == "json":
        values = dataclasses.asdict(found.settings)
        rows = {o.key: {"value": values[o.name], "origin": str(found.origin(o.name))} for o in OPTIONS}
        out.write(json.dumps(rows, indent=2) + "\n")
        return
    width = max(len(option.key) for option in OPTIONS)
    for option in OPTIONS:
        text = option.kind.to_text(getattr(found.settings, option.name))
        out.line(
            Segment(f"{option.key:<{width}}", "heading"),
            f" = {text}  ",
            Segment(f"# {found.origin(option.name)}", "dim"),
        )
    out.line()
    out.line(f"settings file: {found.file or 'none'}")
