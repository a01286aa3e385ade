"""Every example of every rule, linted: exactly the marked lines are reported, and fixes give what is promised."""

from __future__ import annotations

import pytest
from programs import examples, marks, without_marks

import torchlayout
from torchlayout import Settings
from torchlayout.fixing.engine import fix_text
from torchlayout.rules import BY_CODE
from torchlayout.rules.base import Example
from torchlayout.rules.finding import Safety

ALL = [pytest.param(c, e, id=i) for c, i, e in examples("invalid", "valid", "near_misses")]


def settings_for(code: str) -> Settings:
    return Settings(extend_select=(code,))


@pytest.mark.parametrize(("code", "example"), ALL)
def test_exactly_the_marked_lines_are_reported(code: str, example: Example) -> None:
    found = torchlayout.check(example.source, settings=settings_for(code))
    assert [(f.span.line, f.code) for f in found] == marks(example.source), [f.message for f in found]


@pytest.mark.parametrize(("code", "example"), ALL)
def test_messages_are_one_line(code: str, example: Example) -> None:
    for finding in torchlayout.check(example.source, settings=settings_for(code)):
        assert finding.message and "\n" not in finding.message
        assert not finding.message.endswith(".") and "None" not in finding.message


@pytest.mark.parametrize(
    ("code", "example"), [pytest.param(c, e, id=i) for c, i, e in examples("invalid") if e.fixed is not None]
)
def test_fixes_give_what_the_example_promises(code: str, example: Example) -> None:
    source = without_marks(example.source)
    expected = source
    for old, new in example.fixed or ():
        assert old in expected
        expected = expected.replace(old, new)

    def check(text: str) -> list[torchlayout.Finding]:
        return torchlayout.check(text, settings=Settings(select=(code,)))

    fixed = fix_text(source, check, Safety.UNSAFE)
    assert fixed.text == expected
    assert not [finding for finding in fixed.findings if finding.code == code and finding.fix is not None]


@pytest.mark.parametrize(
    ("code", "example"), [pytest.param(c, e, id=i) for c, i, e in examples("invalid") if e.fixed is None]
)
def test_examples_without_a_fix_have_none(code: str, example: Example) -> None:
    found = torchlayout.check(example.source, settings=Settings(select=(code,)))
    assert found
    assert not [finding for finding in found if finding.fix is not None]


def test_rules_that_offer_fixes_show_one() -> None:
    for rule in BY_CODE.values():
        if not rule.invalid:
            continue  # reported by the engine, whose tests show its fixes
        promised = any(example.fixed is not None for example in rule.invalid)
        assert rule.fixable == promised, rule.code
