"""Recurrent layers and cells.

torch computes a sequence time step by time step, packed as (time, batch, features); `batch_first` only transposes
that result, so that its strides are those of a transpose. Hidden states come packed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchlayout.layouts import Layout, contiguous, permuted_contiguous, settle, with_rank
from torchlayout.ops.formats import image
from torchlayout.ops.modules import Config, Forward, Parameters, Perhaps, module
from torchlayout.ops.recurrent import gru_state, packed_fields
from torchlayout.ops.values import UNKNOWN, Fields, Operand, Outcome, Result, Unknowable, is_unknown
from torchlayout.sizes import Shape, Size

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
MAX_LAYERS = 256
"""Layers whose weights are named."""
BATCH_FIRST_ORDER = (1, 0, 2)
"""A batch_first output's dimensions, outermost in memory first."""


def layer_weights(kind: str) -> Parameters:
    """`weight_ih_l0` and its kin (torch/nn/modules/rnn.py, `RNNBase.__init__`)."""
    gates = GATES[kind]

    def sizes(config: Config) -> Mapping[str, Shape | Perhaps | None]:
        hidden, inputs = config.size("hidden_size"), config.size("input_size")
        projected = _projection(config)
        seen = hidden if projected == 0 else projected
        directions = _directions(config)
        bias = config.having("bias", (gates * hidden,))
        found: dict[str, Shape | Perhaps | None] = {}
        for layer in range(min(config.integer("num_layers"), MAX_LAYERS)):
            for suffix in ("", "_reverse")[:directions]:
                taken = inputs if layer == 0 else seen * directions
                found[f"weight_ih_l{layer}{suffix}"] = (gates * hidden, taken)
                found[f"weight_hh_l{layer}{suffix}"] = (gates * hidden, seen)
                for name in ("bias_ih", "bias_hh") if bias is not None else ():
                    found[f"{name}_l{layer}{suffix}"] = bias
                if projected != 0:
                    found[f"weight_hr_l{layer}{suffix}"] = (projected, hidden)
        return found

    return sizes


def cell_weights(kind: str) -> Parameters:
    gates = GATES[kind]

    def sizes(config: Config) -> Mapping[str, Shape | Perhaps | None]:
        rows = gates * config.size("hidden_size")
        bias = config.having("bias", (rows,))
        weights: dict[str, Shape | Perhaps | None] = {
            "weight_ih": (rows, config.size("input_size")),
            "weight_hh": (rows, config.size("hidden_size")),
        }
        return {**weights, "bias_ih": bias, "bias_hh": bias}

    return sizes


def _directions(config: Config) -> int:
    return 2 if config.flag("bidirectional") else 1


def _directions_run(call: Forward) -> Size:
    """How many directions one call runs, 1 or 2."""
    if is_unknown(call.config["bidirectional"]):
        return call.facts.symbols.fresh("directions", least=1)
    return _directions(call.config)


def _projection(config: Config) -> Size:
    return config.size("proj_size") if "proj_size" in config.values else 0


def hidden_states(call: Forward, batch: tuple[Size, ...]) -> Outcome:
    """`h_n`, and for an LSTM `(h_n, c_n)`; unknown where the number of layers is."""
    config = call.config
    try:
        layers = config.size("num_layers") * _directions_run(call)
    except Unknowable:
        return (UNKNOWN, UNKNOWN) if call.row.name == "LSTM" else UNKNOWN
    hidden, projected = config.size("hidden_size"), _projection(config)
    state = Result(contiguous((layers, *batch, hidden if projected == 0 else projected)))
    return (state, Result(contiguous((layers, *batch, hidden)))) if call.row.name == "LSTM" else state


def recurrent(call: Forward) -> Outcome:
    """packed as (time, batch, features), with `batch_first` seen transposed; hidden states packed"""
    config = call.config
    projected = _projection(config)
    features = (config.size("hidden_size") if projected == 0 else projected) * _directions_run(call)
    value = call.known("self")
    if isinstance(value, (Fields, tuple)):
        return _packed_sequence(call, Fields(packed_fields(value)), features)
    call.last_is(config["input_size"])
    layout = image(call, 1)
    sizes = (*layout.sizes[:-1], features)
    if layout.rank == 2:
        return Result(contiguous(sizes)), hidden_states(call, ())
    if not config.flag("batch_first"):
        return Result(contiguous(sizes)), hidden_states(call, (sizes[1],))
    return Result(permuted_contiguous(sizes, BATCH_FIRST_ORDER)), hidden_states(call, (sizes[0],))


def _packed_sequence(call: Forward, packed: Fields, features: Size) -> Outcome:
    """A `PackedSequence` in, one out: its `data` has a row for each element of each sequence."""
    data = packed.values.get("data")
    layout = data.layout if isinstance(data, (Result, Operand)) else None
    found: Layout | None = None if layout is None else with_rank(settle(layout, call.facts), 2, call.facts)
    changed = UNKNOWN if found is None else Result(contiguous((found.sizes[0], features)))
    states = (UNKNOWN, UNKNOWN) if call.row.name == "LSTM" else UNKNOWN
    return Fields({**packed.values, "data": changed}), states


def cell(call: Forward) -> Outcome:
    """packed; of a GRU cell on a CPU in the hidden state's order"""
    layout = call.reaching(call.layout(), -1)
    call.equate(layout.sizes[-1], call.config["input_size"])
    shape = (*layout.shape[:-1], call.config.size("hidden_size"))
    if call.row.name == "GRUCell":
        return Result(gru_state(call["hx"], shape, call.facts))
    state = Result(contiguous(shape))
    return (state, state) if call.row.name == "LSTMCell" else state


CUDNN = {"hx": "cuDNN: the hidden state must be contiguous"}
TAIL = "Device? device=None, ScalarType? dtype=None"


def _add(kind: str, extra: str = "", last: str = "") -> None:
    options = "bool bias=True, bool batch_first=False, float dropout=0.0, bool bidirectional=False"
    takes: Any = "Any self, Any? hx=None"
    module(
        f"{kind}(int input_size, int hidden_size, int num_layers=1, {extra}{options}, {last}{TAIL}) -> None",
        recurrent, takes=takes, parameters=layer_weights(kind), demands=CUDNN,
        unknown="a PackedSequence goes in, and how many sequences it holds is not known",
    )  # fmt: skip
    module(
        f"{kind}Cell(int input_size, int hidden_size, bool bias=True, {extra}{TAIL}) -> None",
        cell, takes="Tensor self, Any? hx=None", parameters=cell_weights(kind),
    )  # fmt: skip


_add("RNN", extra="str nonlinearity='tanh', ")
_add("LSTM", last="int proj_size=0, ")
_add("GRU")
