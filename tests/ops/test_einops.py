"""einops against einops itself, over tensors in many layouts; patterns with symbolic sizes; bad patterns."""

from __future__ import annotations

from typing import Any

import einops
import numpy as np
import pytest
import torch
from conformance import check_call
from einops.layers.torch import EinMix, Rearrange, Reduce
from real_layouts import inputs, variants

from torchlayout.layouts import contiguous, is_contiguous, unknown_layout
from torchlayout.ops import UNKNOWN, Operand, find_function, select
from torchlayout.ops.modules import find_module
from torchlayout.sizes import NO, YES, Facts

BY_RANK: dict[int, list[tuple[str, dict[str, int]]]] = {
    2: [
        ("a b -> b a", {}),
        ("a b -> (a b)", {}),
        ("a b -> (b a)", {}),
        ("(a c) b -> a c b", {"a": 2}),
        ("(a c) b -> c (a b)", {"c": 2}),
        ("a b -> a 1 b ()", {}),
        ("... b -> b ...", {}),
        ("... -> (...)", {}),
        ("a ... -> (...) a", {}),
    ],
    3: [
        ("b t c -> b c t", {}),
        ("b t c -> (b t) c", {}),
        ("b t c -> b (t c)", {}),
        ("b t c -> t (b c)", {}),
        ("b t (h d) -> b h t d", {"h": 2}),
        ("b t (h d) -> (b h) t d", {"d": 3}),
        ("b (n t) c -> (b n) t c", {"n": 2}),
        ("... c -> c ...", {}),
        ("b ... -> b (...)", {}),
        ("b ... c -> b c ...", {}),
    ],
    4: [
        ("b c h w -> b h w c", {}),
        ("b c h w -> b (h w) c", {}),
        ("b c h w -> b c (h w)", {}),
        ("b c h w -> b (c h w)", {}),
        ("b c (h p) (w q) -> b (h w) (p q c)", {"p": 2, "q": 2}),
        ("b (c r s) h w -> b c (h r) (w s)", {"r": 1, "s": 1}),
        ("b c h w -> (b h) (c w)", {}),
        ("b h n d -> b n (h d)", {}),
        ("... h w -> ... (h w)", {}),
    ],
    5: [("b t c h w -> (b t) c h w", {}), ("b t c h w -> b c t h w", {}), ("b t ... -> (b t) ...", {})],
}
REPEATS = [
    ("a b -> a b c", {"c": 3}),
    ("a b -> a c b", {"c": 3}),
    ("a b -> (a c) b", {"c": 3}),
    ("a b -> a (b c)", {"c": 2}),
    ("a b -> c a b", {"c": 1}),
    ("a b -> 3 b a", {}),
    ("a b -> (2 b) a", {}),
    ("... -> ... c", {"c": 4}),
    ("... -> c ...", {"c": 4}),
    ("b t c -> (b n) t c", {"n": 2}),
    ("b c h w -> b c (h r) (w s)", {"r": 2, "s": 2}),
]
REDUCES = [
    ("a b -> a", {}),
    ("a b -> b", {}),
    ("a b ->", {}),
    ("a b -> a 1", {}),
    ("b t c -> b c", {}),
    ("b (t n) c -> b t c", {"n": 2}),
    ("b c (h p) (w q) -> b c h w", {"p": 2, "q": 2}),
    ("b c h w -> b c", {}),
    ("b c h w -> c (b h)", {}),
    ("b c h w -> h b", {}),
    ("... c -> ...", {}),
    ("b ... -> ...", {}),
]
INPUTS = [x for _, x in inputs()]


def assert_right(path: str, args: list[Any], kwargs: dict[str, Any], real: Any = None) -> str:
    verdict = check_call(path, args, kwargs, real=real)
    assert verdict.kind not in ("wrong", "absent"), verdict.detail
    return verdict.kind


@pytest.mark.parametrize(("pattern", "lengths"), [case for cases in BY_RANK.values() for case in cases])
def test_rearrange(pattern: str, lengths: dict[str, int]) -> None:
    found = [assert_right("einops.rearrange", [x, pattern], lengths, einops.rearrange) for x in INPUTS]
    assert "exact" in found
    assert "unknown" not in found


@pytest.mark.parametrize(("pattern", "lengths"), REPEATS)
def test_repeat(pattern: str, lengths: dict[str, int]) -> None:
    found = [assert_right("einops.repeat", [x, pattern], lengths, einops.repeat) for x in INPUTS]
    assert "exact" in found


@pytest.mark.parametrize("reduction", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize(("pattern", "lengths"), REDUCES)
def test_reduce(pattern: str, lengths: dict[str, int], reduction: str) -> None:
    found = [assert_right("einops.reduce", [x, pattern, reduction], lengths, einops.reduce) for x in INPUTS]
    assert "exact" in found


def test_lists_are_stacked() -> None:
    for x in INPUTS:
        if x.dim() == 2:
            assert_right("einops.rearrange", [[x, x.clone()], "n a b -> (a n) b"], {}, einops.rearrange)
            assert_right("einops.reduce", [[x, x.clone()], "n a b -> b a", "sum"], {}, einops.reduce)
            assert_right("einops.repeat", [[x, x.clone()], "n a b -> n b a c"], {"c": 2}, einops.repeat)


@pytest.mark.parametrize("pattern", ["a b, b c -> a c", "a b, b c -> c a", "a b, a b -> a b", "... a, a b -> ... b"])
def test_einsum(pattern: str) -> None:
    base = torch.rand(5, 5)
    for _, x in variants(base, shrink=False):
        assert_right("einops.einsum", [x, base, pattern], {}, einops.einsum)


def test_pack_and_unpack() -> None:
    for _, x in variants(torch.rand(2, 3, 4), shrink=False):
        for pattern in ("b *", "* c", "b * c"):
            assert_right("einops.pack", [[x, x[:, :2]] if pattern == "b *" else [x], pattern], {}, einops.pack)
        assert_right("einops.unpack", [x, [(1,), (2,)], "a * b"], {}, einops.unpack)
        assert_right("einops.unpack", [x, [(), (-1,)], "a * b"], {}, einops.unpack)
        assert_right("einops.unpack", [x, [(2, 2)], "a b *"], {}, einops.unpack)
        assert_right("einops.parse_shape", [x, "a b _"], {}, einops.parse_shape)


def test_arrays() -> None:
    for x in INPUTS:
        if x.dim() == 3:
            for array in (x.numpy(), x.numpy()[:, ::-1]):
                assert_right("einops.rearrange", [array, "a b c -> c (b a)"], {}, einops.rearrange)
                assert_right("einops.reduce", [array, "a b c -> c a", "mean"], {}, einops.reduce)
    assert isinstance(einops.asnumpy(torch.zeros(2)), np.ndarray)
    assert assert_right("einops.asnumpy", [torch.rand(2, 3).t()], {}, einops.asnumpy) == "exact"


LAYERS: list[tuple[type, list[Any], dict[str, Any]]] = [
    (Rearrange, ["b c h w -> b (h w) c"], {}),
    (Rearrange, ["b c (h p) (w q) -> b (h w) (p q c)"], {"p": 2, "q": 2}),
    (Rearrange, ["b ... -> b (...)"], {}),
    (Reduce, ["b c (h p) (w q) -> b c h w", "max"], {"p": 2, "q": 2}),
    (Reduce, ["b c h w -> b c", "mean"], {}),
    (EinMix, ["b c h w -> b h w d"], {"weight_shape": "c d", "bias_shape": "d", "c": 3, "d": 5}),
    (EinMix, ["b c h w -> b (d h) w"], {"weight_shape": "c d", "c": 3, "d": 5}),
]


@pytest.mark.parametrize(("layer", "args", "kwargs"), LAYERS)
def test_layers(layer: type, args: list[Any], kwargs: dict[str, Any]) -> None:
    from modules_conformance import check_module

    row = find_module(f"einops.layers.torch.{layer.__name__}")
    assert row is not None
    for _, x in variants(torch.rand(2, 3, 4, 6), shrink=False):
        verdict = check_module(layer(*args, **kwargs), row, args, kwargs, [x])
        assert verdict.kind in ("exact", "unknown"), verdict.detail


def said(x: Operand, pattern: str, facts: Facts, **lengths: Any) -> Any:
    """What the table says of `einops.rearrange`."""
    found = select(find_function("einops.rearrange"), [x, pattern], lengths)
    return UNKNOWN if found is None else found[0].apply(found[1], facts)


def test_symbolic_sizes() -> None:
    facts = Facts()
    B, T, D = (facts.symbols.atom(name, name) for name in "BTD")
    heads = said(Operand(contiguous((B, T, 4 * D))), "b t (h d) -> b h t d", facts, h=4)
    assert heads.layout.shape == (B, 4, T, D)
    back = said(Operand(heads.layout), "b h t d -> b t (h d)", facts)
    assert back.layout.shape == (B, T, 4 * D)
    assert is_contiguous(back.layout, facts) is YES
    assert back.shares is YES
    copied = said(Operand(heads.layout), "b h t d -> (b h) t d", facts.assumed_world)
    assert is_contiguous(copied.layout, facts) is YES
    assert copied.shares is NO


def test_the_pattern_tells_the_rank() -> None:
    facts = Facts()
    assert said(Operand(unknown_layout("x", facts, "x")), "b c h w -> b (h w) c", facts).layout.rank == 3
    assert len(said(Operand(unknown_layout("y", facts)), "... c -> c ...", facts).layout.dims) == 2


@pytest.mark.parametrize(
    ("pattern", "lengths"),
    [
        ("a b", {}),
        ("a b -> a", {}),
        ("a b -> a b c", {}),
        ("(a b -> a b", {}),
        ("a a -> a", {}),
        ("a ((b)) -> a b", {}),
        ("(a b) c -> a b c", {}),
        ("(a b) c -> a b c", {"a": 4, "b": 4}),
        ("a b c -> a b c", {}),
        ("a _b -> a _b", {}),
        ("a b -> a b -> b a", {}),
        ("a b -> ... a b", {}),
        ("a ? -> a", {}),
    ],
)
def test_what_einops_refuses_is_unknown(pattern: str, lengths: dict[str, int]) -> None:
    x = torch.rand(6, 4)
    with pytest.raises(Exception):  # noqa: B017
        einops.rearrange(x, pattern, **lengths)
    assert said(Operand(contiguous((6, 4))), pattern, Facts(), **lengths) is UNKNOWN
