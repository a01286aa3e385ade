"""The one place where checking meets the interpreter and the rules.

Both are imported when first needed: a run over files that never mention torch loads neither, nor libcst.
"""

from __future__ import annotations

import ast
import functools
import gc
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from torchlayout.check.gate import joined
from torchlayout.check.settings import OPTIONS, Settings

if TYPE_CHECKING:
    from torchlayout.rules import Rule
    from torchlayout.rules.finding import Finding


def rules() -> Sequence[Rule]:
    """Every rule, in order of code."""
    from torchlayout.rules import RULES

    return RULES


def sink_words(text: str, codes: frozenset[str]) -> frozenset[str]:
    """The words of which one must stand in the text for the rules with these codes to report anything."""
    from torchlayout.rules import sink_words

    return sink_words(codes, text)


def own_words(settings: Settings, codes: frozenset[str]) -> frozenset[str]:
    """The same for the functions that the settings name: `need-contiguous` is LAY106's matter."""
    if "LAY106" not in codes:
        return frozenset()
    return frozenset(f"{path.rpartition('.')[2]}(" for path, _ in settings.need_contiguous)


_only_lints = False


def own_process() -> None:
    """Say that this process only lints, as flake8's does: what stays loaded may then be frozen.

    libcst, the operator table and what flake8 holds live as long as the process; looking through them again and again
    for garbage costs a tenth of what linting takes.
    """
    global _only_lints
    _only_lints = True


@functools.cache
def _freeze() -> None:
    """Load what every analysis needs and freeze it: the first call does, all others find it done."""
    from torchlayout import interp, rules  # noqa: F401
    from torchlayout.program.lowering import load_parser

    load_parser()
    gc.freeze()


class Outcome(NamedTuple):
    """The findings, notes on what the analysis gave up, and the other files it read or looked for."""

    findings: list[Finding]
    notes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()


def analyze(source: str, path: str, tree: ast.Module, settings: Settings, codes: frozenset[str]) -> Outcome:
    """Run the interpreter and the rules of the given codes over one file."""
    if _only_lints:
        _freeze()
    # Nearly all that is made lives until the file is done: looking for garbage meanwhile is a sixth of the time.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _analyze(source, path, tree, settings, codes)
    finally:
        if collecting:
            gc.enable()


def _analyze(source: str, path: str, tree: ast.Module, settings: Settings, codes: frozenset[str]) -> Outcome:
    from torchlayout import interp, rules
    from torchlayout.program.unit import Unit

    unit = Unit(path, source, tree=tree)
    unit.mark_sinks(joined(sink_words(source, codes), own_words(settings, codes)))
    options = interp.Options(**{option.name: getattr(settings, option.name) for option in OPTIONS if option.analysis})
    trace = interp.run(unit, options)
    told = rules.Options.of(settings.need_contiguous)
    found = rules.run_rules(trace, unit, codes, told)
    unit.forget()
    return Outcome(found, tuple(trace.notes), tuple(sorted(getattr(trace, "reads", ()))))
