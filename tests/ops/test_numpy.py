"""NumPy's functions and methods against NumPy itself, over arrays in many layouts, reversed ones too."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from conformance import Verdict, _check_call_node, array_operand, check_call
from real_layouts import inputs

from torchlayout.layouts import is_contiguous
from torchlayout.ops import Refused, find_function, select
from torchlayout.ops.table import all_rows
from torchlayout.sizes import YES, Facts

MORE = """
    a.T[::2].copy()
    np.array(a.T)
    a.copy(order="F")
    a.copy(order="A")
    np.copy(a[..., ::-1])
    a.astype(np.float32, copy=False)
    a.astype(np.float64)
    a.astype(np.float32, order="C")
    np.asarray(a, dtype=np.float64)
    np.asarray(a, order="F")
    np.asarray(a, order="C")
    np.ascontiguousarray(a[:1])
    np.ascontiguousarray(a, dtype=np.float64)
    np.reshape(a, (-1, 2))
    a.reshape(-1, order="F")
    a.reshape(2, -1, order="F")
    np.reshape(a, (2, -1), order="A")
    a.ravel("F")
    a.transpose()
    a.transpose(0, 2, 1)
    a.transpose((2, 0, 1))
    np.transpose(a, (1, 0))
    np.flip(a)
    np.flip(a, (0, 1))
    np.rot90(a, 2)
    np.rot90(a, -1)
    np.rot90(a, 3, (1, 2))
    np.rollaxis(a, 2, 1)
    np.rollaxis(a, 0, 2)
    np.moveaxis(a, [0, 1], [-1, -2])
    np.expand_dims(a, (0, -1))
    np.squeeze(a, 0)
    a.diagonal(1)
    np.diagonal(a, -1, 1, 0)
    a.view(np.int32)
    a.view(np.uint8)
    a.view(np.float64)
    a.sum(0)
    a.sum(-1, keepdims=True)
    a.mean((0, 1))
    a.max(1)
    np.std(a, 1)
    np.add(a, a.T)
    np.add(a, a[0])
    np.add(a[0], a)
    np.multiply(a, 2)
    np.multiply(a.T, a[..., :1].T)
    np.where(a > 0, a, a.T)
    np.concatenate([a, a.copy()], axis=-1)
    np.concatenate((a, a[::-1]), 1)
    np.stack([a, a], 1)
    np.stack([a.T, a.T], axis=-1)
    np.vstack([a, a.copy()])
    np.hstack([a, a.copy()])
    np.sort(a, axis=0)
    np.sort(a, None)
    np.argsort(a, 0)
    np.cumsum(a)
    np.pad(a, ((1, 0),) * a.ndim)
    np.tile(a, 2)
    np.repeat(a, 3)
    np.take(a, [0], axis=-1)
    np.split(a, 2, axis=-1)
    np.array_split(a, 4, axis=-1)
    np.argmax(a, 1, keepdims=True)
    np.zeros(5)
    np.zeros((2, 3, 4), order="F")
    np.zeros_like(a, order="C")
    np.full(3, 2.0)
    np.arange(2, 20, 3)
    np.arange(5, dtype=np.float32)
    np.eye(3, 4)
    np.linspace(0, 1, 7)
    np.meshgrid(np.arange(2), np.arange(3), indexing="ij")
    np.array([[1, 2], [3, 4]])
    np.array([a, a])
    np.random.rand(2, 3)
    np.random.normal(size=(2, 3))
""".strip().splitlines()


def arrays() -> list[np.ndarray]:
    found = []
    for name, x in inputs():
        a = x.numpy()
        found.append(a)
        if "contiguous" in name and a.ndim and a.size:
            found += [a[::-1], a[..., ::-1], a[:1][::-1]]
            if a.ndim > 1:
                found += [a.T[::-1], a[::2, ::-1]]
    return found


ARRAYS = arrays()
EXAMPLES = sorted({row.example for row in all_rows() if row.numpy and row.example} | {text.strip() for text in MORE})


def check(example: str, array: np.ndarray) -> Verdict:
    """Compare the outermost call of an example, an expression over `a` and `np`."""
    tree = ast.parse(example, mode="eval").body
    assert isinstance(tree, ast.Call)

    def value_of(node: ast.expr) -> Any:
        return eval(compile(ast.Expression(node), "<example>", "eval"), {"np": np, "a": array})

    return _check_call_node(tree, value_of, None)


def verdicts(example: str, every: int = 6) -> list[Verdict]:
    """The verdicts on every sixth array, or on all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [check(example, array) for array in ARRAYS[::every]]


@pytest.mark.full
@pytest.mark.parametrize("example", EXAMPLES)
def test_numpy_agrees_on_every_array(example: str) -> None:
    wrong = [verdict.detail for verdict in verdicts(example, 1) if verdict.kind in ("wrong", "absent")]
    assert not wrong, wrong[0]


@pytest.mark.parametrize("example", EXAMPLES)
def test_numpy_agrees(example: str) -> None:
    found = verdicts(example)
    wrong = [verdict.detail for verdict in found if verdict.kind in ("wrong", "absent")]
    assert not wrong, wrong[0]
    assert any(verdict.counts for verdict in found)


def test_most_answers_are_exact() -> None:
    counts: Counter[str] = Counter()
    for example in EXAMPLES[::4]:
        counts.update(verdict.kind for verdict in verdicts(example))
    assert counts["exact"] >= 0.9 * (counts["exact"] + counts["unknown"])


FILLED = [(name, x) for name, x in inputs() if x.numel()]


@pytest.mark.parametrize(("name", "x"), FILLED, ids=[name for name, _ in FILLED])
def test_tensor_to_array_keeps_strides(name: str, x: torch.Tensor) -> None:
    verdict = check_call("Tensor.numpy", [x])
    assert verdict.kind == "exact", verdict.detail


def test_packing_keeps_a_reversed_dimension_of_size_one() -> None:
    """NumPy takes no notice of the strides of such dimensions, and torch refuses the array all the same."""
    array = np.zeros((3, 4, 5))[::-1][:1]
    row, bound = select(find_function("numpy.ascontiguousarray"), [array_operand(array)], {}) or (None, {})
    assert row is not None
    outcome = row.apply(bound, Facts())
    assert is_contiguous(outcome.layout, Facts()) is YES
    assert outcome.layout.strides[0] < 0
    with pytest.raises(ValueError, match="negative"):
        torch.from_numpy(np.ascontiguousarray(array))


def test_reversed_array_does_not_become_a_tensor() -> None:
    rows = find_function("torch.from_numpy")
    row, bound = select(rows, [array_operand(np.zeros((3, 4))[::-1])], {}) or (None, {})
    assert row is not None
    with pytest.raises(Refused):
        row.apply(bound, Facts())
