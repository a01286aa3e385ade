"""One file's way through the engine: what is reported, and that nothing makes it raise."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import torchlayout
from torchlayout.check import analysis, engine
from torchlayout.check.engine import analyze, check
from torchlayout.check.settings import Settings
from torchlayout.program.nodes import Span

pytestmark = pytest.mark.usefixtures("fake_analysis")

SOURCE = "import torch\nx.view(6)\ny = (x\n     .contiguous())\nx.reshape(3)\n"


def found(source: str | bytes, **settings: object) -> list[tuple[str, int, int]]:
    return [(f.code, f.span.line, f.span.column) for f in check(source, settings=Settings(**settings))]  # type: ignore[arg-type]


def test_default_rules_and_places() -> None:
    assert found(SOURCE) == [("LAY101", 2, 2), ("LAY201", 4, 6)]


def test_public_function_is_the_engine() -> None:
    assert torchlayout.check(SOURCE) == check(SOURCE)
    assert torchlayout.check(SOURCE, "a.py", Settings(select=("LAY2",)), ast.parse(SOURCE)) == check(
        SOURCE, "a.py", Settings(select=("LAY2",))
    )


@pytest.mark.parametrize(
    ("settings", "codes"),
    [
        ({"select": ("LAY2",)}, ["LAY201"]),
        ({"select": ("LAY",)}, ["LAY101", "LAY201", "LAY401"]),
        ({"extend_select": ("LAY4",)}, ["LAY101", "LAY201", "LAY401"]),
        ({"ignore": ("LAY1",)}, ["LAY201"]),
        ({"select": ("LAY101",), "ignore": ("LAY1",)}, ["LAY101"]),
        ({"select": ("LAY1",), "ignore": ("LAY101",)}, []),
        ({"select": ("LAY101",), "ignore": ("LAY101",)}, []),
    ],
)
def test_the_longest_prefix_decides(settings: dict[str, object], codes: list[str]) -> None:
    assert [code for code, _, _ in found(SOURCE, **settings)] == codes


def test_per_file_ignores(tmp_path: object) -> None:
    settings = Settings(per_file_ignores=(("tests/", ("LAY1",)), ("*_slow.py", ("LAY2",))), root=str(tmp_path))
    assert [f.code for f in check(SOURCE, f"{tmp_path}/src/a.py", settings)] == ["LAY101", "LAY201"]
    assert [f.code for f in check(SOURCE, f"{tmp_path}/src/tests/a.py", settings)] == ["LAY201"]
    assert [f.code for f in check(SOURCE, f"{tmp_path}/tests/a_slow.py", settings)] == []


def test_files_that_no_rule_can_speak_of_are_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str) -> ast.Module:
        raise AssertionError("parsed")

    monkeypatch.setattr(engine, "_parse", refuse)
    for text in ("x.view(6)\n", "import torch\nx.size()\n", "import torch\nx.reshape(6)\n", "syntax error view ("):
        assert check(text) == []
    result = analyze(SOURCE)
    assert [f.code for f in result.findings] == ["LAY901"]  # the refusal above, as a failure of the linter


def test_words_of_rules_that_are_off_do_not_open_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(analysis, "analyze", lambda *arguments: seen.append(arguments) or analysis.Outcome([]))
    check("import torch\nx.reshape(6)\n")
    assert not seen
    check("import torch\nx.reshape(6)\n", settings=Settings(extend_select=("LAY401",)))
    assert len(seen) == 1


def test_a_failure_is_one_finding_that_says_how_to_report_it() -> None:
    result = analyze("import torch\nx.view(crash_here)\n", "a.py")
    [finding] = result.findings
    assert finding.code == "LAY901"
    assert finding.span == Span(1, 0, 1, 0)
    assert "ValueError: told to fail on two lines (tests/conftest.py:" in finding.message
    assert "/issues" in finding.message and "\n" not in finding.message
    assert "Traceback" in result.notes[0]
    assert result.error is None


def test_a_panic_of_native_code_is_a_failure_too(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):  # what the parser's Rust code raises
        pass

    def panic(*_: object) -> None:
        raise PanicException("index out of bounds")

    monkeypatch.setattr(analysis, "analyze", panic)
    assert [f.code for f in analyze(SOURCE).findings] == ["LAY901"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_interruption_is_not_swallowed(monkeypatch: pytest.MonkeyPatch, stop: type[BaseException]) -> None:
    def interrupt(*_: object) -> None:
        raise stop

    monkeypatch.setattr(analysis, "analyze", interrupt)
    with pytest.raises(stop):
        analyze(SOURCE)


def test_rules_that_do_not_load_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ImportError("no rules")

    monkeypatch.setattr("torchlayout.check.selection.known_codes", broken)
    [finding] = analyze(SOURCE).findings
    assert finding.code == "LAY901"


def test_syntax_errors() -> None:
    bad = "import torch\nx.view(6\n"
    result = analyze(bad, "a.py")
    assert result.findings == ()
    assert result.error is not None
    assert (result.error.line, result.error.message) == (2, "syntax error: '(' was never closed")
    with pytest.raises(SyntaxError) as raised:
        check(bad, "a.py")
    assert (raised.value.filename, raised.value.lineno) == ("a.py", 2)


def test_syntax_errors_where_no_rule_applies_are_found_on_request() -> None:
    assert analyze("def f(:\n").error is None
    assert analyze("def f(:\n", always_parse=True).error is not None


@pytest.mark.parametrize(
    "source",
    [
        "import torch; x.view(" + "(" * 100_000 + ")" * 100_000 + ")",
        "import torch; x.view(" + "-" * 200_000 + "1)",
        "import torch; x.view(6)" + ".y" * 100_000,
        "import torch\nx.view('\0')\n",
        b"import torch\nx.view('\xff')\n",
        "import torch\nx.view(6)\n\x1a",
    ],
    ids=["parentheses", "signs", "attributes", "null", "latin", "end-of-file"],
)
def test_hostile_sources_give_an_error_or_findings(source: str | bytes) -> None:
    result = analyze(source)
    assert (result.error is not None) or result.findings


@given(st.one_of(st.binary(), st.text().map(lambda text: "import torch # view\n" + text)))
def test_nothing_raises(source: str | bytes) -> None:
    result = analyze(source, always_parse=True)
    assert "LAY901" not in [finding.code for finding in result.findings]


def test_bytes_are_decoded_as_python_decodes_them() -> None:
    text = "# coding: latin-1\nimport torch\n'é'; x.view(6)\n"
    assert check(text.encode("latin-1")) == check(text)
    assert check("\ufeff" + SOURCE) == check(SOURCE) == check(SOURCE.encode("utf-8-sig"))


def test_a_front_end_can_narrow_what_is_looked_for() -> None:
    result = analyze(SOURCE, shown=lambda code: code == "LAY201")
    assert [f.code for f in result.findings] == ["LAY201"]


def test_notes_of_the_analysis_are_kept() -> None:
    assert analyze("import torch\nx.view(noted)\n").notes == ("a note",)
