"""Many files: order, processes, the cache, and single files that go wrong."""

from __future__ import annotations

import dataclasses
import multiprocessing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from torchlayout.check import analysis, run
from torchlayout.check.cache import Cache
from torchlayout.check.reading import UnreadableSource
from torchlayout.check.results import FileError, FileResult, Suppression
from torchlayout.check.run import check_file, check_paths
from torchlayout.check.settings import Settings
from torchlayout.program.nodes import Span
from torchlayout.rules.drawing import Drawing, Picture
from torchlayout.rules.finding import Edit, Finding, Fix, Related, Safety

pytestmark = pytest.mark.usefixtures("fake_analysis")

FORKS = multiprocessing.get_start_method() == "fork"
needs_fork = pytest.mark.skipif(not FORKS, reason="the stand-in for the analysis reaches only forked processes")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Forty files, some of them bad."""
    folder = tmp_path / "tree"
    folder.mkdir()
    for number in range(40):
        (folder / f"f{number:02}.py").write_text(f"import torch\nx.size({number})\n" + "x.view(6)\n" * (number % 3))
    (folder / "bad_bytes.py").write_bytes(b"import torch\nx.view('\xff')\n")
    (folder / "bad_syntax.py").write_text("def f(:\n")
    (folder / "crash.py").write_text("import torch\nx.view(crash_here)\n")
    monkeypatch.chdir(folder)
    return folder


def test_results_in_order(tree: Path) -> None:
    results = list(check_paths(["."], Settings()))
    assert [result.path for result in results] == sorted(path.name for path in tree.iterdir())
    by_name = {result.path: result for result in results}
    assert "not UTF-8" in str(by_name["bad_bytes.py"].error)
    assert "syntax error" in str(by_name["bad_syntax.py"].error)
    assert [f.code for f in by_name["crash.py"].findings] == ["LAY901"]
    assert len(by_name["f05.py"].findings) == 2
    assert (by_name["f05.py"].source or "").startswith("import torch")
    assert by_name["f03.py"].source is None  # nothing is reported, nothing is kept


@needs_fork
def test_jobs_do_not_change_the_results(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "WORTH_A_PROCESS", 4)
    one = without_traceback(check_paths(["."], Settings()))
    assert without_traceback(check_paths(["."], Settings(), jobs=3)) == one
    assert without_traceback(check_paths(["."], Settings(), jobs=0)) == one


def without_traceback(results: Iterator[FileResult]) -> list[tuple[Any, ...]]:
    return [(r.path, r.source, r.findings, r.error) for r in results]


@needs_fork
def test_a_process_that_dies_costs_one_file(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "WORTH_A_PROCESS", 4)
    (tree / "f07.py").write_text("import torch\nx.view(die_here)\n")
    results = list(check_paths(["."], Settings(), jobs=2))
    assert [result.path for result in results] == sorted(path.name for path in tree.iterdir())
    dead = [result for result in results if "died" in str(result.error)]
    assert [result.path for result in dead] == ["f07.py"]
    assert sum(len(result.findings) for result in results) == 13 * (1 + 2) - 1 + 1  # less f07's, more the crash's


def test_a_file_deleted_in_mid_run(tree: Path) -> None:
    results = check_paths(["."], Settings())
    next(results)
    (tree / "f39.py").unlink()
    *_, last = results
    assert (last.path, str(last.error)) == ("f39.py", "cannot read the file: No such file or directory")


def test_files_of_another_kind(tree: Path) -> None:
    (tree / "a.ipynb").write_text("x.view(6) import torch")
    assert all(result.path != "a.ipynb" for result in check_paths(["."], Settings()))
    [result] = [r for r in check_paths(["."], Settings(), readers={".ipynb": swapped}) if r.path == "a.ipynb"]
    assert [f.span.line for f in result.findings] == [2]
    assert result.source == "import torch\nx.view(6)"
    (tree / "a.ipynb").write_text("nothing")
    assert str(check_file("a.ipynb", Settings(), readers={".ipynb": swapped}).error) == "not such a notebook"


def swapped(data: bytes) -> str:
    code, found, rest = data.decode().partition(" import torch")
    if not found:
        raise UnreadableSource("not such a notebook")
    return "import torch\n" + code + rest


class Counter:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        self.inner = analysis.analyze
        monkeypatch.setattr(analysis, "analyze", self)

    def __call__(self, *arguments: Any) -> Any:
        self.calls += 1
        return self.inner(*arguments)


def test_the_cache_saves_the_work_and_changes_nothing(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = Counter(monkeypatch)
    cache = Cache(str(tmp_path / "cache"))
    settings = Settings(report_unused_suppressions=True)
    (tree / "g.py").write_text("import torch\nx.view(noted)\nx.size()  # noqa: LAY101\n")
    first = list(check_paths(["."], settings, cache=cache))
    calls = counter.calls
    second = list(check_paths(["."], settings, cache=Cache(str(tmp_path / "cache"))))
    assert calls > 20
    assert counter.calls == calls + 1  # a failure is not kept, and is tried again
    assert without_traceback(iter(second)) == without_traceback(iter(first))
    [mine] = [result for result in second if result.path == "g.py"]
    assert mine.notes == ("a note",)
    assert [s.text for s in mine.unused_suppressions] == ["# noqa: LAY101"]


@pytest.mark.parametrize(
    "change",
    [
        {"ignore": ("LAY2",)},
        {"device": "cuda"},
        {"target_torch_version": "2.4"},
        {"assume_sizes": (("B", (">1",)),)},
        {"report_unused_suppressions": True},
        {"per_file_ignores": (("*.py", ("LAY2",)),)},
    ],
    ids=str,
)
def test_what_decides_a_result_is_part_of_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    counter = Counter(monkeypatch)
    path = tmp_path / "a.py"
    path.write_text("import torch\nx.view(6)\n")
    cache = Cache(str(tmp_path / "cache"))
    for settings in (Settings(), Settings(), Settings(exclude=("no",)), Settings(**change)):
        check_file(str(path), settings, cache)
    assert counter.calls == 2
    path.write_text("import torch\nx.view(66)\n")
    check_file(str(path), Settings(), cache)
    assert counter.calls == 3
    monkeypatch.setattr("torchlayout.check.cache.fingerprint", lambda: "another")
    check_file(str(path), Settings(), Cache(str(tmp_path / "cache")))
    assert counter.calls == 4


def test_a_result_holds_while_the_files_it_read_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = Counter(monkeypatch)
    other = tmp_path / "other.py"
    path = tmp_path / "a.py"
    path.write_text(f"import torch\nx.view(6)  # reads '{other.as_posix()}'\n")
    cache = Cache(str(tmp_path / "cache"))
    for calls, text in enumerate([None, "x = 1\n", "x = 2\n", None], start=1):
        if text is not None:
            other.write_text(text)
        else:
            other.unlink(missing_ok=True)
        first = check_file(str(path), Settings(), cache)
        assert check_file(str(path), Settings(), cache) == first
        assert first.reads == (other.as_posix(),)
        assert counter.calls == calls


def test_every_part_of_a_result_survives(tmp_path: Path) -> None:
    span = Span(1, 2, 3, 4)
    before, after = Picture("x.t()", ("B", "3"), ("1", "B")), Picture("copy", ("B", "3"), ("3", "1"))
    findings = [
        Finding("LAY101", "wrong", span),
        Finding(
            "LAY201",
            "ünïcode",
            span,
            (Related(span, "here"), Related(span, "there", "b.py")),
            Fix("mend", (Edit(span, "x"), Edit(span, "")), Safety.UNSAFE),
            {"shape": ["B", "4"], "stride": None, "contiguous": "no", "proved": True},
            Drawing(before, after),
        ),
        Finding("LAY102", "drawn", span, drawing=Drawing(before, None)),
    ]
    assert all(getattr(findings[1], field.name) for field in dataclasses.fields(Finding)), "a new field: cache it too"
    result = FileResult(
        "a.py",
        None,
        tuple(findings),
        FileError("bad", 3, 4),
        (Suppression(span, "# x", ("LAY1",), True, False),),
        ("n",),
    )
    cache = Cache(str(tmp_path))
    cache.put("0" * 64, result)
    assert cache.get("0" * 64, "a.py") == result


def test_the_place_of_a_file_is_part_of_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = Counter(monkeypatch)
    cache = Cache(str(tmp_path / "cache"))
    for name in ("a.py", "b.py"):  # which modules an import finds depends on it
        (tmp_path / name).write_text("import torch\nx.view(6)\n")
        check_file(str(tmp_path / name), Settings(root=str(tmp_path)), cache)
    assert counter.calls == 2


def entries(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and len(path.name) == 62]


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b'{"findings": [[1]], "error": null}', b"\xff\xfe", b'{"findings": 3}', b"null"]
)
def test_a_damaged_entry_counts_as_absent(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "a.py"
    path.write_text("import torch\nx.view(6)\n")
    cache = Cache(str(tmp_path / "cache"))
    expected = check_file(str(path), Settings(), cache)
    [entry] = entries(tmp_path / "cache")
    whole = entry.read_bytes()
    entry.write_bytes(damage)
    assert check_file(str(path), Settings(), cache) == expected
    assert entry.read_bytes() == whole


def test_a_cache_that_cannot_be_written_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("import torch\nx.view(6)\n")
    (tmp_path / "cache").write_text("a file stands where the folder should be")
    result = check_file(str(path), Settings(), Cache(str(tmp_path / "cache")))
    assert [f.code for f in result.findings] == ["LAY101"]


@needs_fork
def test_runs_at_once_share_a_cache(tree: Path, tmp_path: Path) -> None:
    cache = Cache(str(tmp_path / "cache"))
    expected = without_traceback(check_paths(["."], Settings()))
    context = multiprocessing.get_context("fork")
    with context.Pool(4) as pool:
        for results in pool.map(_run_with, [cache] * 8):
            assert results == expected


def _run_with(cache: Cache) -> list[tuple[Any, ...]]:
    return without_traceback(check_paths(["."], Settings(), cache=cache))
