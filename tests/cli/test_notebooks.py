"""Notebooks: cells as one program, places in cells, fixes that touch nothing else."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlayout.check import analysis
from torchlayout.cli import formats
from torchlayout.cli.mending import with_notebook
from torchlayout.notebooks import Notebook, NotebookError
from torchlayout.program.nodes import Span
from torchlayout.rules.finding import Finding, Related

Run = Callable[..., Any]


def notebook(*cells: str | list[str], kind: str = "code", **extra: Any) -> dict[str, Any]:
    return {
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# A title with x.view(3)"]},
            *(
                {
                    "cell_type": kind,
                    "execution_count": 3,
                    "metadata": {"z": 1, "a": 2},
                    "outputs": [{"output_type": "stream", "name": "stdout", "text": ["x.contiguous() é\n"]}],
                    "source": cell if isinstance(cell, list) else cell.splitlines(keepends=True),
                }
                for cell in cells
            ),
        ],
        "metadata": {"language_info": {"name": "python"}, "b": 1, "a": 2},
        "nbformat": 4,
        "nbformat_minor": 5,
        **extra,
    }


CELLS = ("import torch\n%matplotlib inline\nx = torch.randn(3, 4)", "", "!ls\ny = x.t()\ny.view(12)")


def test_findings_are_told_by_cell_and_line(run: Run, folder: Path) -> None:
    Path("nb.ipynb").write_text(json.dumps(notebook(*CELLS)))
    ran = run("check", ".", "--output-format=concise")
    assert (ran.status, ran.out) == (1, "nb.ipynb:cell 4:3:3: LAY101 `view` of a tensor with strides (1, 4)\n")
    [found] = json.loads(run("check", "nb.ipynb", "--output-format=json").out)
    assert (found["cell"], found["location"], found["noqa_row"]) == (4, {"column": 3, "row": 3}, 3)
    assert found["related"][0]["cell"] == 4
    assert found["fix"]["edits"][0]["location"] == {"column": 3, "row": 3}


def test_full_shows_the_cell_as_it_was_written(run: Run, folder: Path) -> None:
    Path("nb.ipynb").write_text(json.dumps(notebook(*CELLS)))
    out = run("check", "nb.ipynb").out
    assert "  --> nb.ipynb:cell 4:3:3\n  |\n1 | !ls\n2 | y = x.t()\n3 | y.view(12)\n" in out
    assert "3 - y.view(12)\n3 + y.reshape(12)\n" in out
    assert "get_ipython" not in out
    page = run("check", "nb.ipynb", "--output-format=html").out
    assert "4:3" in page and "!ls" in page


def test_sarif_github_and_gitlab_point_into_the_file(run: Run, folder: Path) -> None:
    raw = json.dumps(notebook(*CELLS), indent=1)
    Path("nb.ipynb").write_text(raw)
    line = next(number for number, text in enumerate(raw.splitlines(), 1) if '"y.view(12)"' in text)
    log = json.loads(run("check", "nb.ipynb", "--output-format=sarif").out)
    [result] = log["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": line}
    assert result["locations"][0]["logicalLocations"][0]["name"] == "cell 4, line 3"
    assert f",line={line}::" in run("check", "nb.ipynb", "--output-format=github").out
    [entry] = json.loads(run("check", "nb.ipynb", "--output-format=gitlab").out)
    assert entry["location"]["positions"]["begin"]["line"] == line


WORDS = "turned by `t('line 2')` on line 9, or on line 4 of {other}; see line 3"
IN_CELLS = "turned by `t('line 2')` on line 2 of cell 4, or on line 4 of helper.py; see line 2 of cell 2"


@pytest.fixture
def wordy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A notebook with a finding that names lines of its own and of another file."""
    other = str(folder / "helper.py")
    related = (Related(Span(9, 2, 9, 3), "here"), Related(Span(4, 0, 4, 1), "there", other))
    finding = Finding("LAY101", WORDS.format(other=other), Span(10, 2, 10, 6), related)
    monkeypatch.setattr(analysis, "analyze", lambda *_: analysis.Outcome([finding], reads=(other,)))
    (folder / "nb.ipynb").write_text(json.dumps(notebook(*CELLS), indent=1))
    return folder


@pytest.mark.parametrize("output_format", sorted(set(formats.names()) - {"full", "html"}))
@pytest.mark.usefixtures("wordy")
def test_messages_tell_lines_by_cell(run: Run, output_format: str) -> None:
    out = run("check", "nb.ipynb", "--output-format", output_format).out
    assert IN_CELLS in out.replace("&apos;", "'").replace("&#x27;", "'").replace("%25", "%")


@pytest.mark.parametrize("output_format", ["full", "html"])
@pytest.mark.usefixtures("wordy")
def test_pages_tell_related_places_by_cell(run: Run, output_format: str) -> None:
    out = run("check", "nb.ipynb", "--output-format", output_format).out.replace("&#x27;", "'")
    assert IN_CELLS in out
    assert "cell 4:2:3" in out and "helper.py:4:1" in out


def test_related_places_are_in_cells_too(run: Run, wordy: Path) -> None:
    [found] = json.loads(run("check", "nb.ipynb", "--output-format=json").out)
    assert [(place["cell"], place["location"]["row"]) for place in found["related"]] == [(4, 2), (None, 4)]
    raw = (wordy / "nb.ipynb").read_text().splitlines()
    [result] = json.loads(run("check", "nb.ipynb", "--output-format=sarif").out)["runs"][0]["results"]
    inside, outside = result["relatedLocations"]
    assert inside["logicalLocations"][0]["name"] == "cell 4, line 2"
    assert "y = x.t()" in raw[inside["physicalLocation"]["region"]["startLine"] - 1]
    assert outside["physicalLocation"]["artifactLocation"]["uri"] == "helper.py"
    assert "here (cell 4:2:3)%0A  there (helper.py:4:1)" in run("check", "nb.ipynb", "--output-format=github").out
    junit = run("check", "nb.ipynb", "--output-format=junit").out
    assert "y.view(12)" in raw[int(re.findall(r' line="(\d+)"', junit)[0]) - 1]


def test_errors_name_lines_by_cell(run: Run, folder: Path) -> None:
    Path("nb.ipynb").write_text(json.dumps(notebook("import torch", "y = (3\n\n]"), indent=1))
    ran = run("check", "nb.ipynb", "--output-format=sarif")
    assert "nb.ipynb:cell 3:3:1: syntax error: closing parenthesis ']' does not match" in ran.err
    assert "'(' on line 1 of cell 3" in ran.err
    (said,) = json.loads(ran.out)["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert "on line 1 of cell 3" in said["message"]["text"]
    line = said["locations"][0]["physicalLocation"]["region"]["startLine"]
    assert '"]"' in Path("nb.ipynb").read_text().splitlines()[line - 1]
    assert "nb.ipynb:cell 3:3:1: syntax error" in run("explain", "nb.ipynb:3:1").err


def test_a_notebook_that_changes_in_mid_run(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "nb.ipynb"
    text = json.dumps(notebook(*CELLS))
    for after in (text.replace("(3, 4)", "(3, 5)"), None):
        path.write_text(text)

        def with_change(result: Any, after: str | None = after) -> Any:
            path.unlink() if after is None else path.write_text(after)
            return with_notebook(result)

        monkeypatch.setattr("torchlayout.cli.commands.check.with_notebook", with_change)
        ran = run("check", "nb.ipynb", "--output-format=concise")
        assert (ran.status, ran.out) == (2, "")
        assert "nb.ipynb: the notebook changed while it was being checked" in ran.err


STYLES = {
    "indent 1, as Jupyter writes it": lambda nb: json.dumps(nb, indent=1, ensure_ascii=False) + "\n",
    "indent 4, no line break at the end": lambda nb: json.dumps(nb, indent=4),
    "one line": lambda nb: json.dumps(nb, ensure_ascii=False, separators=(",", ":")),
    "CRLF": lambda nb: json.dumps(nb, indent=1).replace("\n", "\r\n"),
    "tabs": lambda nb: json.dumps(nb, indent="\t", ensure_ascii=False),
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("as_string", [False, True])
def test_a_fix_changes_its_line_and_nothing_else(run: Run, folder: Path, style: str, as_string: bool) -> None:
    def made(cell: str) -> bytes:
        source: Any = [cell] if as_string else cell
        content = notebook("import torch\n%time s = 'é\\t\"'\n", source)
        if as_string:
            content["cells"][2]["source"] = cell
        return STYLES[style](content).encode()

    before = made("%load_ext x\ny = x.contiguous()  # 'é'\n!ls {y}")
    Path("nb.ipynb").write_bytes(before)
    ran = run("check", "nb.ipynb", "--fix")
    assert (ran.status, ran.err) == (0, "torchlayout: no findings in 1 file, 1 fixed\n")
    assert Path("nb.ipynb").read_bytes() == made("%load_ext x\ny = x  # 'é'\n!ls {y}")


def test_a_fix_may_add_and_delete_lines(run: Run, folder: Path) -> None:
    cells = ("import torch\ny = (x\n     .contiguous()\n     .view(2))", "z = 1\n")
    Path("nb.ipynb").write_text(json.dumps(notebook(*cells), indent=1))
    ran = run("check", "nb.ipynb", "--fix", "--output-format=concise")
    assert ran.out == "nb.ipynb:cell 2:3:7: LAY101 `view` of a tensor with strides (1, 4)\n"
    fixed = json.loads(Path("nb.ipynb").read_text())
    assert fixed == notebook("import torch\ny = (x\n     .view(2))", "z = 1\n")


def test_diff_is_by_cell(run: Run, folder: Path) -> None:
    Path("nb.ipynb").write_text(json.dumps(notebook("import torch\n", "%pip list\ny = x.contiguous()")))
    ran = run("check", "nb.ipynb", "--diff")
    assert ran.status == 1
    assert ran.out == (
        "--- nb.ipynb:cell 3\n+++ nb.ipynb:cell 3\n@@ -1,2 +1,2 @@\n %pip list\n-y = x.contiguous()\n"
        "\\ No newline at end of file\n+y = x\n\\ No newline at end of file\n"
    )


def test_stdin(run: Run, folder: Path) -> None:
    data = json.dumps(notebook("import torch\ny = x.contiguous()")).encode()
    ran = run("check", "-", "--stdin-filename=nb.ipynb", "--fix", stdin=data)
    assert ran.status == 0
    assert json.loads(ran.out) == notebook("import torch\ny = x")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("", "invalid JSON"),
        ("{", "invalid JSON"),
        ("[]", "no `nbformat`"),
        ('{"nbformat": 3, "worksheets": []}', "format 3 is too old"),
        ('{"nbformat": 4}', "no list of `cells`"),
        ('{"nbformat": 4, "cells": [{"cell_type": "code"}]}', "cell 1 has no `source`"),
        ('{"nbformat": 4, "cells": [{"cell_type": "code", "source": [1]}]}', "cell 1 has no `source`"),
        ("[" * 100_000, "invalid JSON"),
    ],
)
def test_what_is_no_notebook_is_said(raw: str, words: str, run: Run, folder: Path) -> None:
    with pytest.raises(NotebookError, match=words):
        Notebook(raw)
    Path("nb.ipynb").write_text(raw)
    ran = run("check", "nb.ipynb", "--output-format=json")
    assert (ran.status, ran.out) == (2, "[]\n")
    assert words in ran.err


def test_a_mistake_is_told_by_cell(run: Run, folder: Path) -> None:
    Path("nb.ipynb").write_text(json.dumps(notebook("import torch", "x = 1\nx = (")))
    assert "nb.ipynb:cell 3:2:5: syntax error" in run("check", "nb.ipynb").err


def test_other_languages_are_passed_over(run: Run, folder: Path) -> None:
    content = notebook("torch.view(", metadata={"language_info": {"name": "R"}})
    Path("nb.ipynb").write_text(json.dumps(content))
    assert run("check", "nb.ipynb").status == 0


# ---------------------------------------------------------------- magics
@pytest.mark.parametrize(
    "cell",
    [
        "%matplotlib inline",
        "!pip install torch",
        "!pip install \\\n  torch \\\n  numpy",
        "files = !ls",
        "a, b = %magic x",
        "?x",
        "x?",
        "x.view??  # help",
        "if x:\n    %time f()\n    !ls\nelse:\n    pass",
        "%time y = f(x)",
        "%time for i in x: pass",
        "%%time\ny = f(x)\n!ls",
        "%%bash\nfor i in *; do echo $i; done",
        "\n%%html\n<b>x</b>\n",
        "%%timeit -n 1\n\nf(\nx)",
        's = """\n%no magic\n!none\n"""\n%magic',
        "y = (a\n  % b)\n%magic",
        "y = a \\\n  % b\n!ls",
        "s = 'it\\'s' # \"\"\" (\n!ls",
        "/f x",
        "{'a': 1,\n '%b': 2}\n!ls",
    ],
)
def test_magics_become_python_and_come_back(cell: str) -> None:
    raw = json.dumps(notebook("a = 1", cell))
    found = Notebook(raw)
    ast.parse(found.program)
    assert found.with_program(found.program) == raw
    assert found.restore(found.program).endswith(f"cell 3\n{cell.removesuffix(chr(10))}\n")
    assert len(found.program.splitlines()) == 4 + cell.removesuffix("\n").count("\n")


def test_what_a_timed_statement_binds_is_kept_at_its_columns() -> None:
    program = Notebook(json.dumps(notebook("%time y = x.view(3)"))).program
    assert program.splitlines()[1] == "if 1: y = x.view(3)"


def test_words_of_ours_in_a_cell_are_left_alone() -> None:
    cell = "if 1: pass\nget_ipython(0)\n# %% cell 2\n%time y = 1\n!ls"
    raw = json.dumps(notebook(cell))
    found = Notebook(raw)
    assert found.with_program(found.program) == raw


def test_edits_that_remove_a_cells_comment_are_refused() -> None:
    found = Notebook(json.dumps(notebook("a = 1", "b = 2")))
    with pytest.raises(ValueError, match="between cells"):
        found.with_program("a = 1\nb = 2\n")


# ---------------------------------------------------------------- pasted cells
PASTED = {
    "indented": "  x = torch.ones(2)\n\n  for i in x:\n      y = x.contiguous()\n  z = 1",
    "with tabs": "\tx = torch.ones(2)\n\ty = x.contiguous()",
    "comment first": "\n  # made\n  x = torch.ones(2)\n  y = x.contiguous()\n",
    "prompts": ">>> x = torch.ones(2)\n>>> for i in x:\n...     y = x.contiguous()\n...\n>>> z = 1\n",
    "prompts without code": ">>> y = x.contiguous()\n>>>\n",
    "prompts and output": ">>> y = x.contiguous()\n>>> 3 + 4\n7",
    "indented prompts": "    >>> y = x.contiguous()\n    >>> z = 1",
    "IPython's prompts": "In [1]: for i in x:\n   ...:     y = x.contiguous()\n   ...: \nIn [2]: z = 1",
    "magics": "  %matplotlib inline\n  !ls\n  y = x.contiguous()",
    "magics after prompts": ">>> %time\n>>> files = !ls\n>>> y = x.contiguous()",
    "a cell's magic": "  %%time\n  y = x.contiguous()",
    "several lines": ">>> y = (x\n...      .contiguous()\n...      .relu())",
    "a string that spans lines": '>>> s = """a\n... b"""\n>>> y = x.contiguous()',
}


@pytest.mark.parametrize("cell", PASTED.values(), ids=PASTED)
def test_pasted_cells_are_read_and_mended_where_they_stand(run: Run, folder: Path, cell: str) -> None:
    def made(cell: str) -> str:
        return json.dumps(notebook("import torch", cell, "w = x.t()\nw.view(2)"), indent=1)

    rows = cell.split("\n")
    row = next(number for number, line in enumerate(rows) if "contiguous" in line)
    Path("nb.ipynb").write_text(made(cell))
    first, second = json.loads(run("check", "nb.ipynb", "--output-format=json").out)
    assert (first["cell"], first["location"]) == (3, {"row": row + 1, "column": rows[row].index("contiguous") + 1})
    assert (second["cell"], second["location"]) == (4, {"row": 2, "column": 3})
    assert f"\n{row + 1} | {rows[row].expandtabs(4)}\n" in run("check", "nb.ipynb").out
    after = re.sub(r"\n\.\.\. +\.contiguous\(\)|\.contiguous\(\)", "", cell)
    assert f"\n{row + 1} - {rows[row].expandtabs(4)}\n" in run("check", "nb.ipynb").out
    ran = run("check", "nb.ipynb", "--fix", "--output-format=concise")
    assert ran.out.startswith("nb.ipynb:cell 4:2:3: LAY101 ")
    assert Path("nb.ipynb").read_text() == made(after)


def test_new_lines_have_the_prompt_of_the_line_before() -> None:
    found = Notebook(json.dumps(notebook(">>> a = 1\n>>> if a:\n...     b = 2\n>>> c = 3")))
    mended = found.program.replace("        b = 2", "        b = 4\n        d = 5").replace("c = 3", "c = 6")
    assert found.texts(mended) == [">>> a = 1\n>>> if a:\n...     b = 4\n>>>     d = 5\n>>> c = 6"]


def test_what_ipython_refuses_is_refused(run: Run, folder: Path) -> None:
    Path("nb.ipynb").write_text(json.dumps(notebook("import torch", "  x = 1\n    y = 2")))
    assert "nb.ipynb:cell 3:1:2: syntax error: unexpected indent" in run("check", "nb.ipynb").err


PLAIN = ("x = 1", "%magic", "!ls", "y = !ls", "x?", "", "  ", "é = '漢'", "s = '''", "'''", "(", ")", "\\")
FROM_A_SESSION = (">>> f()", ">>>", "... y = 2", "  z = 3", "In [1]: g()", "   ...: h()", "  %%time", ">>> !ls")
LINE = st.sampled_from((*PLAIN, *FROM_A_SESSION))


@given(st.lists(st.lists(LINE, max_size=5).map("\n".join), max_size=4), st.sampled_from(sorted(STYLES)))
def test_any_notebook_comes_back_as_it_was(cells: list[str], style: str) -> None:
    raw = STYLES[style](notebook(*cells))
    found = Notebook(raw)
    assert found.with_program(found.program) == raw
    for number, cell in enumerate(cells, 2):
        for row in range(1, len(cell.split("\n"))):
            # A cell's heading counts as its first line.
            line = max(line for line in range(1, found.program.count("\n") + 1) if found.place(line) == (number, row))
            assert found.restore(found.program).split("\n")[line - 1] == cell.split("\n")[row - 1]
