"""A Jupyter notebook as one Python program, and edits of the program as edits of the notebook's file.

Vocabulary: *cell number* (1-based, counting all cells, as a reader counts them), *program* (the code cells in
order, each ending with a line break), *raw* (the notebook file's own text, JSON).

Nothing but the `source` of changed cells is ever rewritten: outputs, metadata, the order of keys, indentation and
line ends of the file stay as they are.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from torchlayout.notebooks.magics import Magics, unused
from torchlayout.notebooks.pasting import BLOCK, is_indented, with_prompts, without_prompts

_SPACE = re.compile(r"[ \t\r\n]*")
_decode = json.JSONDecoder().raw_decode


class NotebookError(ValueError):
    """The file is no notebook that this module reads; the message says why."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell: its number, its text, and where its `source` stands in the raw text."""

    number: int
    text: str
    start: int
    end: int

    @property
    def lines(self) -> list[str]:
        """A last line break opens no further line; an empty cell has one empty line."""
        return self.text.removesuffix("\n").split("\n")


class Notebook:
    """One notebook file. `program` is what is checked: the code cells, each under a comment that names it.

    A notebook of another language has an empty program.
    """

    def __init__(self, raw: str) -> None:
        """Read the file's text; NotebookError where it is not a notebook of format 4."""
        self.raw = raw
        self.cells = _read(raw)
        self._magics = Magics(raw)
        self._rule = unused("# %% cell", raw)
        self._heads: list[int] = []  # of each code cell: the 1-based line of its comment in the program
        self._checked: list[list[str]] = []  # of each code cell: its lines in the program
        lines: list[str] = []
        for cell in self.cells:
            checked = self._magics.to_python(without_prompts(cell.lines))
            lines.append(f"{BLOCK if is_indented(checked) else ''}{self._rule} {cell.number}")
            self._heads.append(len(lines))
            self._checked.append(checked)
            lines += checked
        self.program = "".join(f"{line}\n" for line in lines)

    def place(self, line: int) -> tuple[int, int]:
        """Cell number and line in that cell (both 1-based) of a line of the program."""
        if not self.cells:
            return 1, line
        index = self._index(line)
        return self.cells[index].number, max(1, line - self._heads[index])

    def _index(self, line: int) -> int:
        return max(0, bisect_left(self._heads, line) - 1)

    def line_of(self, cell: int, row: int) -> int | None:
        """The line of the program for a row (from 1) of a code cell; None where there is none."""
        for head, found in zip(self._heads, self.cells, strict=True):
            if found.number == cell and 1 <= row <= len(found.lines):
                return head + row
        return None

    def bounds(self, line: int) -> tuple[int, int, int]:
        """The first and last line of the program in the cell of a line, and what to take from a line of the program
        to have the line in the cell."""
        if not self.cells:
            return 1, line, 0
        index = self._index(line)
        head = self._heads[index]
        return head + 1, head + len(self.cells[index].lines), head

    def raw_line(self, line: int) -> int:
        """The line of the notebook's file (1-based) that holds a line of the program."""
        if not self.cells:
            return 1
        index = self._index(line)
        cell = self.cells[index]
        row = max(1, line - self._heads[index])
        offset = cell.start
        if self.raw[offset] == "[":
            # Usually the list has an item for each line; where it does not, the cell's start is near enough.
            places = list(_items(self.raw, cell.start))
            offset = places[row - 1][0] if len(places) == len(cell.lines) else cell.start
        return self.raw.count("\n", 0, offset) + 1

    def restore(self, text: str) -> str:
        """A text of the program, before or after edits, or a part of it, with magics as their author wrote them; in
        a whole program with prompts too."""
        parts = self._parts(text)
        if parts is None:
            return self._magics.restore(text)
        return "".join(f"{head}{body}" for head, body in zip(parts[::2], self._bodies(parts[1::2]), strict=True))

    def with_program(self, program: str) -> str:
        """The notebook's raw text after edits of the program; the comments that name the cells must be in place.

        ValueError where they are not.
        """
        texts = self.texts(program)
        parts = []
        position = 0
        for cell, text in zip(self.cells, texts, strict=True):
            if text != cell.text:
                parts += [self.raw[position : cell.start], _encode(self.raw, cell, text)]
                position = cell.end
        return "".join(parts) + self.raw[position:]

    def texts(self, program: str) -> list[str]:
        """The text of each code cell in a changed program, magics and prompts put back; ValueError as above."""
        parts = self._parts(program)
        if parts is None:
            raise ValueError("a fix moved code between cells")
        return [
            body if cell.text.endswith("\n") else body.removesuffix("\n")
            for cell, body in zip(self.cells, self._bodies(parts[1::2]), strict=True)
        ]

    def _parts(self, program: str) -> list[str] | None:
        """For each code cell the line that names it, and the text below; None if the text is not all of them."""
        _, *parts = re.split(rf"^((?:{BLOCK})?{self._rule} \d+\n)", program, flags=re.MULTILINE)
        named = [int(head.rpartition(" ")[2]) for head in parts[::2]]
        return parts if named == [cell.number for cell in self.cells] else None

    def _bodies(self, texts: list[str]) -> Iterator[str]:
        """The texts of all cells in a program, as their author wrote them."""
        for cell, checked, text in zip(self.cells, self._checked, texts, strict=True):
            if without_prompts(cell.lines) != cell.lines:
                lines = with_prompts(cell.lines, checked, text.removesuffix("\n").split("\n"))
                text = "".join(f"{line}\n" for line in lines)
            yield self._magics.restore(text)


def _read(raw: str) -> list[Cell]:
    """The code cells, if the notebook's language is Python."""
    try:
        content, _ = _decode(raw, _skip(raw, 0))
    except (ValueError, RecursionError) as error:
        raise NotebookError(f"not a notebook: invalid JSON: {error}") from None
    if not isinstance(content, dict) or not isinstance(content.get("nbformat"), int):
        raise NotebookError("not a notebook: no `nbformat`")
    if content["nbformat"] < 4:
        raise NotebookError(f"notebook format {content['nbformat']} is too old; `jupyter nbconvert` makes it format 4")
    if not isinstance(content.get("cells"), list):
        raise NotebookError("not a notebook: no list of `cells`")
    if _language(content) != "python":
        return []
    cells = list(_code_cells(raw, content["cells"]))
    for cell in cells:
        if "\r" in cell.text.replace("\r\n", ""):
            raise NotebookError(f"cell {cell.number} holds a carriage return without a line feed")
    return cells


def _language(content: dict[str, Any]) -> str:
    metadata = content.get("metadata")
    for key, field in (("language_info", "name"), ("kernelspec", "language")):
        part = metadata.get(key) if isinstance(metadata, dict) else None
        if isinstance(part, dict) and isinstance(part.get(field), str):
            return str(part[field]).lower()
    return "python"


def _code_cells(raw: str, cells: list[Any]) -> Iterator[Cell]:
    start = _members(raw, _skip(raw, 0))["cells"][0]
    for number, (cell, (begin, _)) in enumerate(zip(cells, _items(raw, start), strict=True), 1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source")
        if isinstance(source, list) and all(isinstance(part, str) for part in source):
            source = "".join(source)
        if not isinstance(source, str):
            raise NotebookError(f"not a notebook: cell {number} has no `source`")
        yield Cell(number, source, *_members(raw, begin)["source"])


# ---------------------------------------------------------------- places in the raw text
def _skip(raw: str, position: int) -> int:
    match = _SPACE.match(raw, position)
    return match.end() if match else position


def _members(raw: str, start: int) -> dict[str, tuple[int, int]]:
    """Where the values of a JSON object's members stand; `start` is its brace. The raw text is valid JSON."""
    found = {}
    position = _skip(raw, start + 1)
    while raw[position] != "}":
        key, position = scanstring(raw, position + 1, True)
        position = _skip(raw, _skip(raw, position) + 1)
        _, end = _decode(raw, position)
        found[key] = (position, end)
        position = _skip(raw, end)
        if raw[position] == ",":
            position = _skip(raw, position + 1)
    return found


def _items(raw: str, start: int) -> Iterator[tuple[int, int]]:
    """Where the items of a JSON array stand; `start` is its bracket."""
    position = _skip(raw, start + 1)
    while raw[position] != "]":
        _, end = _decode(raw, position)
        yield position, end
        position = _skip(raw, end)
        if raw[position] == ",":
            position = _skip(raw, position + 1)


def _encode(raw: str, cell: Cell, text: str) -> str:
    """`text` as JSON in the style of the cell's present source; lines that stay keep their very spelling."""
    old = raw[cell.start : cell.end]
    ascii_only = "\\u" in old
    if not old.startswith("["):
        return json.dumps(text, ensure_ascii=ascii_only)
    places = list(_items(raw, cell.start))
    spelt = {json.loads(raw[start:end]): raw[start:end] for start, end in places}
    if not places:
        return json.dumps([text], ensure_ascii=ascii_only)
    lead = raw[cell.start + 1 : places[0][0]]
    trail = raw[places[-1][1] : cell.end - 1]
    between = raw[places[0][1] : places[1][0]] if len(places) > 1 else f",{lead}" if lead else ", "
    lines = text.splitlines(keepends=True) if "\n" not in text else re.findall(r"[^\n]*\n|[^\n]+", text)
    literals = [spelt.get(line) or json.dumps(line, ensure_ascii=ascii_only) for line in lines]
    return f"[{lead}{between.join(literals)}{trail}]"
