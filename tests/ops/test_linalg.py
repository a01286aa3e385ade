"""Linear algebra leaves matrices column-major, as LAPACK does; Fourier transforms follow their library."""

from __future__ import annotations

import pytest
import torch
from conformance import check_call
from facts import Symbolic, assert_strides
from real_layouts import variants

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


@pytest.mark.parametrize(
    ("shape", "tolerance"), [((2, 3, 3), (4, 1)), ((2, 3, 3), (0, 1)), ((1, 0, 3), (2,)), ((3, 3), ())]
)
def test_ranks_broadcast_with_tolerances(shape: tuple[int, ...], tolerance: tuple[int, ...]) -> None:
    verdict = check_call("torch.linalg.matrix_rank", [torch.rand(shape)], {"atol": torch.full(tolerance, 1e-3)})
    assert verdict.kind == "exact", verdict.detail


@pytest.mark.parametrize("driver", [None, "gels", "gelsy", "gelsd", "gelss"])
def test_what_least_squares_gives_beside_the_solution(driver: str | None) -> None:
    """Whether residuals are there depends on the matrix's rank, for two of the drivers."""
    for rows, columns in ((4, 2), (3, 3), (2, 4)):
        for batch in ((), (2,)):
            for right in ((rows,), (rows, 5)):
                x, b = torch.rand(*batch, rows, columns), torch.rand(*batch, *right)
                verdict = check_call("torch.linalg.lstsq", [x, b], {"driver": driver}, device="cpu")
                open_ = rows > columns and driver in ("gelsd", "gelss")
                assert verdict.kind == ("unknown" if open_ else "exact"), verdict.detail
    verdict = check_call("torch.linalg.lstsq", [torch.rand(3, 2), torch.rand(3, 1)])
    assert verdict.kind == "unknown"


def test_transforms_of_what_lies_in_order_are_packed() -> None:
    """Gaps do not matter, the order of dimensions does: MKL keeps it, pocketfft does not."""
    x = torch.rand(4, 6, 8)
    for y, known in ((x, True), (x[:, ::2], True), (x[..., ::2], True), (x.transpose(0, 1), False), (x.mT, False)):
        for name in ("fft", "rfft", "ihfft"):
            verdict = check_call(f"torch.fft.{name}", [y])
            assert verdict.kind == ("exact" if known else "unknown"), verdict.detail
    assert check_call("torch.fft.hfft2", [x]).kind == "exact"
    assert check_call("torch.fft.ihfft2", [x]).kind == "unknown"


@pytest.mark.parametrize("windowed", [True, False])
def test_frames_of_signals_that_lie_apart(windowed: bool) -> None:
    window = torch.hann_window(16) if windowed else None
    for _, x in variants(torch.rand(3, 100), shrink=False):
        options = {"hop_length": 4, "window": window, "center": False, "return_complex": True}
        verdict = check_call("torch.stft", [x, 16], options)
        in_order = x.stride(0) > 4 * x.stride(1) or (windowed and 0 in x.stride())
        assert verdict.kind == ("exact" if in_order else "unknown"), verdict.detail
