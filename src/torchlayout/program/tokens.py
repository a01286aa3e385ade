"""The tokens of a piece of source, and the cursor that gives lowered nodes their spans.

libcst nodes carry no positions, and its position provider costs three times the parse. The tree is lossless
and lowering walks it in source order, so one regular expression over the same text tells where each of its
words stands: the walk asks for the next `view`, the next `[`, the next `+`, and gets its place.

Left out of the tokens, for the walk never asks for them: comments, white space, closing brackets, commas,
semicolons. F-strings (and t-strings) are taken apart by hand into their opening (`f"`) and the tokens of
their replacement fields, under the rules of PEP 701, whatever Python runs this.
"""

from __future__ import annotations

import re
from functools import lru_cache

from torchlayout.program.spans import Span

_TOKEN = re.compile(
    r"""
      ( (?:[rR][bB]?|[bB][rR]?|[uU])?                                   # 1: anything but an f-string
        (?: \"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*\"{3}
          | '{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'{3}
          | "[^"\\\n]*(?:\\.[^"\\\n]*)*"
          | '[^'\\\n]*(?:\\.[^'\\\n]*)*' )
      | (?!(?:[fFtT][rR]?|[rR][fFtT])["'])[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*
      | 0[xX][0-9a-fA-F_]+ | 0[bB][01_]+ | 0[oO][0-7_]+
      | (?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9][0-9_]*)?[jJ]?
      | -> | \.\.\. | \*\*=? | //=? | <<=? | >>=? | [-+*/%@&|^<>=!:]=? | [.~\[({]
      )
    | ((?:[fFtT][rR]?|[rR][fFtT])(?:\"{3}|'{3}|"|'))                    # 2: the opening of an f-string
    | \#[^\n]*
    """,
    re.VERBOSE | re.DOTALL,
)
_STRING_PART = re.compile(r"[^{}\\\"']+", re.DOTALL)
_new = tuple.__new__  # half the time of `Span(...)`
MAX_FIELD_DEPTH = 100
"""Replacement fields inside one another; CPython refuses 150."""


class BadTokens(Exception):
    """The text does not fit the tree, or nests f-strings deeper than `MAX_FIELD_DEPTH`."""


def tokenize(text: str) -> tuple[list[str], list[int]]:
    """The tokens of `text` and their offsets."""
    words: list[str] = []
    offsets: list[int] = []
    add_word, add_offset = words.append, offsets.append
    position, end = 0, len(text)
    while position < end:
        for match in _TOKEN.finditer(text, position):
            kind = match.lastindex
            if kind == 1:
                add_word(match[1])
                add_offset(match.start())
            elif kind == 2:
                position = _formatted(text, match, words, offsets, 0)
                break
        else:
            break
    return words, offsets


def _formatted(text: str, opening: re.Match[str], words: list[str], offsets: list[int], depth: int) -> int:
    """Take an f-string apart; returns the offset behind its closing quote."""
    if depth > MAX_FIELD_DEPTH:
        raise BadTokens("f-strings nested too deeply")
    start = opening[0]
    words.append(start)
    offsets.append(opening.start())
    prefix = start.rstrip("\"'")
    return _literal(text, opening.end(), start[len(prefix) :], "r" in prefix.lower(), words, offsets, depth)


def _literal(
    text: str,
    position: int,
    quote: str,
    raw: bool,
    words: list[str],
    offsets: list[int],
    depth: int,
    spec: bool = False,
) -> int:
    """Walk the literal part of an f-string, or of a format specification, which ends at `}`."""
    end = len(text)
    while position < end:
        part = _STRING_PART.match(text, position)
        if part:
            position = part.end()
            continue
        character = text[position]
        if character == "{":
            if not spec and text.startswith("{{", position):
                position += 2
            else:
                position = _field(text, position + 1, quote, raw, words, offsets, depth + 1)
        elif character == "}":
            if spec:
                return position
            position += 1
        elif text.startswith(quote, position):
            return position if spec else position + len(quote)
        elif character == "\\":
            if not raw and text.startswith("\\N{", position):
                position = text.find("}", position) + 1 or end
            elif text.startswith(("\\{", "\\}"), position):
                position += 1
            else:
                position += 2
        else:
            position += 1
    return end


@lru_cache(maxsize=1)
def _in_field() -> re.Pattern[str]:
    """As `_TOKEN`, with the closing brackets too."""
    return re.compile(r"[)\]}]|" + _TOKEN.pattern, re.VERBOSE | re.DOTALL)


def _field(text: str, position: int, quote: str, raw: bool, words: list[str], offsets: list[int], depth: int) -> int:
    """Walk a replacement field from behind its `{` to behind its `}`."""
    if depth > MAX_FIELD_DEPTH:
        raise BadTokens("f-strings nested too deeply")
    pattern = _in_field()
    brackets = 0
    while match := pattern.search(text, position):
        word, position = match[0], match.end()
        if match.lastindex == 2:
            position = _formatted(text, match, words, offsets, depth + 1)
            continue
        if not brackets:
            if word == "}":
                return position
            if word in (":", ":="):
                position = _literal(text, match.start() + 1, quote, raw, words, offsets, depth, spec=True)
                continue
            if word == "!":
                conversion = pattern.search(text, position)
                position = conversion.end() if conversion else position
                continue
        if word in "([{":
            brackets += 1
        elif word in ")]}":
            brackets -= 1
            continue
        if match.lastindex == 1:
            words.append(word)
            offsets.append(match.start())
    return len(text)


class Cursor:
    """Gives the place of each word that the walk asks for, in source order.

    `lines` holds the number in the file of each line of `text`, and `shifts` how many characters in front of
    some lines were taken away.
    """

    __slots__ = ("_at", "_index", "_line", "_lines", "_next", "_offsets", "_row", "_shifts", "_start", "_text", "words")

    def __init__(self, text: str, lines: list[int], shifts: dict[int, int]) -> None:
        self.words, self._offsets = tokenize(text)
        self._index = self.words.index
        self._at = 0
        self._text = text
        self._lines = lines
        self._shifts = shifts
        self._row = -1
        self._next = 0
        self._advance(0)

    def _advance(self, offset: int) -> None:
        """Move to the line that holds `offset`."""
        row, following, find = self._row, self._next, self._text.find
        while offset >= following:
            start = following
            following = find("\n", start) + 1 or len(self._text) + 1
            row += 1
        self._row, self._next = row, following
        self._line = self._lines[row] if row < len(self._lines) else self._lines[-1] + 1
        self._start = start - self._shifts.get(self._line, 0)

    def take(self, word: str) -> Span:
        """The span of the next `word`, which must lie on one line."""
        try:
            at = self._index(word, self._at)
        except ValueError:
            raise BadTokens(word) from None
        self._at = at + 1
        offset = self._offsets[at]
        if offset >= self._next:
            self._advance(offset)
        column = offset - self._start
        line = self._line
        return _new(Span, (line, column, line, column + len(word)))

    def take_text(self, word: str) -> Span:
        """The span of the next `word`, which may run over several lines (a string)."""
        span = self.take(word)
        if "\n" not in word:
            return span
        last = word.rfind("\n") + 1
        row = self._row + word.count("\n")
        end_line = self._lines[row] if row < len(self._lines) else self._lines[-1]
        return Span(span.line, span.column, end_line, len(word) - last + self._shifts.get(end_line, 0))

    def skip_to(self, word: str) -> None:
        """Go behind the next `word` without asking where it is."""
        try:
            self._at = self._index(word, self._at) + 1
        except ValueError:
            raise BadTokens(word) from None

    def skip_if_next(self, word: str) -> None:
        """Go behind `word` if it is the very next."""
        if self._at < len(self.words) and self.words[self._at] == word:
            self._at += 1


def comments(text: str) -> bool:
    """Whether a piece of source holds a comment (a `#` in a string is none), or may, being too deep to tell."""
    position = 0
    while match := _TOKEN.search(text, position):
        position = match.end()
        if match.lastindex is None:
            return True
        if match.lastindex == 2:
            try:
                position = _formatted(text, match, [], [], 0)
            except BadTokens:
                return True
    return False
