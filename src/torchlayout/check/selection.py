"""Which rules are on: codes, prefixes, and files that are excepted.

The longest prefix wins: with `select = ["LAY302"]` and `ignore = ["LAY3"]` only LAY302 of its group is
reported. Between prefixes of one length `ignore` wins. Both flake8 and ruff decide so.
"""

from __future__ import annotations

import difflib
import functools
import re

from torchlayout.check import analysis
from torchlayout.check.settings import Settings

LINTER_FAILED = "LAY901"
UNUSED_SUPPRESSION = "LAY902"

OWN_CODES = {LINTER_FAILED: "linter-failed", UNUSED_SUPPRESSION: "unused-suppression"}
"""Codes that no rule owns: the linter speaks of itself."""


def known_codes() -> tuple[str, ...]:
    """Every code there is, sorted."""
    return tuple(sorted({rule.code for rule in analysis.rules()} | set(OWN_CODES)))


def is_known(prefix: str) -> bool:
    """Whether a rule has the code or prefix."""
    return any(code.startswith(prefix) for code in known_codes())


def find_code(text: str) -> str | None:
    """The code that a user means by a code or a name, in any case; None where there is no such rule."""
    wanted = text.strip().lower()
    names = {rule.code: rule.name for rule in analysis.rules()} | OWN_CODES
    return next((code for code, name in names.items() if wanted in (code.lower(), name.lower())), None)


def checked_prefix(text: str) -> str:
    """The code or prefix, when a rule has it; ValueError with the nearest code otherwise."""
    if not re.fullmatch(r"LAY\d{0,3}", text):
        raise ValueError(f"{text!r} is not a code: expected LAY, or LAY and up to three digits")
    if is_known(text):
        return text
    near = difflib.get_close_matches(text, known_codes(), n=1, cutoff=0)
    raise ValueError(f"no rule has the code {text}" + (f" (did you mean {near[0]}?)" if near else ""))


def is_selected(code: str, select: tuple[str, ...], ignore: tuple[str, ...]) -> bool:
    """Whether the longest prefix of `code` among `select` is longer than that among `ignore`."""
    return _longest(code, select) > _longest(code, ignore)


def _longest(code: str, prefixes: tuple[str, ...]) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=-1)


@functools.lru_cache(maxsize=64)
def _selected(select: tuple[str, ...], ignore: tuple[str, ...]) -> frozenset[str]:
    return frozenset(code for code in known_codes() if is_selected(code, select, ignore))


def codes_for(settings: Settings, path: str) -> frozenset[str]:
    """The codes to report in the file at `path`."""
    codes = _selected(settings.select + settings.extend_select, settings.ignore)
    if not settings.per_file_ignores:
        return codes
    from torchlayout.check.patterns import patterns

    for pattern, ignored in settings.per_file_ignores:
        if patterns((pattern,), settings.root).match(path):
            codes = frozenset(code for code in codes if not code.startswith(ignored))
    return codes
