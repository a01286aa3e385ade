"""From one file's text to its result: gate, parse, run, rules, suppression, selection.

`analyze` is pure: nothing but its arguments decides its result, and no input makes it raise. flake8, the
command line and editors all come through here.
"""

from __future__ import annotations

import ast
import os
import traceback
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from torchlayout.check import analysis, gate, suppress
from torchlayout.check.links import REPORT_URL
from torchlayout.check.reading import UnreadableSource, decode
from torchlayout.check.results import FileResult
from torchlayout.check.selection import LINTER_FAILED, UNUSED_SUPPRESSION, codes_for
from torchlayout.check.settings import Settings
from torchlayout.program.nodes import Span
from torchlayout.rules.finding import Finding

DEFAULTS = Settings()

Keeper = Callable[[str, frozenset[str], Callable[[], FileResult]], FileResult]
"""Given a text, the codes to look for and the work that makes the result: the result, be it of an earlier run."""


def check(
    source: str | bytes, path: str = "<string>", settings: Settings = DEFAULTS, tree: ast.Module | None = None
) -> list[Finding]:
    """The findings in a Python source text, in order of place.

    `source` is text, or the bytes of a file (whose declared encoding is honoured). `path` serves messages and
    `per_file_ignores`; no file is read. `tree` saves a parse where the caller has one of the same text.
    Suppression comments hold. Source that cannot be parsed raises SyntaxError.
    """
    result = analyze(source, path, settings, tree=tree)
    if result.error is not None:
        raise SyntaxError(result.error.message, (path, result.error.line, result.error.column, None))
    return list(result.findings)


def analyze(
    source: str | bytes,
    path: str = "<string>",
    settings: Settings = DEFAULTS,
    *,
    tree: ast.Module | None = None,
    shown: Callable[[str], bool] | None = None,
    noqa: bool = True,
    always_parse: bool = False,
    keeper: Keeper | None = None,
) -> FileResult:
    """One file's result; never raises, whatever the source.

    `shown` tells of a code that the settings select whether the front end will show it: what it will not is not
    looked for. `noqa=False` leaves flake8's comments to flake8. `always_parse` reports syntax errors also in files
    in which no rule could find anything. `keeper` is asked for the result of a file that must be analysed, and of no
    other.
    """
    try:
        text = source if isinstance(source, str) else decode(source).text
    except UnreadableSource as unreadable:
        return FileResult(path, error=unreadable.error)
    if text.startswith("\ufeff"):
        text = text[1:]
    try:
        return _analyze(text, path, settings, tree, shown, noqa, always_parse, keeper)
    except UnreadableSource as unreadable:
        return FileResult(path, text, error=unreadable.error)
    except BaseException as failure:
        if isinstance(failure, KeyboardInterrupt | SystemExit | GeneratorExit):
            raise
        return _failed(text, path, settings, failure)


def _analyze(
    text: str,
    path: str,
    settings: Settings,
    tree: ast.Module | None,
    shown: Callable[[str], bool] | None,
    noqa: bool,
    always_parse: bool,
    keeper: Keeper | None,
) -> FileResult:
    codes: frozenset[str] = frozenset()
    unused = settings.report_unused_suppressions and suppress.may_suppress(text)
    if gate.mentions_framework(text) or unused:
        codes = _codes(settings, path, shown)
    told = partial(_told, text, path, codes, noqa, unused and UNUSED_SUPPRESSION in codes)
    if gate.may_report(text, codes, analysis.own_words(settings, codes)):

        def work() -> FileResult:
            return told(analysis.analyze(text, path, tree or _parse(text), settings, codes))

        return work() if keeper is None else replace(keeper(text, codes, work), source=text)
    if tree is None and always_parse:
        _parse(text)
    return told(analysis.Outcome([]))


def _told(text: str, path: str, codes: frozenset[str], noqa: bool, unused: bool, found: analysis.Outcome) -> FileResult:
    """What is left to tell of what was found, with the comments that silence nothing."""
    kept, idle = suppress.apply(text, (f for f in found.findings if f.code in codes), noqa=noqa, unused=unused)
    kept += [suppress.unused_finding(UNUSED_SUPPRESSION, suppression, text) for suppression in idle]
    kept.sort(key=Finding.sort_key)
    return FileResult(path, text, tuple(kept), None, tuple(idle), found.notes, found.reads)


def _codes(settings: Settings, path: str, shown: Callable[[str], bool] | None) -> frozenset[str]:
    codes = codes_for(settings, path)
    return codes if shown is None else frozenset(filter(shown, codes))


def _parse(text: str) -> ast.Module:
    """The tree of the text, or UnreadableSource."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes and the like are another linter's matter
            return ast.parse(text)
    except SyntaxError as error:
        raise UnreadableSource(f"syntax error: {error.msg}", error.lineno, error.offset) from None
    except ValueError as error:
        raise UnreadableSource(f"syntax error: {error}") from None
    except (RecursionError, MemoryError):
        raise UnreadableSource("the code is nested too deeply for Python to parse") from None


def _failed(text: str, path: str, settings: Settings, failure: BaseException) -> FileResult:
    """The one finding that stands for a failure of the linter itself, with the traceback among the notes."""
    what = " ".join(f"{type(failure).__name__}: {failure}".split())[:200]
    message = (
        f"torchlayout failed on this file and checked nothing in it: {what}{_place_of(failure)}; "
        f"please report it at {REPORT_URL}"
    )
    notes = ("".join(traceback.format_exception(type(failure), failure, failure.__traceback__, limit=-20)),)
    finding = Finding(LINTER_FAILED, message, Span(1, 0, 1, 0))
    # a run that asks for other codes must hear of it too: nothing found there means nothing
    wanted = not any(LINTER_FAILED.startswith(code) for code in settings.ignore)
    return FileResult(path, text, (finding,) if wanted else (), None, (), notes)


def _place_of(failure: BaseException) -> str:
    frames = traceback.extract_tb(failure.__traceback__)
    if not frames:
        return ""
    folder, name = os.path.split(frames[-1].filename)
    return f" ({os.path.basename(folder)}/{name}:{frames[-1].lineno})"
