"""The output formats: one module each, found by walking this package.

A format's module has `render(reports, out)`: it consumes the reports, which arrive while files are still being
checked, and writes to `out`. Its docstring's first line is its help. A report of a file that could not be checked
has `result.error` set and no findings; formats that can say so do, the others pass over it (the error is also on
standard error). To add a format, add a module: `my_format.py` becomes `--output-format my-format`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from typing import Protocol, cast

from torchlayout.cli.output import Out
from torchlayout.cli.report import Report

DEFAULT = "full"


class Render(Protocol):
    def __call__(self, reports: Iterable[Report], out: Out) -> None: ...


def names() -> list[str]:
    """Every format's name; imports none of them."""
    return sorted(
        module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")
    )


def renderer(name: str) -> Render:
    """The format of that name (one of `names`)."""
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    return cast(Render, module.render)
