"""IPython's own syntax, made Python without moving anything, and back.

A code cell may hold lines that only IPython understands: `%magic`, `%%cell magic`, `!shell`, `help?`,
`files = !ls`. Each is replaced, on its own line, by a *stand-in*: `get_ipython(7)`, a call that does something
unknown. Its number is that of the replaced fragment, so that the author's text can be put back after fixes.
Lines keep their numbers, and what is Python keeps its columns.
"""

from __future__ import annotations

import re

from torchlayout.notebooks.pasting import is_python

# Cell magics whose cell is Python that runs in the notebook's own namespace.
_PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun", "memit", "mprun"})

_CELL_MAGIC = re.compile(r"[ \t]*%%(\w+)")
_ESCAPED = re.compile(r"[ \t]*(?=[%!/,;?])")
_HELP = re.compile(r"[ \t]*(?=[\w.*%]+\?\??[ \t]*(?:#.*)?$)")
_ASSIGNED = re.compile(r"[ \t]*[\w.,\[\]\"' *()]+?[ \t]*=[ \t]*(?=[!%])")
_TIMED = re.compile(r"[ \t]*(?=%time[ \t]+(\S.*))")

# `%time y = f()` binds y. As long as `%time`, so that columns stay.
_TIME, _IF = "%time", "if 1:"

# What may hide a line's beginning: strings, comments and brackets.
_TOKEN = re.compile(
    r"""(?P<triple>\"{3}|'{3})|(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?P<comment>\#.*)|"""
    r"""(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<joined>\\$)"""
)


class Magics:
    """The replaced fragments of one notebook, whose file's text is `raw`."""

    def __init__(self, raw: str) -> None:
        self._fragments: list[str] = []
        # Where an author wrote the very words that stand for %time, the two could not be told apart afterwards.
        self._keeps_time = _IF not in raw
        self._word = unused("get_ipython", raw)
        self._pattern = re.compile(rf"(?:# )?{self._word}\((\d+)\)")

    def to_python(self, lines: list[str]) -> list[str]:
        """A cell's lines with IPython's syntax replaced; as many lines as before.

        A cell of another language (`%%bash`, `%%html`) becomes stand-ins altogether.
        """
        if is_python("\n".join(lines)):
            return lines
        first = next((i for i, line in enumerate(lines) if line.strip()), 0)
        magic = _CELL_MAGIC.match(lines[first])
        if magic and magic[1] not in _PYTHON_CELLS:
            rest = [self._stand_in(line, "# ") for line in lines[first + 1 :]]
            return [*lines[:first], self._own_line(lines[first]), *rest]
        if magic:
            rest = self._plain_lines(lines[first + 1 :])
            return [*lines[:first], self._own_line(lines[first]), *rest]
        return self._plain_lines(lines)

    def restore(self, text: str) -> str:
        """The text with the authors' fragments in place of their stand-ins."""
        text = self._pattern.sub(self._fragment, text)
        return re.sub(rf"^([ \t]*){_IF}", rf"\g<1>{_TIME}", text, flags=re.MULTILINE) if self._keeps_time else text

    def _fragment(self, match: re.Match[str]) -> str:
        number = int(match[1])
        return self._fragments[number] if number < len(self._fragments) else match[0]

    def _stand_in(self, fragment: str, prefix: str = "") -> str:
        self._fragments.append(fragment)
        return f"{prefix}{self._word}({len(self._fragments) - 1})"

    def _own_line(self, line: str) -> str:
        """A stand-in for a line, as far to the right as it stood."""
        text = line.lstrip(" \t")
        return line[: len(line) - len(text)] + self._stand_in(text)

    def _plain_lines(self, lines: list[str]) -> list[str]:
        result: list[str] = []
        scan = _Scanner()
        joined = False  # the line before was a magic that goes on here
        for line in lines:
            timed = _timed(line) if scan.at_start and self._keeps_time and not joined else None
            if joined:
                result.append(self._stand_in(line, "# "))
            elif timed is None and scan.at_start and (start := _magic_start(line)) is not None:
                result.append(line[:start] + self._stand_in(line[start:]))
            else:
                scan.feed(line)
                result.append(timed or line)
                continue
            joined = line.endswith("\\")
        return result


def _timed(line: str) -> str | None:
    """A line such as `%time y = f()` as Python; None for other lines, and where no simple statement follows."""
    match = _TIMED.match(line)
    if not match:
        return None
    kept = line[: match.end()] + _IF + line[match.end() + len(_TIME) :]
    return kept if is_python(kept.strip()) else None


def _magic_start(line: str) -> int | None:
    """The column where IPython's syntax starts on a line that begins a statement; None for Python."""
    for pattern in (_ESCAPED, _HELP, _ASSIGNED):
        if match := pattern.match(line):
            return match.end()
    return None


def unused(word: str, text: str) -> str:
    """The word, lengthened until the text does not hold it."""
    while word in text:
        word += "_"
    return word


class _Scanner:
    """Tells where statements begin, as far as brackets, strings and backslashes decide it."""

    def __init__(self) -> None:
        self._depth = 0
        self._quote = ""
        self._joined = False

    @property
    def at_start(self) -> bool:
        return not (self._depth or self._quote or self._joined)

    def feed(self, line: str) -> None:
        self._joined = False
        position = 0
        while True:
            if self._quote:
                end = line.find(self._quote, position)
                if end < 0:
                    return
                position = end + len(self._quote)
                self._quote = ""
            match = _TOKEN.search(line, position)
            if not match or match["comment"]:
                return
            position = match.end()
            self._quote = match["triple"] or ""
            self._depth = max(0, self._depth + bool(match["open"]) - bool(match["close"]))
            self._joined = match.lastgroup == "joined"
