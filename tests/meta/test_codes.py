"""The codes that rules have are those that the documentation speaks of, everywhere."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from torchlayout.check.selection import OWN_CODES, known_codes
from torchlayout.check.settings import DEFAULT_SELECT
from torchlayout.cli.catalog import name_of, summary_of
from torchlayout.rules import RULES

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"\bLAY\d{3}\b")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_codes_are_distinct_and_well_formed() -> None:
    codes = [rule.code for rule in RULES]
    assert codes == sorted(set(codes))
    assert all(CODE.fullmatch(code) for code in codes)
    names = {rule.code: rule.name for rule in RULES}
    assert len(set(names.values())) == len(names)
    assert names.items() >= OWN_CODES.items()


def test_every_group_is_on_but_the_advice() -> None:
    groups = {code[:4] for code in known_codes()}
    assert groups - {"LAY4"} == set(DEFAULT_SELECT)


def table(folder: str) -> str:
    """The table of all codes, with links to the pages of rules in a folder."""
    rows = ["| code | name | reports |", "| --- | --- | --- |"]
    for code in known_codes():
        summary = summary_of(code).removeprefix("Reports ").rstrip(".").replace("|", "\\|")
        rows.append(f"| [{code}]({folder}/{code}.md) | {name_of(code)} | {summary} |")
    return "\n".join(rows)


@pytest.mark.parametrize(("page", "folder"), [("README.md", "docs/rules"), ("docs/index.md", "rules")])
def test_tables_of_codes(page: str, folder: str) -> None:
    """With RENEW=1 in the environment the tables are written anew instead."""
    begin, end = "<!-- codes -->\n", "<!-- end of codes -->"
    before, _, rest = read(page).partition(begin)
    found, _, after = rest.partition(end)
    if os.environ.get("RENEW"):
        (ROOT / page).write_text(f"{before}{begin}{table(folder)}\n{end}{after}", encoding="utf-8")
        return
    assert found.strip() == table(folder), "renew with: RENEW=1 pytest tests/meta/test_codes.py"


def test_pages_of_rules() -> None:
    pages = {path.stem for path in (ROOT / "docs" / "rules").glob("LAY*.md")}
    assert pages == {rule.code for rule in RULES}


def test_the_changelog_tells_of_every_code() -> None:
    assert set(CODE.findall(read("CHANGELOG.md"))) == set(known_codes())


@pytest.mark.parametrize("page", sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")))
def test_pages_speak_only_of_codes_that_exist(page: str) -> None:
    assert set(CODE.findall(read(page))) - {"LAY777", "LAY999"} <= set(known_codes())
