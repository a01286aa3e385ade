"""The settings as data: every kind of value in TOML and in text, and the documentation of each."""

from __future__ import annotations

import dataclasses
import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

from torchlayout.check.config import load
from torchlayout.check.settings import BY_KEY, OPTIONS, Option, Settings

pytestmark = pytest.mark.usefixtures("fake_analysis")

GOOD = [
    ("select", ["LAY1", "LAY201"], "LAY1, LAY201", ("LAY1", "LAY201")),
    ("ignore", [], "", ()),
    ("exclude", ["a b", "c/"], None, ("a b", "c/")),
    ("respect-gitignore", False, "no", False),
    ("report-unused-suppressions", True, "true", True),
    ("target-torch-version", "2.10", "2.10", "2.10"),
    ("device", "cuda", " cuda ", "cuda"),
    ("cache", False, "off", False),
    ("cache-dir", "../cache", "../cache", "../cache"),
    (
        "per-file-ignores",
        {"tests/*": ["LAY3", "LAY201"], "a.py": ["LAY2"]},
        "tests/*:LAY3,LAY201 a.py: LAY2",
        (("tests/*", ("LAY3", "LAY201")), ("a.py", ("LAY2",))),
    ),
    ("known-returns", {"lib.pack": "contiguous"}, "lib.pack:contiguous", (("lib.pack", ("contiguous",)),)),
    ("need-contiguous", {"k.run": ["x", "0"]}, "k.run:\n  x,\n  0", (("k.run", ("x", "0")),)),
    ("assume-sizes", {"B": "> 1", "self.h": "8"}, "B:>1 self.h:8", (("B", (">1",)), ("self.h", ("8",)))),
]


@pytest.mark.parametrize(("key", "toml", "text", "value"), GOOD, ids=[case[0] for case in GOOD])
def test_values_from_toml_and_from_text(key: str, toml: Any, text: str | None, value: Any) -> None:
    kind = BY_KEY[key].kind
    assert kind.from_toml(toml) == value
    if text is not None:
        assert kind.from_text(text) == value
        assert kind.from_text(kind.to_text(value)) == value


def test_every_kind_of_setting_is_tried_above() -> None:
    tried = {type(BY_KEY[key].kind) for key, *_ in GOOD}
    assert tried == {type(option.kind) for option in OPTIONS}


@pytest.mark.parametrize(
    ("key", "toml", "message"),
    [
        ("select", "LAY1", "expected a list of strings, such as [\"LAY101\"], not 'LAY1'"),
        ("select", ["LAY1", 3], "expected a list of strings"),
        ("select", ["E501"], "'E501' is not a code"),
        ("select", ["LAY103"], "no rule has the code LAY103 (did you mean LAY10"),
        ("ignore", ["LAY7"], "no rule has the code LAY7"),
        ("ignore", ["lay1"], "'lay1' is not a code"),
        ("respect-gitignore", "yes", "expected true or false, not 'yes'"),
        ("target-torch-version", 2.10, 'expected a version in quotes, such as "2.4", not the number 2.1'),
        ("target-torch-version", "two", "expected a version such as 2.4 or 2.13.1, not 'two'"),
        ("device", "tpu", 'expected "cpu" or "cuda", not \'tpu\''),
        ("device", ["cpu"], "expected a string"),
        ("cache-dir", " ", "expected a value, not an empty string"),
        ("per-file-ignores", ["a:LAY1"], "expected a table, not"),
        ("per-file-ignores", {"a": "LAY1"}, "a: expected a list of strings"),
        ("per-file-ignores", {"a": ["LAY777"]}, "a: no rule has the code LAY777"),
        ("per-file-ignores", {"a": []}, "a: expected at least one value"),
        ("known-returns", {"f": "packed"}, 'f: expected "contiguous", "non-contiguous" or "channels-last", not'),
        ("known-returns", {"f": ["contiguous", "contiguous"]}, "f: expected one value"),
        ("assume-sizes", {"B": "<3"}, 'B: expected a size: a number, or a bound such as ">1" or ">=2", not \'<3\''),
    ],
)
def test_values_that_make_no_sense(key: str, toml: Any, message: str) -> None:
    with pytest.raises(ValueError) as raised:
        BY_KEY[key].kind.from_toml(toml)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("per-file-ignores", "LAY1", "expected entries of the form PATTERN:CODES, not 'LAY1'"),
        ("per-file-ignores", "a:", "a: expected at least one value"),
        ("known-returns", "f:packed", 'f: expected "contiguous"'),
        ("respect-gitignore", "maybe", "expected true or false, not 'maybe'"),
    ],
)
def test_texts_that_make_no_sense(key: str, text: str, message: str) -> None:
    with pytest.raises(ValueError) as raised:
        BY_KEY[key].kind.from_text(text)
    assert message in str(raised.value)


def test_settings_travel_and_are_hashable() -> None:
    settings = Settings(select=("LAY1",), per_file_ignores=(("a", ("LAY1",)),))
    assert pickle.loads(pickle.dumps(settings)) == settings
    assert hash(settings) == hash(dataclasses.replace(settings))


def test_names() -> None:
    option = BY_KEY["target-torch-version"]
    assert (option.name, option.flag, option.flake8_flag) == (
        "target_torch_version",
        "--target-torch-version",
        "--torchlayout-target-torch-version",
    )


PAGE = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
SECTIONS = dict(part.split("`", 1) for part in PAGE.split("### `")[1:])


def test_every_setting_has_a_section_in_the_documentation() -> None:
    assert list(SECTIONS) == [option.key for option in OPTIONS]


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.key)
def test_the_documentation_of_a_setting_is_true(option: Option) -> None:
    section = SECTIONS[option.key]
    assert option.help in section
    assert f"`{option.flag}`" in section
    assert (f"`{option.flake8_flag}`" in section) == option.flake8
    default = re.search(r"- Default: (.*)", section)
    assert default is not None
    plain = {"not set": None, "empty": ()}
    shown = default[1]
    assert (plain[shown] if shown in plain else _frozen(json.loads(shown.strip("`")))) == option.default


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


CODES = re.compile(r"LAY\d{3}")


@pytest.mark.parametrize("example", re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL))
def test_the_examples_of_the_documentation_load(example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documented = set(CODES.findall(PAGE))
    monkeypatch.setattr("torchlayout.check.selection.known_codes", lambda: tuple(sorted(documented | {"LAY401"})))
    (tmp_path / "pyproject.toml").write_text(example)
    configuration = load(str(tmp_path))
    if "tool.torchlayout" in example:
        assert configuration.origins
