"""Parts that stand alone: models of tensors to draw, excerpts, watching by looking, the line that counts."""

from __future__ import annotations

import io
import itertools
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlayout.cli import model, watch
from torchlayout.cli.model import MAX_ELEMENTS, models
from torchlayout.cli.progress import progress
from torchlayout.cli.svg import draw
from torchlayout.rules.drawing import Drawing, Picture


def picture(shape: tuple[object, ...], stride: tuple[object, ...]) -> Picture:
    return Picture("x", tuple(map(str, shape)), tuple(map(str, stride)))


def offsets(shape: tuple[object, ...], stride: tuple[object, ...]) -> tuple[int, ...]:
    found, _ = models(Drawing(picture(shape, stride), None))
    assert found is not None
    return found.offsets


def test_small_tensors_are_drawn_as_they_are() -> None:
    assert offsets((2, 3), (3, 1)) == (0, 1, 2, 3, 4, 5)
    assert offsets((3, 2), (1, 3)) == (0, 3, 1, 4, 2, 5)
    assert offsets((2, 2), (0, 1)) == (0, 1, 0, 1)
    assert offsets((2, 2), (4, 1)) == (0, 1, 4, 5)


def test_names_get_the_same_numbers_before_and_after() -> None:
    drawing = Drawing(picture(("B", "C"), (1, "B")), picture(("B", "C"), ("C", 1)))
    before, after = models(drawing)
    assert before is not None and after is not None
    assert before.shape == after.shape
    assert sorted(before.offsets) == list(after.offsets) == list(range(len(after.offsets)))
    assert before.offsets != after.offsets


@pytest.mark.parametrize(
    ("shape", "stride"),
    [
        (("?",), (1,)),
        ((2, 3), (1,)),
        ((), ()),
        (("B", "..."), (1, 2)),
        ((2,), (-1,)),
        (("B(",), (1,)),
        ((0, 2), (2, 1)),
    ],
)
def test_what_is_not_known_is_not_drawn(shape: tuple[object, ...], stride: tuple[object, ...]) -> None:
    drawing = Drawing(picture(shape, stride), None)
    assert "svg" not in draw(drawing)
    assert "figcaption" in draw(drawing)


def test_other_expressions_are_names() -> None:
    assert len(offsets(("x.size(0)", "n // h"), ("n // h", 1))) == 6


DIMS = st.lists(st.integers(1, 300), min_size=1, max_size=6)


@given(DIMS, st.randoms(use_true_random=False))
def test_models_of_permuted_tensors_are_dense_and_keep_the_order_of_strides(sizes: list[int], random: object) -> None:
    strides = [1] * len(sizes)
    for dim in reversed(range(len(sizes) - 1)):
        strides[dim] = strides[dim + 1] * sizes[dim + 1]
    order = list(range(len(sizes)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shape, stride = [sizes[i] for i in order], [strides[i] for i in order]
    found, _ = models(Drawing(picture(tuple(shape), tuple(stride)), None))
    assert found is not None
    assert len(found.offsets) <= MAX_ELEMENTS
    assert sorted(found.offsets) == list(range(len(found.offsets)))
    real = _real_order(found.shape, stride)
    assert sorted(range(len(real)), key=found.offsets.__getitem__) == sorted(range(len(real)), key=real.__getitem__)


def _real_order(shape: tuple[int, ...], stride: list[int]) -> list[int]:
    indices = itertools.product(*map(range, shape))
    return [sum(i * s for i, s in zip(index, stride, strict=True)) for index in indices]


def test_models_keep_gaps_and_broadcasts() -> None:
    wide = offsets((100, 50), (100, 1))  # x[:, :50]
    assert len(set(wide)) == len(wide)
    assert max(wide) + 1 > len(wide)
    spread = offsets((1000, 3), (0, 1))
    assert len(set(spread)) == 3


def test_drawings_say_what_is_seen() -> None:
    text = draw(Drawing(picture((2, 3), (1, 2)), picture((2, 3), (3, 1))))
    assert text.count("<svg") == 2
    assert "<title>before: shape (2, 3), stride (1, 2)</title>" in text
    assert model.MAX_SIZE >= 3


# ---------------------------------------------------------------- watching
def test_watching_by_looking_at_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "INTERVAL", 0.02)
    monkeypatch.setitem(__import__("sys").modules, "watchfiles", None)
    (tmp_path / ".hidden").mkdir()
    waiting = watch.changes([str(tmp_path)], (".py",))

    def later() -> None:
        (tmp_path / "notes.txt").write_text("not watched")
        (tmp_path / ".hidden" / "a.py").write_text("nor this")
        time.sleep(0.15)
        (tmp_path / "a.py").write_text("x = 1")

    started = time.monotonic()
    writer = threading.Timer(0.1, later)
    writer.start()
    next(waiting)
    assert time.monotonic() - started > 0.2
    writer.join()
    (tmp_path / "a.py").unlink()  # also what happens while nobody waits
    next(waiting)


# ---------------------------------------------------------------- counting
class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_long_runs_are_counted_on_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchlayout.cli.progress.SHOW_AFTER", 0.0)
    monkeypatch.setattr("torchlayout.cli.progress.REDRAW_AFTER", -1.0)
    terminal, pipe = _Terminal(), io.StringIO()
    monkeypatch.setattr("sys.stderr", terminal)
    seen = []
    for item in progress("abc", "files", lambda: 3):
        seen.append(terminal.getvalue().rpartition("\r")[2])  # the line is free while an item is looked at
        assert item in "abc"
    assert seen == ["", "", ""]
    assert "[################........] 2 of 3 files" in terminal.getvalue()
    monkeypatch.setattr("sys.stderr", pipe)
    assert list(progress("abc", "files", lambda: 3)) == ["a", "b", "c"]
    assert list(progress("abc", "files", lambda: 3, wanted=False)) == ["a", "b", "c"]
    assert pipe.getvalue() == ""
