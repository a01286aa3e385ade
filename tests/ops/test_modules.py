"""Every class of torch.nn against the real one, over inputs in many layouts: forwards, parameters, attributes."""

from __future__ import annotations

import inspect
import warnings
from collections import Counter
from typing import Any

import pytest
import torch
from conformance import Verdict
from module_cases import CASES, IMAGE, Case
from modules_conformance import abstract, check_module
from real_layouts import replica, variants
from torch import nn

from torchlayout.layouts import contiguous, is_contiguous, settle, unknown_layout
from torchlayout.ops import UNKNOWN, Alternatives, Fields, Operand, Result
from torchlayout.ops.modules import all_modules, find_module
from torchlayout.sizes import NO, YES, Facts

ABSTRACT = {"Module", "Container", "RNNBase", "RNNCellBase"}
"""Base classes, which nobody calls."""
CONTAINERS = {"Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "DataParallel"}
ELSEWHERE = {
    "Embedding", "EmbeddingBag", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "NLLLoss", "NLLLoss2d", "CTCLoss",
    "MultiMarginLoss", "MultiLabelMarginLoss", "AdaptiveLogSoftmaxWithLoss", "TransformerEncoder",
    "TransformerDecoder", "SyncBatchNorm", "LinearCrossEntropyLoss",
}  # fmt: skip
"""Classes whose inputs are no floats of one shape: they have tests of their own, or none for want of a process group."""


def build(one: Case) -> nn.Module:
    torch.manual_seed(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(nn, one.name)(*one.args, **one.kwargs)


SOME = ("contiguous", "gapped last", "reversed", "rotated", "channels_last", "expanded first")
"""The variants that the ordinary run takes of inputs with four dimensions or more."""


def verdicts(
    one: Case, training: bool, assumed: bool, everything: bool = False, device: str = "cpu", told: bool = False
) -> list[Verdict]:
    """The verdicts over inputs in many layouts; several inputs lie in the same way. `told`: the row knows the device."""
    row = find_module(f"torch.nn.{one.name}")
    assert row is not None
    real = build(one).train(training).to(device)
    torch.manual_seed(4)
    made = [(torch.rand(shape) * 0.8 + 0.1).to(device) for shape in one.shapes]
    inputs = [[x for kind, x in variants(one, shrink=False) if kind in SOME or everything] for one in made]
    where = device if told else None
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for index in range(len(inputs[0])):
            values = [options[index % len(options)] for options in inputs]
            fresh = build(one).train(training).to(device) if one.name.startswith("Lazy") else real
            given = [replica(x) for x in values]
            found.append(check_module(fresh, row, one.args, one.kwargs, given, assumed=assumed, device=where))
    return found


def test_every_class_has_a_row() -> None:
    rows = {row.name for row in all_modules()}
    for name in dir(nn):
        cls = getattr(nn, name)
        if inspect.isclass(cls) and issubclass(cls, nn.Module) and name not in ABSTRACT:
            assert name in rows, name


def test_every_class_is_tested() -> None:
    tested = {one.name for one in CASES} | CONTAINERS | ELSEWHERE
    for row in all_modules():
        if not row.spellings:
            assert row.name in tested, row.name


@pytest.mark.parametrize("one", CASES, ids=lambda one: f"{one.name}{one.args}{one.kwargs}{one.shapes}".replace(" ", ""))
def test_forward(one: Case) -> None:
    for training, assumed in ((True, True), (False, False)):
        found = verdicts(one, training, assumed)
        wrong = [verdict.detail for verdict in found if verdict.kind == "wrong"]
        assert not wrong, wrong[0]
        assert any(verdict.counts for verdict in found), found[0].detail


@pytest.mark.full
@pytest.mark.parametrize("one", CASES, ids=lambda one: f"{one.name}{one.args}{one.kwargs}{one.shapes}".replace(" ", ""))
def test_forward_in_full(one: Case) -> None:
    for training in (True, False):
        for assumed in (True, False):
            wrong = [v.detail for v in verdicts(one, training, assumed, True) if v.kind == "wrong"]
            assert not wrong, wrong[0]


@pytest.mark.cuda
@pytest.mark.parametrize("one", CASES, ids=lambda one: f"{one.name}{one.args}{one.kwargs}{one.shapes}".replace(" ", ""))
def test_forward_on_cuda(one: Case) -> None:
    for training, told in ((True, False), (False, True)):
        wrong = [v.detail for v in verdicts(one, training, True, device="cuda", told=told) if v.kind == "wrong"]
        assert not wrong, wrong[0]


def test_most_answers_are_exact() -> None:
    counts: Counter[str] = Counter()
    for one in CASES[::5]:
        counts.update(verdict.kind for verdict in verdicts(one, True, True))
    assert counts["exact"] >= 0.85 * (counts["exact"] + counts["unknown"]), counts


@pytest.mark.parametrize("one", CASES, ids=lambda one: f"{one.name}{one.args}{one.kwargs}".replace(" ", ""))
def test_parameters(one: Case) -> None:
    """Parameters and buffers have the sizes that the row says, and none is missing from what it lists."""
    if one.name.startswith("Lazy"):
        pytest.skip("a lazy module has no parameters before its first call")
    row = find_module(f"torch.nn.{one.name}")
    assert row is not None
    real = build(one)
    config = row.bind([abstract(value) for value in one.args], {k: abstract(v) for k, v in one.kwargs.items()})
    assert config is not None
    facts = Facts()
    for name, value in [*real.named_parameters(recurse=False), *real.named_buffers(recurse=False)]:
        said = row.attribute(config, name, facts.assumed_world)
        assert isinstance(said, Result), name
        assert said.layout.sizes == tuple(value.shape), name
        assert is_contiguous(said.layout, facts) is YES
    for name in config:
        value = getattr(real, name, None)
        said = row.attribute(config, name, facts)
        if isinstance(value, (bool, int)) and isinstance(said, (bool, int)):
            assert said == value, name


def test_tuples_made_from_ints() -> None:
    row = find_module("torch.nn.modules.conv.Conv2d")
    assert row is not None
    config = row.bind([3, 8, 3], {"padding": "same"})
    assert config is not None
    assert row.attribute(config, "kernel_size", Facts()) == (3, 3)
    assert row.attribute(config, "padding", Facts()) == "same"
    assert row.attribute(config, "nothing", Facts()) is UNKNOWN


@pytest.mark.parametrize(
    ("name", "args", "flag", "parameter"),
    [
        ("Linear", [4, 8], "bias", "bias"),
        ("Conv2d", [4, 8, 1], "bias", "bias"),
        ("BatchNorm2d", [8], "affine", "weight"),
        ("BatchNorm2d", [8], "affine", "bias"),
        ("BatchNorm2d", [8], "track_running_stats", "running_mean"),
        ("LayerNorm", [8], "elementwise_affine", "weight"),
        ("LayerNorm", [8], "elementwise_affine", "bias"),
        ("LSTM", [4, 2], "bias", "bias_ih_l0"),
        ("GRUCell", [4, 2], "bias", "bias_hh"),
    ],
)
def test_a_parameter_that_a_flag_decides_on(name: str, args: list[int], flag: str, parameter: str) -> None:
    """It is there, it is not, or it may be either where the flag is not known."""
    row = find_module(f"torch.nn.{name}")
    assert row is not None
    for value in (True, False):
        config = row.bind(args, {flag: value})
        assert config is not None
        real = getattr(getattr(nn, name)(*args, **{flag: value}), parameter, None)
        said = row.attribute(config, parameter, Facts())
        assert isinstance(said, Result) == (real is not None)
    config = row.bind(args, {flag: UNKNOWN})
    assert config is not None
    either = row.attribute(config, parameter, Facts())
    assert isinstance(either, Alternatives)
    there, not_there = either.outcomes
    assert isinstance(there, Result) and not_there is None


def test_weights_may_have_been_converted() -> None:
    """Only the assumed world takes a convolution's weight to be packed."""
    row = find_module("torch.nn.Conv2d")
    assert row is not None
    config = row.bind([4, 6, 3], {})
    assert config is not None
    facts = Facts()
    x = Operand(contiguous(IMAGE))
    proven, assumed = (row.forward(config, [x], {}, world) for world in (facts, facts.assumed_world))
    assert isinstance(proven, Result) and isinstance(assumed, Result)
    assert proven.layout.sizes == assumed.layout.sizes == (2, 6, 4, 6)
    assert is_contiguous(assumed.layout, facts) is YES
    assert is_contiguous(proven.layout, facts) is not YES
    real = nn.Conv2d(4, 6, 3).to(memory_format=torch.channels_last)
    assert not real(torch.rand(IMAGE)).is_contiguous()


@pytest.mark.parametrize(
    ("name", "args", "rank", "place", "size"),
    [
        ("Conv2d", (3, 8, 3), None, -3, 3),
        ("BatchNorm2d", (7,), 4, 1, 7),
        ("LSTM", (16, 5), None, -1, 16),
        ("MultiheadAttention", (8, 2), None, -1, 8),
        ("LayerNorm", (8,), None, -1, 8),
    ],
)
def test_what_a_module_teaches(name: str, args: tuple[Any, ...], rank: int | None, place: int, size: int) -> None:
    """What has to hold if the call worked; that the input has a batch dimension is only assumed."""
    row = find_module(f"torch.nn.{name}")
    assert row is not None
    facts = Facts()
    x = Operand(unknown_layout("x", facts, "x"))
    config = row.bind(args, {})
    assert config is not None
    inputs = [x] * (3 if name == "MultiheadAttention" else 1)
    outcome = row.forward(config, inputs, {}, facts.assumed_world)
    assert outcome is not UNKNOWN
    found = settle(x.layout, facts)
    assert found.rank == rank
    assert found.sizes[place] == size


def test_linear_of_unknown_rank() -> None:
    row = find_module("torch.nn.Linear")
    assert row is not None
    facts = Facts()
    config = row.bind([8, 16], {})
    assert config is not None
    outcome = row.forward(config, [Operand(unknown_layout("x", facts))], {}, facts)
    assert isinstance(outcome, Result)
    assert outcome.layout.sizes[-1] == 16
    assert is_contiguous(outcome.layout, facts) is YES
    assert row.forward(config, [Operand(contiguous((2, 9)))], {}, facts) is UNKNOWN


def test_last_step_of_a_batch_first_layer_is_packed() -> None:
    from torchlayout.ops import index

    facts = Facts()
    B, T = (facts.symbols.atom(name, name) for name in "BT")
    row = find_module("torch.nn.LSTM")
    assert row is not None
    config = row.bind([8, 16], {"batch_first": True})
    assert config is not None
    output, (hidden, cell) = row.forward(config, [Operand(contiguous((B, T, 8)))], {}, facts.assumed_world)
    assert is_contiguous(output.layout, facts.assumed_world) is NO
    last = index(Operand(output.layout), [slice(None), -1], facts)
    assert isinstance(last, Result)
    assert is_contiguous(last.layout, facts) is YES
    assert hidden.layout.shape == cell.layout.shape == (1, B, 16)


def test_packed_sequences() -> None:
    row = find_module("torch.nn.GRU")
    assert row is not None
    config = row.bind([8, 16], {})
    assert config is not None
    facts = Facts()
    packed = Fields(
        {
            "data": Result(contiguous((12, 8))),
            "batch_sizes": Result(contiguous((5,))),
            "sorted_indices": None,
            "unsorted_indices": None,
        }
    )
    output, _ = row.forward(config, [packed], {}, facts)
    assert output.values["data"].layout.shape == (12, 16)


@pytest.mark.parametrize("name", ["RNNCell", "GRUCell", "LSTMCell"])
def test_cells_with_a_hidden_state(name: str) -> None:
    row = find_module(f"torch.nn.{name}")
    assert row is not None
    for _, h in variants(torch.rand(4, 6), shrink=False):
        hx = (h, h.clone()) if name == "LSTMCell" else h
        for assumed in (True, False):
            verdict = check_module(getattr(nn, name)(5, 6), row, [5, 6], {}, [torch.rand(4, 5), hx], assumed=assumed)
            assert verdict.kind in ("exact", "unknown"), verdict.detail


def test_embeddings() -> None:
    indices = torch.randint(0, 5, (3, 4))
    for name, args, inputs in (
        ("Embedding", (5, 6), [indices]),
        ("Embedding", (5, 6), [indices.t()]),
        ("EmbeddingBag", (5, 6), [indices]),
        ("EmbeddingBag", (5, 6), [indices.reshape(-1), torch.tensor([0, 4])]),
    ):
        row = find_module(f"torch.nn.{name}")
        assert row is not None
        verdict = check_module(getattr(nn, name)(*args), row, args, {}, inputs)
        assert verdict.kind in ("exact", "unknown"), verdict.detail


def test_unpooling() -> None:
    for n, shape in ((1, (2, 4, 6)), (2, (2, 4, 6, 8)), (3, (2, 4, 4, 6, 4))):
        row = find_module(f"torch.nn.MaxUnpool{n}d")
        assert row is not None
        for _, x in variants(torch.rand(shape), shrink=False):
            pooled, indices = getattr(nn, f"MaxPool{n}d")(2, return_indices=True)(x)
            verdict = check_module(getattr(nn, f"MaxUnpool{n}d")(2), row, [2], {}, [pooled, indices])
            assert verdict.kind in ("exact", "unknown"), verdict.detail


def test_losses_over_classes() -> None:
    scores, classes = torch.rand(3, 4), torch.tensor([1, 0, 3])
    for name in ("NLLLoss", "CrossEntropyLoss", "MultiMarginLoss"):
        for reduction in ("mean", "none"):
            row = find_module(f"torch.nn.{name}")
            assert row is not None
            kwargs = {"reduction": reduction}
            verdict = check_module(getattr(nn, name)(**kwargs), row, [], kwargs, [scores, classes])
            assert verdict.kind in ("exact", "unknown"), verdict.detail
    adaptive = find_module("torch.nn.AdaptiveLogSoftmaxWithLoss")
    assert adaptive is not None
    real = nn.AdaptiveLogSoftmaxWithLoss(4, 5, [2])
    verdict = check_module(real, adaptive, [4, 5, [2]], {}, [scores, classes])
    assert verdict.kind == "exact", verdict.detail


def test_attention_gives_weights_when_asked() -> None:
    row = find_module("torch.nn.MultiheadAttention")
    assert row is not None
    real = nn.MultiheadAttention(6, 2, batch_first=True)
    kwargs = {"batch_first": True}
    for training in (True, False):
        for options in ({}, {"need_weights": False}, {"average_attn_weights": False}):
            for _, x in variants(torch.rand(2, 4, 6), shrink=False):
                verdict = check_module(real.train(training), row, [6, 2], kwargs, [x, x, x], options)
                assert verdict.kind in ("exact", "unknown"), verdict.detail


@pytest.mark.parametrize("name", sorted(CONTAINERS))
def test_containers_are_named(name: str) -> None:
    row = find_module(f"torch.nn.{name}")
    assert row is not None
    assert row.container


@pytest.mark.parametrize("path", ["torch.nn.Nothing", "torch.nn.functional.relu", "mine.Conv2d", "torch.nn.modules"])
def test_no_module(path: str) -> None:
    assert find_module(path) is None


def test_bad_arguments_give_nothing() -> None:
    row = find_module("torch.nn.Conv2d")
    assert row is not None
    assert row.bind([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], {}) is None
    assert row.bind([1, 2], {}) is None
    config = row.bind([4, 6, 3], {})
    assert config is not None
    facts = Facts()
    for inputs in ([], [UNKNOWN], [3], [Operand(contiguous((2, 9, 6, 8)))], [Operand(contiguous((2,)))]):
        assert row.forward(config, inputs, {}, facts) is UNKNOWN
