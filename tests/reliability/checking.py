"""Checking a text so that no failure stays hidden, and texts that nobody wrote for a linter.

Ordinary code is turned into *tensor code* by renaming methods (`append` becomes `view`, and so on): every function then
holds something to analyze, in shapes of code that nobody wrote for this linter. *Mangled* code has tokens dropped,
doubled or put in the place of others.
"""

from __future__ import annotations

import io
import random
import sysconfig
import tokenize
from collections.abc import Iterator
from pathlib import Path

from torchlayout.check.engine import analyze
from torchlayout.check.reading import UnreadableSource, read, split_lines
from torchlayout.check.results import FileResult
from torchlayout.check.settings import Settings

EVERYTHING = Settings(select=("LAY",), report_unused_suppressions=True)
OWN_SOURCES = sorted(Path(__file__).parents[2].joinpath("src", "torchlayout").rglob("*.py"))

RENAMED = {
    "append": "view",
    "get": "contiguous",
    "join": "transpose",
    "format": "permute",
    "items": "t",
    "startswith": "reshape",
    "strip": "clone",
    "split": "unbind",
    "read": "expand",
    "write": "add_",
    "update": "copy_",
    "match": "flatten",
    "group": "select",
    "path": "shape",
    "name": "T",
    "value": "mT",
}


def as_tensor_code(text: str) -> str:
    """The text with its methods renamed, an import of torch at the end, and a word for every rule."""
    for old, new in RENAMED.items():
        text = text.replace(f".{old}", f".{new}").replace(f"({old}", f"(torch.{new}")
    return as_is(text)


def as_is(text: str) -> str:
    """The text with what makes the linter look at it."""
    return text + "\nimport torch  # .view( .contiguous( reveal_layout\n"


def mangled(text: str, chance: random.Random, changes: int = 3) -> str:
    """The text with a few tokens dropped, doubled, or replaced by others of it."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return text[: chance.randrange(len(text) + 1)]
    lines = text.splitlines(keepends=True)
    for token in sorted(chance.sample(tokens, min(changes, len(tokens))), key=lambda t: t.start, reverse=True):
        (row, start), (end_row, end) = token.start, token.end
        if row != end_row or row > len(lines):
            continue
        line = lines[row - 1]
        change = {0: "", 1: line[start:end] * 2, 2: chance.choice(tokens).string}[chance.randrange(3)]
        lines[row - 1] = line[:start] + change + line[end:]
    return "".join(lines)


def checked(text: str, where: object) -> FileResult:
    """The result of all rules, which must not be a failure, nor stand outside the text."""
    result = analyze(text, str(where), EVERYTHING, always_parse=True)
    return sound(result, len(split_lines(text)) + 1, where)


def sound(result: FileResult, lines: int, where: object) -> FileResult:
    failures = [finding.message for finding in result.findings if finding.code == "LAY901"]
    assert not failures, f"{where}: {failures}\n{result.notes[-1]}"
    for finding in result.findings:
        assert 1 <= finding.span.line <= finding.span.end_line <= lines, (where, finding)
    return result


def installed() -> list[Path]:
    """All Python of the standard library, its tests included, and of this environment."""
    folders = dict.fromkeys(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
    return list(dict.fromkeys(path for folder in folders for path in sorted(Path(folder).rglob("*.py"))))


def texts_of(paths: list[Path]) -> Iterator[tuple[Path, str]]:
    """The files that can be read at all, with their texts."""
    for path in paths:
        try:
            yield path, read(str(path)).text
        except UnreadableSource:
            continue
