"""Does `.contiguous()` pay? Each use of a strided tensor, with a packed copy made first and without.

    python -m pytest benchmarks/test_layout_cost.py --benchmark-only
    python benchmarks/test_layout_cost.py        (the table of ratios that the page of LAY204 shows)

The tensors are those of attention: (batch, heads, tokens, head size), as `x.view(B, T, H, D).transpose(1, 2)` and
`k.transpose(-2, -1)` give them. A ratio above 1 says that the copy costs time, below 1 that it pays. Run on the CPU,
and on CUDA when there is one.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch.nn import functional as F

try:
    import pytest
except ImportError:  # the table needs torch alone
    pytest = None  # type: ignore[assignment]

Tensor = torch.Tensor

SIZES = {"cpu": ((1, 12, 512, 64), (4, 16, 1024, 64)), "cuda": ((8, 16, 1024, 64), (4, 32, 4096, 128))}
"""(batch, heads, tokens, head size): a small encoder, a large decoder."""

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


class Case(NamedTuple):
    """`strided` makes the tensor whose copy is in question, `other` what it is used with."""

    name: str
    strided: Callable[[int, int, int, int], Tensor]
    use: Callable[[Tensor, Any], Any]
    other: Callable[[int, int, int, int], Any] = lambda b, h, t, d: None
    uses: int = 1


def heads(b: int, h: int, t: int, d: int) -> Tensor:
    """What splitting heads gives: rows of d elements are dense, the batch and head dimensions are not adjacent."""
    return torch.randn(b, t, h, d).transpose(1, 2)


def keys(b: int, h: int, t: int, d: int) -> Tensor:
    """Keys turned for a product: no row is dense."""
    return torch.randn(b, h, t, d).transpose(-2, -1)


def packed_heads(b: int, h: int, t: int, d: int) -> Tensor:
    return torch.randn(b, h, t, d)


def packed_keys(b: int, h: int, t: int, d: int) -> Tensor:
    return torch.randn(b, h, d, t)


def shifted(b: int, h: int, t: int, d: int) -> Tensor:
    """Logits without their last position."""
    return torch.randn(b, t, h * d)[:, :-1]


CASES = (
    Case("matmul(q, k.transpose(-2, -1))", keys, lambda k, q: torch.matmul(q, k), packed_heads),
    Case("matmul(q, k), q = split heads", heads, lambda q, k: torch.matmul(q, k), packed_keys),
    Case("scaled_dot_product_attention(q, k, v), q = split heads", heads,
         lambda q, kv: F.scaled_dot_product_attention(q, kv, kv), packed_heads),
    Case("y + 1, y = k.transpose(-2, -1)", keys, lambda k, _: k + 1),
    Case("y + packed, y = k.transpose(-2, -1)", keys, lambda k, other: k + other, packed_keys),
    Case("y + packed, y = split heads", heads, lambda q, other: q + other, packed_heads),
    Case("relu(split heads)", heads, lambda q, _: F.relu(q)),
    Case("gelu, eight in a row, of k.transpose(-2, -1)", keys, lambda k, _: _chain(k), uses=8),
    Case("y + packed, eight times, y = k.transpose(-2, -1)", keys, lambda k, o: [k + o for _ in range(8)],
         packed_keys, uses=8),
    Case("softmax(y, -1), rows dense", heads, lambda q, _: torch.softmax(q, -1)),
    Case("softmax(y, -1), rows strided", keys, lambda k, _: torch.softmax(k, -1)),
    Case("log_softmax(logits[:, :-1], -1)", shifted, lambda x, _: torch.log_softmax(x, -1)),
    Case("sum(y, -1), rows dense", heads, lambda q, _: q.sum(-1)),
    Case("sum(y, -1), rows strided", keys, lambda k, _: k.sum(-1)),
    Case("sum(y)", keys, lambda k, _: k.sum()),
    Case("layer_norm, rows dense", heads, lambda q, _: F.layer_norm(q, q.shape[-1:])),
    Case("layer_norm, rows strided", keys, lambda k, _: F.layer_norm(k, k.shape[-1:])),
    Case("linear(split heads)", heads, lambda q, w: F.linear(q, w), lambda b, h, t, d: torch.randn(d, d)),
    Case("linear(rows strided)", keys, lambda k, w: F.linear(k, w), lambda b, h, t, d: torch.randn(64, t)),
    Case("cat([y, y], -2)", heads, lambda q, _: torch.cat([q, q], -2)),
    Case("cat([y, y], -1), rows strided", keys, lambda k, _: torch.cat([k, k], -1)),
    Case("stack([y])", keys, lambda k, _: torch.stack([k])),
    Case("y.reshape(b, -1), y = k.transpose(-2, -1)", keys, lambda k, _: k.reshape(k.shape[0], -1)),
    Case("gather(y, -1, index)", shifted, lambda x, i: torch.gather(x, -1, i),
         lambda b, h, t, d: torch.randint(h * d, (b, t - 1, 1))),
    Case("conv1d(y)", lambda b, h, t, d: torch.randn(b, t, h * d).transpose(1, 2),
         lambda x, w: F.conv1d(x, w, padding=1), lambda b, h, t, d: torch.randn(64, h * d, 3)),
    Case("cumsum(y, -1), rows strided", keys, lambda k, _: k.cumsum(-1)),
)  # fmt: skip


def _chain(x: Tensor) -> Tensor:
    for _ in range(8):
        x = F.gelu(x)
    return x


def prepared(case: Case, device: str, size: tuple[int, int, int, int]) -> tuple[Tensor, Any]:
    torch.manual_seed(0)
    with torch.device(device):
        return case.strided(*size), case.other(*size)


def timed(call: Callable[[], Any], device: str) -> float:
    """Seconds of one call."""
    if device == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def ratio(case: Case, device: str, size: tuple[int, int, int, int], rounds: int = 15) -> float:
    """Time with the copy over time without it, the two taken in turn: the median of the pairs."""
    strided, other = prepared(case, device, size)
    with torch.inference_mode():
        for _ in range(3):
            case.use(strided, other), case.use(strided.contiguous(), other)
        pairs = []
        for _ in range(rounds):
            without = timed(lambda: case.use(strided, other), device)
            pairs.append(timed(lambda: case.use(strided.contiguous(), other), device) / without)
    return statistics.median(pairs)


def table(rounds: int = 15) -> Iterator[str]:
    """The ratios as a Markdown table."""
    columns = [(device, size) for device in DEVICES for size in SIZES[device]]
    yield "| use | " + " | ".join(f"{device} {'x'.join(map(str, size))}" for device, size in columns) + " |"
    yield "| --- |" + " --- |" * len(columns)
    for case in CASES:
        figures = (f"{ratio(case, device, size, rounds):.2f}" for device, size in columns)
        yield f"| `{case.name}` | {' | '.join(figures)} |"


if pytest is not None:

    @pytest.mark.parametrize("packed", [False, True], ids=["strided", "packed"])
    @pytest.mark.parametrize(
        ("device", "size"),
        [
            pytest.param(device, size, id=f"{device}-{'x'.join(map(str, size))}")
            for device in DEVICES
            for size in SIZES[device]
        ],
    )
    @pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
    def test_use(benchmark: Any, case: Case, device: str, size: tuple[int, int, int, int], packed: bool) -> None:
        strided, other = prepared(case, device, size)
        benchmark.group = f"{case.name} {device} {size}"

        def run() -> None:
            case.use(strided.contiguous() if packed else strided, other)
            if device == "cuda":
                torch.cuda.synchronize()

        with torch.inference_mode():
            benchmark.pedantic(run, rounds=10, warmup_rounds=2)


if __name__ == "__main__":
    for line in table(int(sys.argv[1]) if len(sys.argv) > 1 else 15):
        print(line, flush=True)
