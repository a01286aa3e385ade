"""The token scan: what is found, where, and what is passed over."""

from __future__ import annotations

import io
import keyword
import tokenize as python_tokens
from pathlib import Path

import pytest

from torchlayout.program import tokens
from torchlayout.program.tokens import BadTokens, Cursor, comments, tokenize


def words(text: str) -> list[str]:
    found, offsets = tokenize(text)
    assert all(text.startswith(word, offset) for word, offset in zip(found, offsets, strict=True))
    assert offsets == sorted(offsets)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x.view(1, 2)  # view", ["x", ".", "view", "(", "1", "2"]),
        ("a**=b//c->d:=e...", ["a", "**=", "b", "//", "c", "->", "d", ":=", "e", "..."]),
        ("1if 0x1F_f else 1.5e-3j+.5", ["1", "if", "0x1F_f", "else", "1.5e-3j", "+", ".5"]),
        ("x[1:-1]", ["x", "[", "1", ":", "-", "1"]),
        ("'it''s # no comment'", ["'it'", "'s # no comment'"]),
        ("rb'\\'' Br\"\\\\\" u''", ["rb'\\''", 'Br"\\\\"', "u''"]),
        ('"""a"b""c\\"""" + x', ['"""a"b""c\\""""', "+", "x"]),
        ("'a\\\nb'.c", ["'a\\\nb'", ".", "c"]),
        ("naïve·日本 ℘", ["naïve·日本", "℘"]),
        ("a\\\n .b", ["a", ".", "b"]),
        ("# x\n\f y", ["y"]),
        ("not_f'x'", ["not_f", "'x'"]),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f'{x}' + y", ["f'", "x", "+", "y"]),
        ("f'{{x}} {y}'", ["f'", "y"]),
        ("f'{x!r:>{w}.{p}} {y}' z", ["f'", "x", "w", "p", "y", "z"]),
        ("f'{x != y}'", ["f'", "x", "!=", "y"]),
        ("f'{x:=+5}' z", ["f'", "x", "z"]),
        ("f'{(x:=5)}'", ["f'", "(", "x", ":=", "5"]),
        ("f'{d[\"a\"]}'", ["f'", "d", "[", '"a"']),
        ("f'{d['a']}' z", ["f'", "d", "[", "'a'", "z"]),
        ("f'{f'{x}'}' z", ["f'", "f'", "x", "z"]),
        ("rf'\\{x}' z", ["rf'", "x", "z"]),
        ("f'\\'{x}' z", ["f'", "x", "z"]),
        ("f'\\N{LATIN SMALL LETTER A}{x}' z", ["f'", "x", "z"]),
        ("f'''a'{x}\n''' z", ["f'''", "x", "z"]),
        ("f'{lambda_({1: 2})}' z", ["f'", "lambda_", "(", "{", "1", ":", "2", "z"]),
        ("f'{x # '}'\n}' z", ["f'", "x", "z"]),
        ("t'{x}' rt'{y}'", ["t'", "x", "rt'", "y"]),
        ("f'{x=}' z", ["f'", "x", "=", "z"]),
        ("f'{x:{'a'}}' z", ["f'", "x", "'a'", "z"]),
    ],
)
def test_formatted_strings_are_taken_apart(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    "text", ["f'{x", "f'{", "f'", "f'\\", "f'{x:", "f'{x!", "f'{x:{", "'a", '"""a', "f'\\N{", "$?`"]
)
def test_broken_text_ends_the_scan_quietly(text: str) -> None:
    words(text)


def test_fields_nested_beyond_the_bound_are_refused() -> None:
    with pytest.raises(BadTokens):
        tokenize("f'{" * 5000 + "x" + "}'" * 5000)


def test_names_and_numbers_are_those_of_the_standard_tokenizer() -> None:
    """Over real files, f-strings left out, which it takes whole before Python 3.12."""
    compared = 0
    for module in (tokens, python_tokens, io, pytest):
        text = Path(module.__file__ or "").read_text(encoding="utf-8")
        ours = [word for word in words(text) if word[0].isalnum() or word[0] == "_"]
        kinds = (python_tokens.NAME, python_tokens.NUMBER)
        lines = io.StringIO(text).readline
        theirs = [token.string for token in python_tokens.generate_tokens(lines) if token.type in kinds]
        if any(word.endswith(("'", '"')) and word[0] in "fF" for word in ours):
            continue
        assert [word for word in ours if not word.endswith(("'", '"'))] == theirs
        compared += 1
    assert compared >= 2
    assert keyword.iskeyword("if")


def test_the_cursor_goes_forward_only() -> None:
    cursor = Cursor("a.view\n(a)", [7, 9], {})
    assert cursor.take("view") == (7, 2, 7, 6)
    assert cursor.take("a") == (9, 1, 9, 2)
    with pytest.raises(BadTokens):
        cursor.take("view")


def test_the_cursor_gives_both_ends_of_text_over_several_lines() -> None:
    cursor = Cursor("x = '''a\nb''' + y", [4, 5], {})
    assert cursor.take_text("'''a\nb'''") == (4, 4, 5, 4)
    assert cursor.take("y") == (5, 7, 5, 8)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("x  # y", True), ("'# y'", False), ("f'{x}#'", False), ("f'{x}' # y", True), ("x", False), ("''' # '''#", True)],
)
def test_comments_are_told_from_strings(text: str, expected: bool) -> None:
    assert comments(text) is expected
