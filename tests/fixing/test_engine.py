"""Fixing a text: what is applied, in what order, and what is left alone."""

from __future__ import annotations

import ast
import re

from hypothesis import given
from hypothesis import strategies as st

from torchlayout.fixing import MAX_ROUNDS, fix_text
from torchlayout.fixing.edits import apply_edits, comments, piece, plan, real_safety
from torchlayout.program.nodes import Span
from torchlayout.program.source import Source
from torchlayout.rules.finding import Edit, Finding, Fix, Safety


def finding(*edits: Edit, safety: Safety = Safety.SAFE, code: str = "LAY201") -> Finding:
    return Finding(code, "message", edits[0].span, fix=Fix("title", edits, safety))


def on(line: int, start: int, end: int, text: str) -> Edit:
    return Edit(Span(line, start, line, end), text)


def words(pattern: str, replacement: str, safety: Safety = Safety.SAFE):
    """A check that reports every match of a pattern, with a replacement as its fix."""

    def check(text: str) -> list[Finding]:
        source = Source(text)
        found = re.finditer(pattern, source.clean)
        return [finding(Edit(source.span(m.start(), m.end()), replacement), safety=safety) for m in found]

    return check


def test_all_fixes_of_a_text_are_applied_and_counted() -> None:
    fixed = fix_text("a = bad\nb = bad + bad\n", words("bad", "good"))
    assert fixed.text == "a = good\nb = good + good\n"
    assert fixed.applied == {"LAY201": 3}
    assert fixed.findings == []


def test_what_a_fix_reveals_is_fixed_too() -> None:
    fixed = fix_text("x = '54321'\n", words("([1-9])(?=')", ""))
    assert fixed.text == "x = ''\n"
    assert fixed.applied.total() == 5


def test_rounds_are_bounded() -> None:
    fixed = fix_text("x = a\n", words("a(?=\n)", "a + a"))
    assert fixed.applied.total() == MAX_ROUNDS
    assert "run again" in fixed.notes[0]
    ast.parse(fixed.text)


def test_fixes_that_undo_one_another_end() -> None:
    def check(text: str) -> list[Finding]:
        return words("ping", "pong")(text) + words("pong", "ping")(text)

    fixed = fix_text("x = ping\n", check)
    assert "undo one another" in fixed.notes[0]
    assert fixed.text in ("x = ping\n", "x = pong\n")


def test_safety_is_a_limit() -> None:
    for safety, limit, applied in [
        (Safety.SAFE, Safety.SAFE, True),
        (Safety.UNSAFE, Safety.SAFE, False),
        (Safety.SAFE, Safety.UNSAFE, True),
        (Safety.UNSAFE, Safety.UNSAFE, True),
        (Safety.DISPLAY, Safety.UNSAFE, False),
        (Safety.DISPLAY, Safety.DISPLAY, False),
    ]:
        fixed = fix_text("x = bad\n", words("bad", "good", safety), limit)
        assert (fixed.text == "x = good\n") is applied
        assert bool(fixed.findings) is not applied


def test_a_fix_that_breaks_the_syntax_is_left_out_and_the_others_stay() -> None:
    def check(text: str) -> list[Finding]:
        return words("good", "(")(text) + words("bad", "fine")(text)

    fixed = fix_text("a = bad\nb = good\nc = bad\n", check)
    assert fixed.text == "a = fine\nb = good\nc = fine\n"
    assert fixed.applied.total() == 2
    assert [f.span.line for f in fixed.findings] == [2]
    assert fixed.notes == ["the fix for LAY201 on line 2 would break the syntax and was left out"]


def test_a_fix_of_several_edits_is_applied_whole_or_not_at_all() -> None:
    first = finding(on(1, 0, 1, "A"))
    second = finding(on(1, 4, 5, "B"), on(1, 0, 1, "C"), code="LAY202")
    assert plan([second, first], Source("x = y\n"), Safety.SAFE) == [first]


def test_of_fixes_that_touch_the_first_goes_first() -> None:
    text = "x = a.b.c\n"
    outer, inner = finding(on(1, 4, 9, "d")), finding(on(1, 6, 7, "e"))
    assert plan([inner, outer], Source(text), Safety.SAFE) == [outer]
    here, there = finding(on(1, 4, 4, "-")), finding(on(1, 4, 4, "+"), code="LAY202")
    assert plan([here, there], Source(text), Safety.SAFE) == [here]
    left, right = finding(on(1, 0, 4, "y=")), finding(on(1, 4, 5, "f"))
    assert plan([left, right], Source(text), Safety.SAFE) == [left, right]


def test_spans_outside_the_text_are_left_out() -> None:
    source = Source("x = 1\n")
    for span in [Span(9, 0, 9, 1), Span(1, 0, 1, 99), Span(1, 4, 1, 2), Span(0, 0, 0, 0), Span(1, -1, 1, 0)]:
        assert plan([finding(Edit(span, "y"))], source, Safety.SAFE) == []


def test_a_fix_that_would_delete_a_comment_is_unsafe() -> None:
    text = "x = a.contiguous(  # keep me\n)\n"
    whole = Edit(Span(1, 5, 2, 1), "")
    check = lambda t: [finding(whole)] if "contiguous" in t else []  # noqa: E731
    assert fix_text(text, check).text == text
    assert fix_text(text, check, Safety.UNSAFE).text == "x = a\n"
    keeping = Edit(Span(1, 5, 2, 1), "  # keep me")
    source = Source(text)
    assert real_safety(Fix("t", (keeping,), Safety.SAFE), source, comments(source)) is Safety.SAFE


def test_a_hash_in_a_string_is_no_comment() -> None:
    source = Source("x = a['#'].contiguous()\n")
    fix = Fix("t", (on(1, 4, 23, "b"),), Safety.SAFE)
    assert real_safety(fix, source, comments(source)) is Safety.SAFE


def test_a_fix_whose_purpose_is_to_delete_a_comment_is_safe() -> None:
    source = Source("x = 1  # noqa: LAY101\n")
    fix = Fix("t", (on(1, 5, 21, ""),), Safety.SAFE)
    assert real_safety(fix, source, comments(source)) is Safety.SAFE


def test_line_ends_and_everything_else_stay() -> None:
    text = "# caf\u00e9 \u2028 \x0c\r\nx = bad\r\ny = 1\r\n"
    assert fix_text(text, words("bad", "(1,\n 2)")).text == text.replace("bad", "(1,\r\n 2)")


@given(st.text(alphabet="ab\n\r\u00e9\u6f22\x0c\u2028", max_size=40), st.data())
def test_edits_change_their_spans_and_nothing_else(text: str, data: st.DataObject) -> None:
    source = Source(text)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(source.clean)), max_size=6, unique=True)))
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    edits = [Edit(source.span(start, end), f"<{number}>") for number, (start, end) in enumerate(spans)]
    expected, position = "", 0
    for edit in edits:
        start, end, new = piece(source, edit)
        expected += text[position:start] + new
        position = end
    assert apply_edits(source, reversed(edits)) == expected + text[position:]


def test_the_text_may_have_the_mistake_before() -> None:
    fixed = fix_text("x = (\ny = bad\n", words("bad", "good"))
    assert fixed.text == "x = (\ny = bad\n"
    assert fixed.applied.total() == 0
