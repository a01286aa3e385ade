"""The one place where checking meets the interpreter and the rules.

Both are imported when first needed: a run over files that never mention torch loads neither, nor libcst.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from torchlayout.check.settings import OPTIONS, Settings

if TYPE_CHECKING:
    from torchlayout.rules.finding import Finding


def rules() -> Sequence[Any]:
    """Every rule (with `code`, `name`, `status`, `words`, `docs`), in order of code."""
    from torchlayout.rules import RULES

    return RULES


def analyze(
    source: str, path: str, tree: ast.Module | None, settings: Settings, codes: Iterable[str]
) -> tuple[list[Finding], tuple[str, ...]]:
    """The findings of the given codes, and notes on what the analysis gave up."""
    from torchlayout import interp
    from torchlayout.program.unit import Unit
    from torchlayout.rules import run_rules

    options = interp.Options(**{option.name: getattr(settings, option.name) for option in OPTIONS if option.analysis})
    trace = interp.run(Unit(path, source, tree=tree), options)
    return run_rules(trace, codes), tuple(getattr(trace, "notes", ()))
