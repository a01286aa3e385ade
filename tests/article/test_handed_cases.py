"""Small programs after public reports, where they are at hand: exactly the marked findings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torchlayout.check.engine import check
from torchlayout.check.settings import Settings

FOLDER = Path(__file__).parents[3] / "shared" / "cases"
FILES = sorted(FOLDER.glob("*.py"))
MEETS = {
    "view-error": {"LAY101", "LAY102"}, "dtype-view": {"LAY103"}, "negative-stride": {"LAY104"},
    "overlap-write": {"LAY105"}, "needs-contiguous": {"LAY103", "LAY106", "LAY107"}, "discarded": {"LAY202"},
    "redundant": {"LAY201", "LAY203"}, "avoidable": {"LAY203", "LAY204", "LAY402"}, "in-loop": {"LAY301", "LAY302"},
}  # fmt: skip
MARK = re.compile(r"#\s*(?:expect(?:-cuda|-static)?:\s*([a-z-]+)|(ok))\s*$")


@pytest.mark.skipif(not FILES, reason="the folder of handed cases is not beside this checkout")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_marks_are_met_and_nothing_else_is_said_there(path: Path) -> None:
    text = path.read_text()
    codes: dict[int, set[str]] = {}
    for finding in check(text, path.name, Settings(extend_select=("LAY402",))):
        codes.setdefault(finding.span.line, set()).add(finding.code)
    for row, line in enumerate(text.splitlines(), 1):
        mark = MARK.search(line)
        found = codes.get(row, set())
        if mark and mark[2]:
            assert not any(code.startswith(("LAY1", "LAY2")) or code == "LAY301" for code in found), f"line {row}"
        elif mark:
            assert found & MEETS[mark[1]], f"line {row}: {mark[1]}"
