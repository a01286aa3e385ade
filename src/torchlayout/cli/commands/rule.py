"""`torchlayout rule CODE`: the rule's page."""

from __future__ import annotations

import click

from torchlayout.check.selection import find_code, known_codes
from torchlayout.cli.catalog import page_of, title_of
from torchlayout.cli.output import Out, standard_output
from torchlayout.cli.status import Mistake


@click.command(short_help="Print a rule's page.")
@click.argument("code")
def command(code: str) -> None:
    """Print the page of the rule CODE, such as LAY101, or by its name, such as view-of-noncontiguous."""
    found = find_code(code)
    if found is None:
        raise Mistake(f"no rule has the code or name {code!r}; known are {', '.join(known_codes())}")
    page = f"# {title_of(found)}\n\n{page_of(found)}\n"
    out = Out(standard_output())
    if not out.colours:
        out.write(page)
        return
    from rich.markdown import Markdown

    out.console.print(Markdown(page))
