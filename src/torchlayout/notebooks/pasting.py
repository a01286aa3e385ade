"""Cells as they were pasted: indented as a whole, or with the prompts of a session before each line.

IPython straightens such a cell before it runs it. Here nothing moves: blanks take the place of prompts, and what is
indented then is made a block, by `BLOCK` before the comment that names the cell. Lines and columns stay what they are.
"""

from __future__ import annotations

import ast
import re
import warnings
from difflib import SequenceMatcher

BLOCK = "if True:  "
"""What stands on the line before an indented cell."""

_IN = r"(?:\[(?:nav|ins)\] )?In \[\d+\]: "
_FIRST = re.compile(rf"[ \t]*(?:>>>(?:[ \t]|$)|{_IN})")
_PROMPT = re.compile(rf"[ \t]*(?:(?:>>>|\.\.\.)(?:[ \t]|$)|{_IN}|\.{{3,}}: ?)")


def without_prompts(lines: list[str]) -> list[str]:
    """The lines with blanks for prompts, if the first that is not empty has one."""
    if not _FIRST.match(_first_of(lines)):
        return lines
    return [" " * len(prompt := _prompt(line)) + line[len(prompt) :] for line in lines]


def with_prompts(written: list[str], checked: list[str], mended: list[str]) -> list[str]:
    """The lines `mended` with the prompts of their author.

    `written` are the lines of a cell as they were, `checked` the same as they were checked, before they were mended.
    """
    result: list[str] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, checked, mended, autojunk=False).get_opcodes():
        if tag == "equal":
            result += written[i1:i2]
            continue
        for j in range(j1, j2):
            # A line that has none before it goes on from the last that has.
            before = min(i1 + j - j1, max(i1, i2 - 1), len(written) - 1)
            prompt = _prompt(written[before])
            line = mended[j]
            is_free = not line[: len(prompt)].strip()
            result.append(prompt + line[len(prompt) :] if is_free else line)
    return result


def is_indented(lines: list[str]) -> bool:
    """Whether the lines are Python as a block, and not as they stand."""
    text = "\n".join(lines)
    return _first_of(lines)[:1] in (" ", "\t") and not is_python(text) and is_python(f"{BLOCK}\n{text}")


def is_python(text: str) -> bool:
    """Whether Python can parse the text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _first_of(lines: list[str]) -> str:
    return next((line for line in lines if line.strip()), "")


def _prompt(line: str) -> str:
    match = _PROMPT.match(line)
    return match[0] if match else ""
