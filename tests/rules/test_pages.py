"""The pages of the rules: complete, true, and up to date."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import torchlayout
from torchlayout import Settings, rules
from torchlayout.check.selection import OWN_CODES
from torchlayout.rules import BY_CODE, PRECEDENCE, RULES, Rule, pages, sink_words
from torchlayout.rules.base import HEADINGS

DOCS = Path(__file__).parents[2] / "docs"
EACH = pytest.mark.parametrize("rule", RULES, ids=[rule.code for rule in RULES])


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in RULES}) == len({rule.name for rule in RULES}) == len(RULES)


def test_every_file_is_a_rule_and_is_called_after_it() -> None:
    files = [m.name for m in pkgutil.iter_modules(rules.__path__) if m.name.startswith("lay")]
    assert len(files) == len(RULES)
    for name in files:
        code, _, words = name.partition("_")
        rule = BY_CODE[code.upper()]
        assert rule.name == words.replace("_", "-")
        assert type(rule).__name__ == "".join(part.capitalize() for part in words.split("_"))
        module = importlib.import_module(f"torchlayout.rules.{name}")
        classes = [c for c in vars(module).values() if isinstance(c, type) and issubclass(c, Rule) and c is not Rule]
        assert classes == [type(rule)]


@EACH
def test_pages_have_all_headings_in_order(rule: Rule) -> None:
    found = list(pages.sections(rule.docs))
    wanted = [heading for heading in HEADINGS if heading != "Fix safety" or rule.fixable]
    assert found == wanted
    assert all(pages.sections(rule.docs).values())


@EACH
def test_rules_have_examples_of_every_kind(rule: Rule) -> None:
    if rule.code in OWN_CODES:
        assert rule.name == OWN_CODES[rule.code]
        return
    assert rule.invalid and rule.valid and rule.words
    assert rule.near_misses or rule.code == "LAY900"
    for example in (*rule.invalid, *rule.valid, *rule.near_misses):
        assert example.note and not example.note.endswith(".")


@EACH
def test_the_page_s_example_is_reported_and_what_to_use_instead_is_not(rule: Rule) -> None:
    if rule.code in OWN_CODES:
        return
    parts = pages.sections(rule.docs)
    settings = Settings(select=(rule.code,))
    for text in pages.code_blocks(parts["Example"]):
        assert torchlayout.check(text, settings=settings), text
    (better,) = pages.code_blocks(parts["Use instead"])
    assert not torchlayout.check(better, settings=Settings())


@EACH
def test_lines_of_code_on_pages_are_short_enough_to_read(rule: Rule) -> None:
    for text in pages.code_blocks(pages.page(rule)):
        assert max(map(len, text.split("\n"))) <= 100


@pytest.mark.parametrize("name", [*(f"{code}.md" for code in BY_CODE), "index.md"])
def test_docs_are_up_to_date(name: str) -> None:
    wanted = pages.index() if name == "index.md" else pages.page(BY_CODE[name.removesuffix(".md")])
    command = "python -m torchlayout.rules.pages docs/rules"
    assert (DOCS / "rules" / name).read_text(encoding="utf-8") == wanted, f"stale: {command}"


def test_docs_hold_no_page_of_a_code_that_is_gone() -> None:
    assert {path.stem for path in (DOCS / "rules").glob("*.md")} == {*BY_CODE, "index"}


def test_precedence_names_codes_that_exist() -> None:
    assert {code for group in PRECEDENCE for code in group} <= set(BY_CODE)


def test_sink_words_are_those_of_the_codes_asked_for() -> None:
    assert sink_words(["LAY201"]) == {".contiguous"}
    assert sink_words([]) == frozenset()
    assert "LAY101" not in sink_words(BY_CODE)


def test_sink_words_that_count_beside_others_only() -> None:
    text = "x.add_(1)"
    assert not sink_words(["LAY105"], text)
    assert ".add_( of shared" in sink_words(["LAY105"], text + "\ny.expand(2, 3)")


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("import torch.distributed as dist", True),
        ("from torch import distributed as dist, nn", True),
        ("from torch import (\n    distributed,\n    nn,\n)", True),
        ("from torch import nn, distributed\ndistributed.send(x)", True),
        ("# software distributed under the License is distributed on an AS IS basis", False),
    ],
)
def test_collectives_count_where_torch_distributed_is_imported(text: str, counts: bool) -> None:
    assert bool(sink_words(["LAY106"], text)) is counts


def test_links_of_pages_lead_to_pages_that_exist() -> None:
    for rule in RULES:
        for target in re.findall(r"\]\((?!https?:)([^)]+)\)", pages.page(rule)):
            assert (DOCS / "rules" / target).resolve().exists(), (rule.code, target)
