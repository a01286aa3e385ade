"""Settings in flake8's own files: their places, their values, and mistakes in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlayout.check.config import ConfigError, Origin, load
from torchlayout.check.flake8_config import entries, not_given, places_in, refuse_unknown, with_options

pytestmark = pytest.mark.usefixtures("fake_analysis")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("line", ["torchlayout-device = tpu", "torchlayout_device: tpu", "  torchlayout-device=tpu"])
def test_a_value_has_the_line_it_stands_on(project: Path, line: str) -> None:
    Path("tox.ini").write_text(f"[other]\ntorchlayout-device = cpu\n[flake8]\n# torchlayout-device = cpu\n{line}\n")
    places = places_in(["setup.cfg", "tox.ini"])
    assert {key: str(origin) for key, origin in places.items()} == {"torchlayout-device": "tox.ini:5"}
    elsewhere = with_options(load(), {"need_contiguous": "lib.f:q"}, places)
    assert str(elsewhere.origin("need_contiguous")) == "flake8's options"
    with pytest.raises(ConfigError, match=r"^tox\.ini:5: torchlayout-device: expected"):
        with_options(load(), {"device": "tpu"}, places)
    configuration = with_options(load(), {"device": "cpu"}, places)
    assert (configuration.settings.device, str(configuration.origin("device"))) == ("cpu", "tox.ini:5")


def test_what_the_command_line_gives_stands_in_no_file() -> None:
    places = {f"torchlayout-{key}": Origin("a.cfg", 1) for key in ("cache", "cache-dir", "device")}
    for arguments, left in (
        (["a.py", "--config=x"], ["cache", "cache-dir", "device"]),
        (["--torchlayout-cache"], ["cache-dir", "device"]),
        (["--torchlayout-cache-d", "x"], ["cache", "device"]),
        (["--torchlayout-device=cpu", "--torchlayout-cache-dir", "x"], ["cache"]),
    ):
        assert list(not_given(places, arguments)) == [f"torchlayout-{key}" for key in left]


def test_toml(project: Path) -> None:
    Path("pyproject.toml").write_text(
        "[tool.flake8]\n'torchlayout-device' = 'cpu'\nmax = [\n  ['a'],\n]\ntorchlayout-assume-sizes = []\n"
        "[tool.flake8.torchlayout-known-returns]\nf = 'x'\n[tool.other]\ntorchlayout-x = 1\n"
    )
    assert entries("pyproject.toml") == {
        "torchlayout-device": 2,
        "torchlayout-assume-sizes": 6,
        "torchlayout-known-returns": 7,
    }


def test_values_of_toml(project: Path) -> None:
    given = {
        "device": "cuda",
        "need_contiguous": ["lib.f:q,k", "lib.g:*"],
        "assume_sizes": {"batch": ">1", "heads": 8},
        "report_unused_suppressions": True,
    }
    settings = with_options(load(), given, {}).settings
    assert settings.device == "cuda"
    assert settings.need_contiguous == (("lib.f", ("q", "k")), ("lib.g", ("*",)))
    assert settings.assume_sizes == (("batch", (">1",)), ("heads", ("8",)))
    assert settings.report_unused_suppressions is True
    for wrong in (["lib.f"], [3], {"lib.f": 3}):
        with pytest.raises(ConfigError, match=r"^flake8's options: torchlayout-need-contiguous: "):
            with_options(load(), {"need_contiguous": wrong}, {})


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("torchlayout-devize", " (did you mean 'torchlayout-device'?)"),
        ("torchlayout_zzz", ""),
        ("torchlayout-select", " (flake8 has its own 'select')"),
        ("torchlayout-follow-imports", " (it does not apply in flake8)"),
    ],
)
def test_what_nobody_knows_is_refused(project: Path, key: str, hint: str) -> None:
    Path("setup.cfg").write_text(f"[flake8]\n\n{key} = x\n")
    with pytest.raises(ConfigError) as raised:
        refuse_unknown(places_in(["absent.cfg", "setup.cfg"]))
    assert str(raised.value) == f"setup.cfg:3: unknown setting {key.replace('_', '-')!r}{hint}"
    Path("setup.cfg").write_text(f"[other]\n{key} = x\n[flake8]\ntorchlayout-device = x\n")
    refuse_unknown(places_in(["setup.cfg"]))


def test_the_file_that_has_the_last_word_gives_the_place(project: Path) -> None:
    Path("a.cfg").write_text("[flake8]\n\ntorchlayout-device = cpu\n")
    Path("b.cfg").write_text("[flake8]\ntorchlayout-device = tpu\ntorchlayout-known-returns = f:contiguous\n")
    places = places_in(["a.cfg", "b.cfg"])
    assert {key: str(origin) for key, origin in places.items()} == {
        "torchlayout-device": "a.cfg:3",
        "torchlayout-known-returns": "b.cfg:3",
    }
