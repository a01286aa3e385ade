"""Lets the tests of this folder import what lies beside them, and gives them a folder with one file to lint."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from small_project import SOURCE

    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(SOURCE)
    return tmp_path
