"""Stacks of Transformer layers: what the layers give, one after another, and then the normalization."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import pytest
import torch
from modules_conformance import check_module
from real_layouts import variants
from torch import nn

from torchlayout.layouts import contiguous
from torchlayout.ops import UNKNOWN, Operand, Result
from torchlayout.ops.modules import Constructed, ModuleRow, find_module
from torchlayout.sizes import Facts

LAYER_OPTIONS = ({}, {"batch_first": True}, {"norm_first": True}, {"batch_first": True, "norm_first": True})


def row_of(path: str) -> ModuleRow:
    row = find_module(path)
    assert row is not None
    return row


def constructed(name: str, *args: Any, **kwargs: Any) -> Constructed:
    """A module as a constructor's argument, as the table takes it."""
    config = row_of(f"torch.nn.{name}").bind(args, kwargs)
    assert config is not None
    return Constructed(row_of(f"torch.nn.{name}"), config)


@pytest.mark.parametrize("kind", ["Encoder", "Decoder"])
@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize("options", LAYER_OPTIONS, ids=str)
def test_stacks_of_transformer_layers(kind: str, normed: bool, options: dict[str, bool]) -> None:
    layer = f"Transformer{kind}Layer"
    counts: Counter[str] = Counter()
    for depth in (1, 4):
        said = [constructed(layer, 6, 2, 7, **options), depth, constructed("LayerNorm", 6) if normed else None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            real = getattr(nn, f"Transformer{kind}")(
                getattr(nn, layer)(6, 2, 7, **options), depth, nn.LayerNorm(6) if normed else None
            )
        for training in (True, False):
            for _, x in variants(torch.rand(2, 4, 6), shrink=False)[depth % 2 :: 2]:
                inputs = [x] if kind == "Encoder" else [x, torch.rand(2, 4, 6)]
                verdict = check_module(real.train(training), row_of(f"torch.nn.Transformer{kind}"), said, {}, inputs)
                assert verdict.kind in ("exact", "unknown"), verdict.detail
                counts[verdict.kind] += 1
    if normed or not options.get("norm_first"):
        assert not counts["unknown"], counts


def test_stacks_of_unknown_layers() -> None:
    row, x = row_of("torch.nn.TransformerEncoder"), Operand(contiguous((2, 4, 6)))
    layer, mask = constructed("TransformerEncoderLayer", 6, 2), Operand(contiguous((2, 4)))
    for args in ([UNKNOWN, 2], [layer, 2, UNKNOWN], [layer, 0]):
        config = row.bind(args, {})
        assert config is not None
        assert row.forward(config, [x], {}, Facts()) is UNKNOWN
    config = row.bind([layer, UNKNOWN], {})
    assert config is not None
    assert isinstance(row.forward(config, [x], {}, Facts()), Result)
    assert row.forward(config, [x], {"src_key_padding_mask": mask}, Facts()) is UNKNOWN
