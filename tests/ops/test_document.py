"""docs/ops.md says what the table says."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlayout.ops.document import Checked, main, page, read, share
from torchlayout.ops.modules import all_modules
from torchlayout.ops.table import all_rows

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_not_stale() -> None:
    assert main(["--check"]) == 0, "run `python -m torchlayout.ops.document`"


def test_a_stale_page_is_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "ops.md"
    assert main(["--check", "--out", str(out)]) == 1
    assert main(["--out", str(out)]) == 0
    assert main(["--check", "--out", str(out)]) == 0
    out.write_text(out.read_text().replace("view", "copy", 1))
    assert main(["--check", "--out", str(out)]) == 1
    assert "stale" in capsys.readouterr().err


def test_every_row_and_module_is_on_the_page() -> None:
    text = (DOCS / "ops.md").read_text().replace("\\|", "|")
    for row in all_rows():
        assert f"`{row.schema}`" in text, row.schema
    for module in all_modules():
        assert f"`{module.schema.removesuffix(' -> None')}`" in text, module.schema


def test_every_row_has_words() -> None:
    assert [row.schema for row in all_rows() if not row.words] == []
    assert [module.name for module in all_modules() if not module.words] == []


def test_nothing_was_wrong() -> None:
    for report in read(DOCS / "conformance"):
        assert report.total("wrong") == 0, report.title


def test_where_it_was_checked() -> None:
    counts = {"exact": 9, "unknown": 1, "wrong": 0, "absent": 0}
    paths = {"permute": ["Tensor.permute"], "fft.fft": ["torch.fft.fft"]}
    report = Checked("CUDA, torch 2.13", {"permute"}, dict.fromkeys(paths, counts), paths)
    line = next(line for line in page([report]).splitlines() if line.startswith("| `permute` "))
    assert "CUDA" in line
    assert share(report.counts["permute"]) == 0.9
    assert "`permute` (CUDA, torch 2.13): 90%; an argument that decides it" in page([report])
    assert "`fft.fft` (CUDA, torch 2.13): 90%; MKL, pocketfft and cuFFT" in page([report])
