"""Abstract interpretation: runs the lowered program over the operator table and writes the trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlayout.interp.frame import Options

if TYPE_CHECKING:
    from torchlayout.interp.trace import Trace
    from torchlayout.program.unit import Unit


def run(unit: Unit, options: Options) -> Trace:
    """The trace of one file, whose sink words are marked (`Unit.mark_sinks`). Raises `SyntaxError` where the file is
    no Python."""
    from torchlayout.interp.runner import run as run_unit

    return run_unit(unit, options)


__all__ = ["Options", "run"]
