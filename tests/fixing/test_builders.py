"""The edits that rules build their fixes of."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlayout.fixing.edits import apply_edits
from torchlayout.program.nodes import Span
from torchlayout.program.source import Source
from torchlayout.rules import edits


def suffix_of(source: Source, name: str) -> Span:
    """The span of `.name()`, from the dot to the closing parenthesis."""
    start = source.clean.index(f".{name}")
    return source.span(start, source.clean.index(")", start) + 1)


def span_of(source: Source, words: str) -> Span:
    start = source.clean.index(words)
    return source.span(start, start + len(words))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = x.contiguous().view(6)\n", "y = x.view(6)\n"),
        ("y = x.contiguous()", "y = x"),
        ("y = (\n    x.t()\n    .contiguous()\n    .view(6)\n)\n", "y = (\n    x.t()\n    .view(6)\n)\n"),
        ("y = (x\n     .contiguous()  # pack\n     .view(6))\n", "y = (x\n       # pack\n     .view(6))\n"),
        ("y = (x  # turned\n     .contiguous())\n", "y = (x  # turned\n     )\n"),
        ("y = (\n    x\n    .contiguous(\n    )\n)\n", "y = (\n    x\n)\n"),
        ("y = x \\\n    .contiguous() \\\n    .view(6)\n", "y = x \\\n    .view(6)\n"),
        ("y = x \\\n    .contiguous()\nz = 1\n", "y = x\nz = 1\n"),
        ("y = x.contiguous().view(\n    6)\n", "y = x.view(\n    6)\n"),
    ],
)
def test_delete_method_call(before: str, after: str) -> None:
    source = Source(before)
    mended = apply_edits(source, edits.delete_method_call(source, suffix_of(source, "contiguous")))
    assert mended == after
    ast.parse(mended)


BREAKS = ["", "\n    ", " # c\n    ", "\n\n  "]


@given(st.lists(st.sampled_from(BREAKS), min_size=3, max_size=3), st.sampled_from(BREAKS), st.booleans())
def test_a_call_deleted_from_any_chain_leaves_the_rest(gaps: list[str], inner: str, last: bool) -> None:
    names = ["t", "relu", "contiguous"] if last else ["t", "contiguous", "relu"]
    chain = "x" + "".join(f"{gap}.{name}({inner})" for gap, name in zip(gaps, names, strict=True))
    source = Source(f"y = ({chain}{gaps[0]})\nz = 2\n")
    mended = apply_edits(source, edits.delete_method_call(source, suffix_of(source, "contiguous")))
    assert ast.dump(ast.parse(mended)) == ast.dump(ast.parse("y = x.t().relu()\nz = 2\n"))


def test_replace_name_and_insert_after_receiver() -> None:
    source = Source("y = x.t().view(6)\n")
    assert apply_edits(source, edits.replace_name(span_of(source, "view"), "reshape")) == "y = x.t().reshape(6)\n"
    inserted = edits.insert_after_receiver(span_of(source, "x.t()"), ".contiguous()")
    assert apply_edits(source, inserted) == "y = x.t().contiguous().view(6)\n"


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("x", "x.contiguous()"),
        ("x.t()", "x.t().contiguous()"),
        ("x[0]", "x[0].contiguous()"),
        ("(a + b)", "(a + b).contiguous()"),
        ("a + b", "(a + b).contiguous()"),
        ("a if b else c", "(a if b else c).contiguous()"),
        ("-x", "(-x).contiguous()"),
        ("(a) + (b)", "((a) + (b)).contiguous()"),
        ("await x", "(await x).contiguous()"),
        ("lambda: x", "(lambda: x).contiguous()"),
    ],
)
def test_call_method_puts_parentheses_where_they_are_needed(argument: str, expected: str) -> None:
    source = Source(f"f({argument})\n")
    mended = apply_edits(source, edits.call_method(source, Span(1, 2, 1, 2 + len(argument)), ".contiguous()"))
    assert mended == f"f({expected})\n"


def test_assign_result() -> None:
    source = Source("if x:\n    x.contiguous()  # pack\n")
    mended = apply_edits(source, edits.assign_result(Span(2, 4, 2, 18), "x"))
    assert mended == "if x:\n    x = x.contiguous()  # pack\n"


def test_insert_line_before() -> None:
    source = Source("if a:\n    for i in b:\n        f(w)\n")
    mended = apply_edits(source, edits.insert_line_before(source, span_of(source, "for i"), "w = w.contiguous()"))
    assert mended == "if a:\n    w = w.contiguous()\n    for i in b:\n        f(w)\n"
    joined = Source("a; b\n")
    assert edits.insert_line_before(joined, Span(1, 3, 1, 4), "c") == ()
