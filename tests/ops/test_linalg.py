"""Linear algebra leaves matrices column-major, as LAPACK does; Fourier transforms follow their library."""

from __future__ import annotations

import pytest
from facts import Symbolic, assert_strides

from torchlayout.layouts import contiguous
from torchlayout.ops import Fields, Operand, Result

POSITIVE = "torch.rand(2, 3, 3) @ torch.rand(2, 3, 3).mT + 9 * torch.eye(3)"


@pytest.mark.parametrize(
    ("x", "call", "strides"),
    [
        (POSITIVE, "torch.linalg.inv(x)", (9, 1, 3)),
        (POSITIVE, "torch.linalg.solve(x, torch.rand(2, 3, 4))", (12, 1, 3)),
        # a batch of vectors: column-major too
        (POSITIVE, "torch.linalg.solve(x, torch.rand(2, 3))", (1, 2)),
        (POSITIVE, "torch.linalg.solve(x, torch.rand(2, 4, 3), left=False)", (12, 3, 1)),
        (POSITIVE, "torch.linalg.pinv(x)", (9, 3, 1)),
        (POSITIVE, "torch.linalg.matrix_power(x, -1)", (9, 1, 3)),
        (POSITIVE, "torch.linalg.matrix_power(x, 3)", (9, 3, 1)),
        (POSITIVE, "torch.linalg.eigvalsh(x)", (3, 1)),
        ("torch.rand(6, 2, 3)", "torch.linalg.tensorinv(x, 1)", (3, 1, 6)),
        ("torch.rand(4, 8)", "torch.fft.fft(x)", (8, 1)),
        ("torch.rand(4, 8)", "torch.fft.rfft(x)", (5, 1)),
        ("torch.rand(2, 64)", "torch.stft(x, 16, 4, return_complex=True)", (153, 1, 9)),
    ],
)
def test_strides(x: str, call: str, strides: tuple[int, ...]) -> None:
    if call.startswith("torch.linalg") and "rand(2, 3, 3)" in x:
        x = f"torch.linalg.cholesky({x}).contiguous() + torch.eye(3)" if "eig" not in call else x
    assert_strides(x, call, strides)


@pytest.mark.parametrize(
    ("function", "fields"),
    [
        ("qr", ["Q", "R"]), ("svd", ["U", "S", "Vh"]), ("eigh", ["eigenvalues", "eigenvectors"]), ("lu", ["P", "L", "U"]),
        ("slogdet", ["sign", "logabsdet"]), ("cholesky_ex", ["L", "info"]), ("lu_factor", ["LU", "pivots"]),
    ],
)  # fmt: skip
def test_decompositions_are_named_tuples(function: str, fields: list[str]) -> None:
    world = Symbolic("B N")
    found = world.call(f"torch.linalg.{function}", world.tensor("B", "N", "N"))
    assert isinstance(found, Fields)
    assert list(found.values) == fields


@pytest.mark.parametrize(("device", "known"), [("cpu", True), ("cuda", False), (None, False)])
def test_the_last_factor_of_svd_depends_on_the_driver(device: str | None, known: bool) -> None:
    found = Symbolic().call("torch.linalg.svd", Operand(contiguous((5, 3)), device=device))
    assert isinstance(found, Fields)
    last = found.values["Vh"]
    assert isinstance(last, Result)
    assert (None not in last.layout.strides) is known


@pytest.mark.parametrize(
    ("call", "shape", "arguments", "known"),
    [
        ("fft", (4, 8), {"dim": 0}, False),
        ("fft2", (2, 4, 8), {}, True),
        ("rfft2", (4, 8), {}, False),
        ("rfft2", (2, 4, 8), {}, True),
        ("irfft2", (2, 4, 8), {}, True),
        ("ihfft2", (2, 4, 8), {}, False),
        ("fftn", (2, 3, 4, 8), {}, False),
    ],
)
def test_transforms_are_known_where_all_libraries_agree(
    call: str, shape: tuple[int, ...], arguments: dict[str, int], known: bool
) -> None:
    layout = Symbolic().layout(f"torch.fft.{call}", Operand(contiguous(shape)), **arguments)
    assert (None not in layout.strides) is known
    if known:
        assert layout == contiguous(layout.shape)


def test_sizes_of_real_transforms() -> None:
    world = Symbolic("B N")
    x = world.tensor("B", "N")
    half = world.layout("torch.fft.rfft", x).sizes[-1]
    assert world.facts.render(half) == "N//2 + 1"
    assert world.layout("torch.fft.irfft", x).sizes[-1] == 2 * (world["N"] - 1)
    assert world.layout("torch.fft.fft", x, n=7).sizes[-1] == 7
