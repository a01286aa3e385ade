"""Suppression comments: what each silences, and that flake8 agrees on its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from torchlayout.check import suppress
from torchlayout.check.engine import analyze, check
from torchlayout.check.settings import Settings
from torchlayout.rules.finding import Safety

pytestmark = pytest.mark.usefixtures("fake_analysis")


def codes(source: str, **settings: object) -> list[str]:
    return [f.code for f in check("import torch\n" + source, settings=Settings(**settings))]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x.view(6)  # noqa", []),
        ("x.view(6)  # NOQA", []),
        ("x.view(6)  # noqa: LAY101", []),
        ("x.view(6)  # noqa:LAY101", []),
        ("x.view(6)  # noqa: lay101", []),
        ("x.view(6)  # torchlayout: ignore[lay101]", []),
        ("x.view(6)\nx.contiguous()\n# torchlayout: ignore-file[Lay1]", ["LAY201"]),
        ("x.view(6)  # noqa: LAY1", []),
        ("x.view(6)  # noqa: E501, LAY101", []),
        ("x.view(6)  # noqa: E501 LAY101", []),
        ("x.view(6)  # type: ignore  # noqa: LAY101", []),
        ("x.view(6)  # noqa: LAY201", ["LAY101"]),
        ("x.view(6)  # noqa: E501", ["LAY101"]),
        ("x.view(6).contiguous()  # noqa: LAY201", ["LAY101"]),
        ("x.view('# noqa')", ["LAY101"]),
        ("# noqa\nx.view(6)", ["LAY101"]),
        ("x.view('''\n''')  # noqa: LAY101", []),
        ("x.view(\n6)  # noqa: LAY101", ["LAY101"]),
        ("y = x \\\n  .view(6)  # noqa: LAY101", []),
        ("x.view(6)  # torchlayout: ignore", []),
        ("x.view(6)  # torchlayout: ignore[LAY101] -- measured", []),
        ("x.view(6)  # torchlayout: ignore[LAY101, LAY2]", []),
        ("x.view(6)  # torchlayout:ignore[LAY2]", ["LAY101"]),
        ("x.view('# torchlayout: ignore')", ["LAY101"]),
        ("# torchlayout: ignore[LAY101] -- long line\nx.view(6)\nx.view(6)", ["LAY101"]),
        ("# torchlayout: ignore[LAY101]\n# more words\n\nx.view(6)", []),
        ("if x:\n    # torchlayout: ignore[LAY101]\n    x.view(6)", []),
        ("x.view(6)\n# torchlayout: ignore-file", []),
        ("x.view(6)\nx.contiguous()\n# torchlayout: ignore-file[LAY101] -- old", ["LAY201"]),
        ("# flake8: noqa\nx.view(6)", []),
        ("# flake8: noqa: E501\nx.view(6)\nx.contiguous()", []),
        ("(\n  # flake8: NOQA\n)\nx.view(6)", []),
        ("x.view(6)  # flake8: noqa", ["LAY101"]),
        ("x.view(6)  # torchlayout: ignored[LAY101]", ["LAY101"]),
    ],
)
def test_what_a_comment_silences(source: str, expected: list[str]) -> None:
    assert codes(source + "\n") == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end: str) -> None:
    text = "import torch\nx.view(6)  # noqa\nx.view(6)\n".replace("\n", end)
    assert [f.span.line for f in check(text)] == [3]


def test_text_without_such_a_word_is_not_tokenized(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str) -> None:
        raise AssertionError("tokenized")

    monkeypatch.setattr(suppress, "_tokens", refuse)
    assert codes("x.view(6)  # a comment\n") == ["LAY101"]
    assert codes("y = 6  # noqa: E501\n") == []  # nothing to silence


def unused(source: str) -> list[tuple[str, int, int]]:
    result = analyze("import torch\n" + source, settings=Settings(report_unused_suppressions=True))
    assert len(result.unused_suppressions) == sum(f.code == "LAY902" for f in result.findings)
    return [(f.code, f.span.line, f.span.column) for f in result.findings]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x.view(6)  # noqa: LAY101\n", []),
        ("x.size()  # noqa: LAY101\n", [("LAY902", 2, 10)]),
        ("x.view(6)  # noqa: LAY201\n", [("LAY101", 2, 2), ("LAY902", 2, 11)]),
        ("x.size()  # noqa\n", []),
        ("x.size()  # noqa: E501\n", []),
        ("x.size()  # noqa: E501, LAY101\n", []),
        ("x.size()  # torchlayout: ignore\n", [("LAY902", 2, 10)]),
        ("# torchlayout: ignore-file[LAY2]\n", [("LAY902", 2, 0)]),
        ("# torchlayout: ignore-file[LAY2]\nx.contiguous()\n", []),
    ],
)
def test_comments_that_silence_nothing(source: str, expected: list[tuple[str, int, int]]) -> None:
    assert unused(source) == expected


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("noqa: LAY101", "unused suppression of LAY101: nothing here needs it"),
        ("noqa: LAY999", "suppression of LAY999: no such code"),
        ("torchlayout: ignore[LAY1, LAY902]", "unused suppression of LAY1, LAY902: nothing here needs it"),
        ("torchlayout: ignore", "unused suppression: nothing here needs it"),
        ("torchlayout: ignore[LAY8, X1]", "suppression of LAY8, X1: no such code"),
        ("torchlayout: ignore[lay101]", "unused suppression of LAY101: nothing here needs it"),
        (
            "torchlayout: ignore[Unused-Suppression]",
            "suppression of Unused-Suppression: no such code (did you mean LAY902?)",
        ),
        (
            "torchlayout: ignore-file[LAY101, LAY999]",
            "unused suppression of LAY101, LAY999: nothing here needs it, and there is no LAY999",
        ),
    ],
)
def test_a_code_that_is_not_there_is_told_apart_from_one_that_is_not_needed(comment: str, message: str) -> None:
    text = f"import torch\nx.size()  # {comment}\n"
    findings = analyze(text, settings=Settings(report_unused_suppressions=True)).findings
    assert [finding.message for finding in findings] == [message]


def test_unused_comments_are_reported_only_on_request() -> None:
    assert codes("x.size()  # noqa: LAY101\n") == []


@pytest.mark.parametrize(
    ("line", "mended", "safety"),
    [
        ("x.size()  # noqa: LAY101\n", "x.size()\n", Safety.SAFE),
        ("x.size()  # torchlayout: ignore[LAY1]", "x.size()", Safety.SAFE),
        ("x.size()  # torchlayout: ignore[LAY1] --\n", "x.size()\n", Safety.SAFE),
        ("# torchlayout: ignore-file\n", "", Safety.SAFE),
        ("x.size()  # torchlayout: ignore[LAY1] -- it was slow\n", "x.size()\n", Safety.UNSAFE),
        ("x.size()  # noqa: LAY101 -- it was slow\n", "x.size()\n", Safety.UNSAFE),
        ("x.size()  # shape first # noqa: LAY101\n", None, None),
        ("x.contiguous()  # noqa: LAY101 # torchlayout: ignore[LAY2]\n", None, None),
    ],
)
def test_the_fix_takes_the_comment_away(line: str, mended: str | None, safety: Safety | None) -> None:
    text = "import torch\n" + line
    finding = analyze(text, settings=Settings(report_unused_suppressions=True)).findings[0]
    assert (finding.fix and finding.fix.safety) is safety
    if mended is None:
        assert finding.fix is None
        return
    assert finding.fix is not None
    [(span, replacement)] = finding.fix.edits
    lines = [*text.splitlines(keepends=True), ""]
    before = "".join(lines[: span.line - 1]) + lines[span.line - 1][: span.column]
    after = lines[span.end_line - 1][span.end_column :] + "".join(lines[span.end_line :])
    assert before + replacement + after == "import torch\n" + mended


PIECES = st.sampled_from(
    ["x.view(6)", "x.contiguous()", "x.size()", "x.view(\n6)", "x.view('''\n''')", "x \\\n.view(6)", "(x\n.view(6)\n)"]
)
REMARKS = st.sampled_from(
    [
        "",
        "  # noqa",
        "  # noqa: LAY101",
        "  # noqa:LAY1,E501",
        "  # noqa: LAY2 LAY1",
        "  # noqa : LAY101",
        "  # noqa:  LAY101",
        "  # NoQA: LAY201, LAY101",
        "  # noqa:LAY",
        "  # noqa: E501 because # noqa: LAY101",
        "  # noqa: LAY101 it is meant",
        "  # noqa: LAY101,",
        "  #noqa",
        "  # why # noqa:LAY201",
        "\n# noqa",
        "\n# flake8: noqa: LAY201",
        "  # flake8: noqa",
    ]
)


@hypothesis_settings(max_examples=60)
@given(st.lists(st.tuples(PIECES, REMARKS), min_size=1, max_size=6))
def test_flake8_agrees(
    tmp_path_factory: pytest.TempPathFactory, flake8: Callable[..., Any], parts: list[tuple[str, str]]
) -> None:
    text = "import torch\n" + "".join(piece + remark + "\n" for piece, remark in parts)
    path = tmp_path_factory.mktemp("agree") / "a.py"
    path.write_text(text)
    shown = [line.removeprefix(str(path)) for line in flake8("--isolated", "--select=LAY", "-j1", str(path)).lines]
    ours = check(text, settings=Settings(select=("LAY",)))
    assert sorted(shown) == sorted(f":{f.span.line}:{f.span.column + 1}: {f.code} {f.message}" for f in ours)
