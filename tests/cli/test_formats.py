"""The output formats: what machines read is valid, and what people read says where and why."""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from torchlayout.cli import formats
from torchlayout.cli.commands.check import command

Run = Callable[..., Any]

SCHEMA = Path(__file__).parent / "data" / "sarif-2.1.0.json"
AWKWARD = 'import torch\n\nname = "é漢 & <b> %s"; z = y.view(12)  # "]]>"\n'


def test_every_format_is_offered_and_has_a_first_line_of_help() -> None:
    names = formats.names()
    assert {"concise", "full", "github", "gitlab", "html", "json", "json-lines", "junit", "sarif"} <= set(names)
    option = next(parameter for parameter in command.params if parameter.name == "output_format")
    assert list(option.type.choices) == names  # type: ignore[attr-defined]
    for name in names:
        render = formats.renderer(name)
        assert __import__(render.__module__, fromlist=["render"]).__doc__


@pytest.mark.parametrize("name", formats.names())
def test_no_format_chokes_on_awkward_text(run: Run, folder: Path, name: str) -> None:
    odd = folder / "a & b, 漢: <i>.py"
    odd.write_text(AWKWARD, encoding="utf-8")
    ran = run("check", odd.name, "--output-format", name)
    assert ran.status == 1
    assert "Traceback" not in ran.err
    assert "LAY101" in ran.out


@pytest.mark.parametrize("name", formats.names())
def test_no_findings(run: Run, folder: Path, name: str) -> None:
    (folder / "a.py").write_text("import torch\n")
    out = run("check", "a.py", "--output-format", name).out
    expected = {"json": "[]\n", "gitlab": "[]\n", "full": "", "concise": "", "json-lines": "", "github": ""}
    assert out == expected.get(name, out)
    assert "LAY" not in out


# ---------------------------------------------------------------- JSON
def test_json_has_the_keys_of_ruff(run: Run, turned: Path, folder: Path) -> None:
    [found] = json.loads(run("check", turned, "--output-format=json").out)
    assert found == {
        "cell": None,
        "code": "LAY101",
        "end_location": {"column": 11, "row": 4},
        "filename": str(folder / "turned.py"),
        "fix": {
            "applicability": "unsafe",
            "edits": [
                {
                    "content": "reshape",
                    "end_location": {"column": 11, "row": 4},
                    "location": {"column": 7, "row": 4},
                }
            ],
            "message": "Use `reshape`, which copies",
        },
        "location": {"column": 7, "row": 4},
        "message": "`view` of a tensor with strides (1, 4)",
        "name": "view-of-noncontiguous",
        "noqa_row": 4,
        "related": [
            {
                "cell": None,
                "end_location": {"column": 24, "row": 3},
                "filename": str(folder / "turned.py"),
                "location": {"column": 23, "row": 3},
                "message": "transposed here, by `t()`",
            }
        ],
        "url": found["url"],
    }
    assert found["url"].endswith("LAY101.md")


def test_json_of_reveal_layout(run: Run, folder: Path) -> None:
    (folder / "a.py").write_text("import torch\nreveal_layout(x)\nx.view(2)\n")
    revealed, other = json.loads(run("check", "a.py", "--output-format=json").out)
    assert revealed["layout"] == {"shape": ["B", "4"], "stride": ["4", "1"], "contiguous": "yes", "proved": True}
    assert revealed["fix"] is None
    assert "layout" not in other


def test_json_columns_count_code_points(run: Run, folder: Path) -> None:
    (folder / "a.py").write_text(AWKWARD, encoding="utf-8")
    [found] = json.loads(run("check", "a.py", "--output-format=json").out)
    line = AWKWARD.splitlines()[2]
    assert found["location"]["column"] == line.index("view") + 1
    assert found["end_location"]["column"] == line.index("view") + 5


def test_json_says_where_noqa_works(run: Run, folder: Path) -> None:
    text = "import torch\nx = y.view(1) \\\n    + z \\\n    + w"
    (folder / "a.py").write_text(text + "\n")
    [found] = json.loads(run("check", "a.py", "--output-format=json").out)
    assert (found["location"]["row"], found["noqa_row"]) == (2, 4)
    (folder / "a.py").write_text(text + "  # noqa: LAY101\n")
    assert run("check", "a.py").status == 0


def test_a_fix_outside_the_text_is_for_display(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchlayout.check import analysis
    from torchlayout.program.nodes import Span
    from torchlayout.rules.finding import Edit, Finding, Fix, Safety

    fix = Fix("Do", (Edit(Span(99, 0, 99, 1), "x"),), Safety.SAFE)
    finding = Finding("LAY101", "x", Span(1, 0, 1, 1), fix=fix)
    monkeypatch.setattr(analysis, "analyze", lambda *_: analysis.Outcome([finding]))
    (folder / "a.py").write_text("import torch; x.view")
    for name in formats.names():
        assert "Traceback" not in run("check", "a.py", "--output-format", name).err
    [found] = json.loads(run("check", "a.py", "--output-format=json").out)
    assert found["fix"]["applicability"] == "display"


def test_json_lines(run: Run, turned: Path, copied: Path) -> None:
    lines = run("check", ".", "--output-format=json-lines").out.splitlines()
    assert [json.loads(line)["code"] for line in lines] == ["LAY201", "LAY101"]
    assert [json.loads(line) for line in lines] == json.loads(run("check", ".", "--output-format=json").out)


# ---------------------------------------------------------------- other machine formats
def test_sarif_is_valid_and_tells_the_whole_story(run: Run, turned: Path, folder: Path) -> None:
    (folder / "bad.py").write_bytes(b"\0")
    log = json.loads(run("check", ".", "absent.py", "--output-format=sarif").out)
    jsonschema.validate(log, json.loads(SCHEMA.read_text()), format_checker=jsonschema.FormatChecker())
    [sarif] = log["runs"]
    [result] = sarif["results"]
    rule = sarif["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert (rule["id"], rule["name"]) == (result["ruleId"], "view-of-noncontiguous")
    assert rule["shortDescription"]["text"] == "Reports something."
    assert result["level"] == "error"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "turned.py", "uriBaseId": "SRCROOT"}
    assert place["region"] == {"startLine": 4, "startColumn": 7, "endLine": 4, "endColumn": 11}
    [related] = result["relatedLocations"]
    assert related["message"]["text"] == "transposed here, by `t()`"
    assert related["physicalLocation"]["region"]["startLine"] == 3
    [change] = result["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"]["text"] == "reshape"
    assert result["properties"]["fixSafety"] == "unsafe"
    [invocation] = sarif["invocations"]
    assert not invocation["executionSuccessful"]
    assert len(invocation["toolExecutionNotifications"]) == 2


@pytest.mark.parametrize("name", formats.names())
def test_a_file_whose_name_is_not_utf8(run: Run, folder: Path, name: str) -> None:
    try:
        with open(os.fsencode(folder) + b"/c\xff \xc3\xa9.py", "w") as file:
            file.write(AWKWARD)
    except OSError:
        pytest.skip("such a name cannot be")
    ran = run("check", ".", "--output-format", name)
    assert (ran.status, "LAY101" in ran.out) == (1, True)
    if name == "sarif":
        [result] = json.loads(ran.out)["runs"][0]["results"]
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "c%FF%20%C3%A9.py"


def test_sarif_without_findings_is_valid(run: Run, folder: Path) -> None:
    (folder / "a.py").write_text("import torch\n")
    log = json.loads(run("check", "a.py", "--output-format=sarif").out)
    jsonschema.validate(log, json.loads(SCHEMA.read_text()))
    assert log["runs"][0]["invocations"][0]["executionSuccessful"]


def test_the_schema_refuses_what_is_no_sarif() -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"version": "2.1.0", "runs": [{"results": []}]}, json.loads(SCHEMA.read_text()))


def test_junit(run: Run, turned: Path, folder: Path) -> None:
    (folder / "bad.py").write_bytes(b"\0")
    root = ET.fromstring(run("check", ".", "--output-format=junit").out)
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("2", "1", "1")
    failure = root.find(".//failure")
    assert failure is not None and failure.text is not None
    assert "turned.py:4:7: LAY101" in failure.text
    assert "line 3: transposed here" in failure.text
    assert root.find(".//error") is not None


def test_junit_holds_no_character_that_xml_forbids(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchlayout.check import analysis
    from torchlayout.program.nodes import Span
    from torchlayout.rules.finding import Finding

    finding = Finding("LAY101", "a \x1b and a \ud800", Span(1, 0, 1, 1))
    monkeypatch.setattr(analysis, "analyze", lambda *_: analysis.Outcome([finding]))
    (folder / "a.py").write_text("import torch; x.view")
    ET.fromstring(run("check", "a.py", "--output-format=junit").out)


def test_github(run: Run, turned: Path) -> None:
    line = run("check", turned, "--output-format=github").out
    assert line.startswith("::error title=torchlayout (LAY101),file=turned.py,line=4,col=7,endLine=4,endColumn=11::")
    assert line.endswith("strides (1, 4)%0A  transposed here, by `t()` (line 3)\n")


def test_github_escapes_properties(run: Run, folder: Path) -> None:
    (folder / "a,b.py").write_text(AWKWARD, encoding="utf-8")
    assert ",file=a%2Cb.py,line=3" in run("check", ".", "--output-format=github").out


def test_gitlab_fingerprints_are_distinct_and_survive_moved_lines(run: Run, folder: Path) -> None:
    body = "x.view(3)\nx.view(3)\n"
    (folder / "a.py").write_text("import torch\n" + body)
    first = json.loads(run("check", "a.py", "--output-format=gitlab").out)
    (folder / "a.py").write_text("import torch\n\n\n" + body)
    second = json.loads(run("check", "a.py", "--output-format=gitlab").out)
    prints = [entry["fingerprint"] for entry in first]
    assert len(set(prints)) == 2
    assert prints == [entry["fingerprint"] for entry in second]
    assert first[0]["location"] == {
        "path": "a.py",
        "positions": {"begin": {"line": 2, "column": 3}, "end": {"line": 2, "column": 7}},
    }
    assert first[0]["severity"] == "major"


def test_gitlab_fingerprints_survive_moved_lines_in_messages(
    run: Run, turned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torchlayout.check import analysis
    from torchlayout.program.nodes import Span
    from torchlayout.rules.finding import Finding

    prints = set()
    for line in (2, 3):
        finding = Finding("LAY101", f"turned on line {line}", Span(4, 6, 4, 10))
        monkeypatch.setattr(analysis, "analyze", lambda *_, finding=finding: analysis.Outcome([finding]))
        [entry] = json.loads(run("check", turned, "--no-cache", "--output-format=gitlab").out)
        assert entry["description"] == f"LAY101: turned on line {line}"
        prints.add(entry["fingerprint"])
    assert len(prints) == 1


# ---------------------------------------------------------------- for people
def test_full(run: Run, turned: Path) -> None:
    assert (
        run("check", turned).out
        == """\
LAY101 `view` of a tensor with strides (1, 4)
  --> turned.py:4:7
  |
3 | y = torch.randn(3, 4).t()
4 | z = y.view(12)
  |       ^^^^
  |
note: transposed here, by `t()`
  --> turned.py:3:23
  |
1 | import torch
2 |
3 | y = torch.randn(3, 4).t()
  |                       ^
4 | z = y.view(12)
  |
help: Use `reshape`, which copies (unsafe: may change what the program does)
4 - z = y.view(12)
4 + z = y.reshape(12)

"""
    )


def test_full_puts_carets_under_wide_characters_and_tabs(run: Run, folder: Path) -> None:
    (folder / "a.py").write_text('import torch\nif 1:\n\ts = "漢字"; x.view(1)\n', encoding="utf-8")
    lines = run("check", "a.py").out.splitlines()
    source = next(line for line in lines if "view(1)" in line)
    carets = lines[lines.index(source) + 1]
    from torchlayout.cli.output import width

    assert width(source[: source.index("view")]) == carets.index("^")
    assert carets.count("^") == 4
    assert "\t" not in source


def test_full_cuts_long_lines_around_the_finding(run: Run, folder: Path) -> None:
    (folder / "a.py").write_text(f"import torch\ns = '{'a' * 3000}'; x.view(1); t = '{'b' * 3000}'\n")
    lines = run("check", "a.py").out.splitlines()
    source = next(line for line in lines if "x.view(1)" in line)
    carets = next(line for line in lines if "^" in line)
    assert len(source) < 200
    assert source[carets.index("^") :].startswith("view")


def test_full_shows_control_characters_as_escapes(run: Run, folder: Path) -> None:
    (folder / "a.py").write_text("import torch\ns = '\x1b[31m'; x.view(1)\n")
    assert "\x1b" not in run("check", "a.py").out


def test_full_shows_places_in_other_files(
    run: Run, turned: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torchlayout.check import analysis
    from torchlayout.program.nodes import Span
    from torchlayout.rules.finding import Finding, Related

    (folder / "helper.py").write_text("def turn(x):\n    return x.t()\n")
    related = (Related(Span(2, 13, 2, 14), "transposed here", "helper.py"), Related(Span(9, 0, 9, 1), "gone", "no.py"))
    finding = Finding("LAY101", "a view", Span(4, 6, 4, 10), related)
    monkeypatch.setattr(analysis, "analyze", lambda *_: analysis.Outcome([finding]))
    out = run("check", turned).out
    assert "  --> helper.py:2:14" in out
    assert "2 |     return x.t()\n  |              ^\n" in out
    assert "  --> no.py:9:1" in out


def test_colours_on_a_terminal_only(run: Run, turned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    plain = run("check", turned).out
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = run("check", turned).out
    assert "\x1b[" not in plain
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert run("check", turned).out == plain


# ---------------------------------------------------------------- HTML
class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text = ""
        self.addresses: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.addresses += [value or "" for key, value in attrs if key in ("src", "href")]
        if tag not in ("meta", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag != "rect":
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_is_one_well_formed_page_with_drawings(run: Run, turned: Path) -> None:
    page = _Page(run("check", turned, "--output-format=html").out)
    assert page.open == []
    assert "svg" in page.seen
    assert "script" not in page.seen and "link" not in page.seen and "img" not in page.seen
    assert all(address.endswith("LAY101.md") for address in page.addresses)
    assert "z = y.view(12)" in page.text
    assert "transposed here, by `t()` (line 3)" in page.text
    assert "shape (B, 4), stride (1, B)" in page.text
    assert "torch raises" in page.text


def test_html_escapes(run: Run, folder: Path) -> None:
    (folder / "a.py").write_text(AWKWARD, encoding="utf-8")
    page = _Page(run("check", "a.py", "--output-format=html").out)
    assert AWKWARD.splitlines()[2] in page.text
    assert "b" in page.seen and "<b>" in page.text  # the linter's own bold, and the source's letters
