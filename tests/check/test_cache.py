"""The cache's folder: how it is marked, what is removed from it and what never is, and whose its results are."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

import torchlayout
from torchlayout.check import config, flake8_config
from torchlayout.check.cache import DAY, Cache, conditions, opened
from torchlayout.check.config import Origin
from torchlayout.check.fingerprint import fingerprint
from torchlayout.check.results import FileResult
from torchlayout.check.settings import Settings

KEY, OTHER = "0" * 64, "1" * 64
OLD = "0.0.1-" + "a" * 16
RESULT = FileResult("a.py")


def aged(path: Path, days: float) -> Path:
    """The file, made where it is not there, last used so many days ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    seconds = time.time() - days * DAY
    os.utime(path, (seconds, seconds))
    return path


def entry(folder: Path, key: str) -> Path:
    [path] = folder.rglob(key[2:])
    return path


def test_it_marks_itself(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    Cache(str(folder)).put(KEY, RESULT)
    assert (folder / ".gitignore").read_text() == "*\n"
    assert (folder / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")
    assert json.loads(entry(folder, KEY).read_text())["findings"] == []


def test_what_no_run_used_is_removed(tmp_path: Path) -> None:
    gone, kept = aged(tmp_path / OLD / "00" / ("0" * 62), 15), aged(tmp_path / OLD / "11" / ("1" * 62), 13)
    lost = aged(tmp_path / ("0.0.2-" + "b" * 16) / "00" / ("0" * 62), 15)
    aged(lost.parents[1] / ".tidied", 15)
    Cache(str(tmp_path)).put(KEY, RESULT)
    assert not gone.parent.exists() and kept.exists()
    assert not lost.parents[1].exists()
    assert entry(tmp_path, KEY).exists()
    assert (tmp_path / ".gitignore").exists()


def test_the_own_shelf_is_tidied_once_a_day(tmp_path: Path) -> None:
    Cache(str(tmp_path)).put(KEY, RESULT)
    mine = aged(entry(tmp_path, KEY), 15)
    Cache(str(tmp_path)).put(OTHER, RESULT)
    assert mine.exists()
    [stamp] = tmp_path.rglob(".tidied")
    aged(stamp, 2)
    Cache(str(tmp_path)).put(OTHER, RESULT)
    assert not mine.exists()


def test_what_is_used_stays(tmp_path: Path) -> None:
    cache = Cache(str(tmp_path))
    cache.put(KEY, RESULT)
    mine = aged(entry(tmp_path, KEY), 15)
    assert cache.get(KEY, "a.py") is not None
    assert mine.stat().st_mtime > time.time() - DAY
    fresh = aged(mine, 0.5).stat().st_mtime
    assert cache.get(KEY, "a.py") is not None
    assert mine.stat().st_mtime == fresh  # a use is noted once a day


def test_nothing_else_in_the_folder_is_touched(tmp_path: Path) -> None:
    """Who sets `cache-dir = "."` loses nothing."""
    others = [aged(tmp_path / name, 400) for name in ("src/a.py", "0.0.1-old/a", "1.2-abc/00/1", "notes", ".gitignore")]
    Cache(str(tmp_path)).put(KEY, RESULT)
    assert all(path.exists() for path in others)
    assert (tmp_path / ".gitignore").read_text() == ""
    assert not (tmp_path / "CACHEDIR.TAG").exists()
    assert Cache(str(tmp_path)).get(KEY, "a.py") is not None


# ---------------------------------------------------------------- what the settings ask for
def test_the_settings_open_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert opened(Settings(cache=False)) is None
    for settings, place in [
        (Settings(), ".torchlayout_cache"),
        (Settings(root=str(tmp_path / "a")), "a/.torchlayout_cache"),
        (Settings(root=str(tmp_path / "a"), cache_dir="b"), "b"),
    ]:
        cache = opened(settings)
        assert cache is not None and Path(cache.folder) == tmp_path / place
    assert list(tmp_path.iterdir()) == []  # opened is not written


def test_its_place_is_relative_to_the_file_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.torchlayout]\ncache-dir = ".cache/layout"\n')
    monkeypatch.chdir(tmp_path / "inner")
    settings = config.load().settings
    assert settings.cache_dir is not None and Path(settings.cache_dir) == tmp_path / ".cache" / "layout"
    for origin, place in [
        (Origin(str(tmp_path / "tox.ini"), 2), tmp_path / "x"),
        (Origin("tox.ini", 2), Path("x")),
        (flake8_config.ELSEWHERE, Path("x")),
    ]:
        places = {"torchlayout-cache-dir": origin}
        settings = flake8_config.with_options(config.load(), {"cache_dir": "x"}, places).settings
        assert settings.cache_dir is not None and Path(settings.cache_dir) == place


def test_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "torchlayout.toml").write_text('cache-dir = "~/layout"\n')
    settings = config.load(str(tmp_path)).settings
    assert settings.cache_dir is not None and Path(settings.cache_dir) == tmp_path / "layout"


@pytest.mark.usefixtures("fake_analysis")
def test_flake8s_results_are_its_own() -> None:
    """It leaves `# noqa` to flake8, so that more is found than what the command line shows."""
    cache, codes = Cache("nowhere"), frozenset({"LAY101", "LAY201"})
    theirs = cache.key(b"x", *conditions(Settings(), "a.py", codes, noqa=False))
    assert theirs == cache.key(b"x", *conditions(Settings(), os.path.join(".", "a.py"), codes, noqa=False))
    assert theirs != cache.key(b"x", *conditions(Settings(), "a.py", codes))
    assert theirs != cache.key(b"x", *conditions(Settings(), "a.py", frozenset({"LAY101"}), noqa=False))


# ---------------------------------------------------------------- which linter it was
@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A linter of one module."""
    package = tmp_path / "torchlayout"
    aged(package / "__init__.py", 3)
    monkeypatch.setattr(torchlayout, "__file__", str(package / "__init__.py"))
    return package


def test_sources_are_known_by_size_and_time(home: Path) -> None:
    first = fingerprint()
    assert fingerprint() == first
    aged(home / "__init__.py", 2)
    second = fingerprint()
    (home / "other.py").touch()
    assert len({first, second, fingerprint()}) == 3


def test_an_installed_wheel_is_known_by_its_record(home: Path) -> None:
    """Results outlive an installation of the same, as on a build server."""
    record = home.parent / "torchlayout-0.1.0.dist-info" / "RECORD"
    record.parent.mkdir()
    record.write_text("../bin/torchlayout,sha256=x,1\ntorchlayout/__init__.py,sha256=a,3\n")
    first = fingerprint()
    aged(home / "__init__.py", 2)
    record.write_text("../bin/torchlayout,sha256=y,2\ntorchlayout/__init__.py,sha256=a,3\n")
    assert fingerprint() == first
    record.write_text("torchlayout/__init__.py,sha256=b,3\n")
    assert fingerprint() != first


def test_another_release_of_the_parser_counts(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {fingerprint()}
    for version in ("1.1", "1.2"):
        info = home.parent / version / f"libcst-{version}.dist-info"
        info.mkdir(parents=True)
        spec = type("Spec", (), {"origin": str(info.parent / "libcst" / "__init__.py")})
        monkeypatch.setattr("importlib.util.find_spec", lambda name, spec=spec: spec)
        found.add(fingerprint())
    assert len(found) == 3
