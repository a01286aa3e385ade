"""Literate tests: Markdown files of small programs, with what the linter knows beside the code.

Each block of Python under a heading is one program. In it,

- `reveal_layout(x)  # revealed: [B, C] stride (C, 1) contiguous` says what is known of `x` there. Sizes and strides
  are as in the source, "?" where one is unknown, "*" for dimensions of unknown number; "contiguous", "strided" (not
  contiguous) or neither where that is not known. Alternatives are parted by " | ". What holds if inputs are contiguous
  and no size is 1 follows behind "; assumed", if it says more.
- `# LAY101` at the end of a line says that this code is reported there; no other codes may be.
- `# runs: f(torch.randn(2, 3))` evaluates the expression on torch after running the program; what torch then has at
  each `reveal_layout` must fit what the linter says. `# raises: f(...)` is the same for a call that torch refuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

CASES = Path(__file__).parent / "cases"
_HEADING = re.compile(r"#+ (.*)")
_REVEALED = re.compile(r"reveal_layout\(.*#\s*revealed: (.*?)\s*$")
_CODES = re.compile(r"#\s*(LAY\d{3}(?:,\s*LAY\d{3})*)\s*$")
_RUNS = re.compile(r"\s*# (runs|raises): (.*)")
PREAMBLE = (
    "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nfrom torchlayout import reveal_layout\n"
)


@dataclass
class Program:
    """One block: its source with the usual imports before it, and what is expected of it."""

    name: str
    source: str
    reveals: dict[int, str] = field(default_factory=dict)
    codes: dict[int, list[str]] = field(default_factory=dict)
    runs: list[tuple[str, str]] = field(default_factory=list)
    """("runs" or "raises", an expression)."""


def programs(path: Path) -> Iterator[Program]:
    """The programs of a file, named after its headings."""
    heading, count, block = path.stem, 0, None
    for line in path.read_text(encoding="utf-8").splitlines():
        if block is not None:
            if line.strip() == "```":
                yield program(f"{path.stem}: {heading}" + (f" ({count})" if count > 1 else ""), "\n".join(block) + "\n")
                block = None
            else:
                block.append(line)
        elif line.strip() == "```python":
            block, count = [], count + 1
        elif match := _HEADING.match(line):
            heading, count = match[1], 0


def program(name: str, body: str) -> Program:
    found = Program(name, PREAMBLE + body)
    for number, line in enumerate(found.source.splitlines(), 1):
        if match := _RUNS.match(line):
            found.runs.append((match[1], match[2]))
        elif match := _REVEALED.search(line):
            found.reveals[number] = match[1]
        elif match := _CODES.search(line):
            found.codes[number] = sorted(re.split(r",\s*", match[1]))
    return found


def all_programs() -> list[Program]:
    return [found for path in sorted(CASES.glob("*.md")) for found in programs(path)]
