"""The functions behind recurrent layers, `torch.nn.utils.rnn`, and `default_collate`.

A `PackedSequence` is a named tuple: `data` has a row for each element of each sequence, in torch's own order.
"""

from __future__ import annotations

from typing import Any

from torchlayout.layouts import (
    Layout,
    contiguous,
    is_contiguous,
    output_layout,
    permuted_contiguous,
    settle,
    settle_shape,
    unknown_strides,
    with_leading,
    with_rank,
)
from torchlayout.ops.table import Args, Transfer, find_function, op, select
from torchlayout.ops.transfers import of_backends
from torchlayout.ops.values import (
    UNKNOWN,
    Alias,
    Alternatives,
    Fields,
    Many,
    Operand,
    Outcome,
    Result,
    Unknowable,
    is_unknown,
)
from torchlayout.sizes import YES, Facts, Rest, Shape, Size

FRESH = Alias.FRESH
RNN = "torch.nn.utils.rnn."
PACKED_FIELDS = ("data", "batch_sizes", "sorted_indices", "unsorted_indices")


def packed_fields(value: Any) -> dict[str, Any]:
    """The fields of a `PackedSequence` argument. Raises `Unknowable` for anything else."""
    if isinstance(value, Fields) and set(value.values) == set(PACKED_FIELDS):
        return dict(value.values)
    if isinstance(value, tuple) and len(value) == len(PACKED_FIELDS):
        return dict(zip(PACKED_FIELDS, value, strict=True))
    raise Unknowable("no packed sequence")


def layout_in(value: Any) -> Layout:
    """The layout of a tensor that is given as an argument or an outcome."""
    if not isinstance(value, (Result, Operand)):
        raise Unknowable("no tensor")
    return value.layout


def layered(args: Args) -> Outcome:
    """packed as (time, batch, features), with `batch_first` seen transposed; hidden states packed"""
    if is_unknown(args["input"]) or not isinstance(args["batch_first"], bool):
        return UNKNOWN
    states = args.known("hx")
    states = states if isinstance(states, (tuple, list)) else (states,)
    hidden = with_rank(settle(layout_in(states[0]), args.facts), 3, args.facts)
    layout = args.ranked("input", rank=3)
    if hidden is None or layout.rank != 3:
        return UNKNOWN
    features = hidden.sizes[-1] * (2 if args.flag("bidirectional") else 1)
    sizes = (*layout.sizes[:2], features)
    output = permuted_contiguous(sizes, (1, 0, 2)) if args["batch_first"] else contiguous(sizes)
    return Result(output), *(Result(contiguous(settle(layout_in(state), args.facts).shape)) for state in states)


def gru_state(hx: Any, shape: Shape, facts: Facts) -> Layout:
    """The next hidden state of a GRU cell: on a CPU `hx - new` decides its order, fused kernels pack it."""
    packed = contiguous(shape)
    if hx is None or (is_unknown(hx) and facts.assumed):
        return packed
    if not isinstance(hx, Operand):
        return unknown_strides(shape)
    layout = settle(hx.layout, facts)
    if len(layout.dims) == len(shape):
        for size, extent in zip(layout.sizes, shape, strict=True):
            if not isinstance(extent, Rest):
                facts.learn_equal(size, extent)
    shape = settle_shape(shape, facts)
    return of_backends(hx, output_layout([settle(layout, facts), packed], shape, facts), contiguous(shape), facts)


def gru_cell(args: Args) -> Outcome:
    """on a CPU in the hidden state's order, else packed"""
    operand = args.operand("hx")
    return Result(gru_state(operand, args.layout("hx").shape, args.facts))


def cell(count: int) -> Transfer:
    """`count` results of the hidden state's sizes."""

    def transfer(args: Args) -> Outcome:
        states = args.known("hx")
        first = states[0] if isinstance(states, (tuple, list)) else states
        state = Result(contiguous(settle(layout_in(first), args.facts).shape))
        return state if count == 1 else (state,) * count

    transfer.__doc__ = "packed, the hidden state's sizes"
    return transfer


def _trailing(layout: Layout, args: Args) -> tuple[Any, ...]:
    found = with_leading(layout, 1, args.facts)
    if found is None:
        raise Unknowable("a sequence without dimensions")
    return found.shape[1:]


def padded(args: Args) -> Outcome:
    """packed: (longest, number of sequences, ...), or with `batch_first` the first two in the other order"""
    sequences = [settle(operand.layout, args.facts) for operand in args.operands("sequences")]
    if not sequences:
        return UNKNOWN
    longest: Size = 0
    for layout in sequences:
        found = with_leading(layout, 1, args.facts)
        if found is None:
            return UNKNOWN
        longest = args.facts.extreme("max", longest, found.sizes[0])
    pair = (len(sequences), longest) if args.flag("batch_first") else (longest, len(sequences))
    return Result(contiguous((*pair, *_trailing(sequences[0], args))), args.operands("sequences")[0].dtype)


def packed(args: Args) -> Outcome:
    """a named tuple; `data` packed, a row for each element"""
    operand = args.operand("input")
    layout = with_leading(args.layout("input"), 2, args.facts)
    if layout is None:
        return UNKNOWN
    symbols = args.facts.symbols
    data = contiguous((symbols.fresh("elements"), *layout.shape[2:]))
    batch = layout.sizes[0] if args.flag("batch_first") else layout.sizes[1]
    order = None if args.flag("enforce_sorted") else Result(contiguous((batch,)))
    sizes = Result(contiguous((symbols.fresh("steps"),)))
    return Fields(dict(zip(PACKED_FIELDS, (Result(data, operand.dtype), sizes, order, order), strict=True)))


def packed_list(args: Args) -> Outcome:
    """a named tuple; `data` packed, a row for each element"""
    operands = args.operands("sequences")
    if not operands:
        return UNKNOWN
    symbols = args.facts.symbols
    data = contiguous((symbols.fresh("elements"), *_trailing(settle(operands[0].layout, args.facts), args)))
    order = None if args.flag("enforce_sorted") else Result(contiguous((len(operands),)))
    sizes = Result(contiguous((symbols.fresh("steps"),)))
    return Fields(dict(zip(PACKED_FIELDS, (Result(data, operands[0].dtype), sizes, order, order), strict=True)))


def unpadded(args: Args) -> Outcome:
    """packed as (time, batch, ...), with `batch_first` seen transposed; packed where the order is restored"""
    fields = packed_fields(args.known("sequence"))
    data = settle(layout_in(fields["data"]), args.facts)
    trailing = _trailing(data, args)
    symbols = args.facts.symbols
    order = fields["unsorted_indices"]
    batch: Size = symbols.fresh("sequences")
    if isinstance(order, (Result, Operand)):
        found = with_rank(settle(order.layout, args.facts), 1, args.facts)
        batch = found.sizes[0] if found else batch
    total = args["total_length"]
    time = symbols.fresh("longest") if total is None or is_unknown(total) else args.size("total_length")
    lengths = Result(contiguous((batch,)))
    first = args.flag("batch_first")
    shape = (batch, time, *trailing) if first else (time, batch, *trailing)
    ordered = Result(contiguous(shape))
    if not first or isinstance(order, (Result, Operand)):
        return ordered, lengths
    inner = contiguous((time, batch, *trailing)).dims
    strided = Result(Layout((inner[1], inner[0], *inner[2:])))
    return (strided, lengths) if order is None else Alternatives(((strided, lengths), (ordered, lengths)))


def sequences_apart(args: Args) -> Outcome:
    """a tensor for each sequence, packed where the padded one is or has three dimensions at most"""
    layout = args.reaching(args.layout("padded_sequences"), 1)
    shape = (args.facts.symbols.fresh("length"), *layout.shape[2:])
    packed = is_contiguous(layout, args.facts) is YES or layout.rank in (2, 3)
    return Many(Result(contiguous(shape) if packed else unknown_strides(shape)))


def sequences_unpacked(args: Args) -> Outcome:
    """a tensor for each sequence, packed"""
    data = settle(layout_in(packed_fields(args.known("packed_sequences"))["data"]), args.facts)
    return Many(Result(contiguous((args.facts.symbols.fresh("length"), *_trailing(data, args)))))


def collated(args: Args) -> Outcome:
    """a stack of what the samples hold: packed as torch.stack packs"""
    return _collate(args.known("batch"), args)


def _collate(batch: Any, args: Args) -> Outcome:
    if not isinstance(batch, (tuple, list)) or not batch:
        return UNKNOWN
    if all(isinstance(item, Operand) for item in batch):
        if any(item.numpy for item in batch):
            layouts = [settle(item.layout, args.facts) for item in batch]
            return Result(contiguous((len(batch), *layouts[0].shape)), batch[0].dtype)
        found = select(find_function("torch.stack"), [tuple(batch), 0], {})
        return UNKNOWN if found is None else found[0].apply(found[1], args.facts)
    if all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in batch):
        return Result(contiguous((len(batch),)))
    if all(isinstance(item, (tuple, list)) and len(item) == len(batch[0]) for item in batch):
        return tuple(_collate(column, args) for column in zip(*batch, strict=True))
    return UNKNOWN


# fmt: off
STATE = "bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first"
for _name, _gates in {"gru": 3, "rnn_tanh": 1, "rnn_relu": 1, "lstm": 4}.items():
    _hx = "Tensor[] hx" if _name == "lstm" else "Tensor hx"
    _state, _square = "torch.zeros(1, x.size(0), 2)", f"torch.zeros({_gates} * x.size(-1), x.size(-1))"
    _given = f"[{_state}, {_state}]" if _name == "lstm" else _state
    _transfer = gru_cell if _name == "gru" else cell(2 if _name == "lstm" else 1)
    _weights = f"[torch.zeros({2 * _gates}, x.size(2)), torch.zeros({2 * _gates}, 2)]"
    op(f"{_name}.input(Tensor input, {_hx}, Tensor[] params, {STATE}) -> (Tensor, Tensor)", alias=FRESH, layout=layered, example=f"torch.{_name}(x, {_given}, {_weights}, False, 1, 0.0, False, False, True)", unknown="the input is a packed sequence")
    op(f"{_name}_cell(Tensor input, {_hx}, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor", alias=FRESH, layout=_transfer, example=f"torch.{_name}_cell(x, {'[x, x]' if _name == 'lstm' else 'x'}, {_square}, {_square})")
op("pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0.0, str padding_side='right') -> Tensor", alias=FRESH, layout=padded, example="torch.nn.utils.rnn.pad_sequence([x, x])", spellings=(f"{RNN}pad_sequence",), path_only=True, unknown="the number of sequences is not known")
op("pack_padded_sequence(Tensor input, Any lengths, bool batch_first=False, bool enforce_sorted=True) -> Any", alias=FRESH, layout=packed, example="torch.nn.utils.rnn.pack_padded_sequence(x, [x.size(0)] * x.size(1))", spellings=(f"{RNN}pack_padded_sequence",), path_only=True, unknown="how many elements there are depends on the lengths")
op("pack_sequence(Tensor[] sequences, bool enforce_sorted=True) -> Any", alias=FRESH, layout=packed_list, example="torch.nn.utils.rnn.pack_sequence([x, x])", spellings=(f"{RNN}pack_sequence",), path_only=True, unknown="how many elements there are depends on the lengths")
op("pad_packed_sequence(Any sequence, bool batch_first=False, float padding_value=0.0, int? total_length=None) -> (Tensor, Tensor)", alias=FRESH, layout=unpadded, example="torch.nn.utils.rnn.pad_packed_sequence(torch.nn.utils.rnn.pack_sequence([x, x]))", spellings=(f"{RNN}pad_packed_sequence",), path_only=True, unknown="the longest sequence depends on the data")
op("unpad_sequence(Tensor padded_sequences, Any lengths, bool batch_first=False) -> Tensor[]", alias=FRESH, layout=sequences_apart, example="torch.nn.utils.rnn.unpad_sequence(x, torch.tensor([1] * x.size(1)))", spellings=(f"{RNN}unpad_sequence",), path_only=True, unknown="how long the sequences are")
op("unpack_sequence(Any packed_sequences) -> Tensor[]", alias=FRESH, layout=sequences_unpacked, example="torch.nn.utils.rnn.unpack_sequence(torch.nn.utils.rnn.pack_sequence([x, x]))", spellings=(f"{RNN}unpack_sequence",), path_only=True, unknown="how long the sequences are")
op("default_collate(Any batch) -> Any", alias=FRESH, layout=collated, example="torch.utils.data.default_collate([x, x])", spellings=("torch.utils.data.default_collate", "torch.utils.data.dataloader.default_collate", "torch.utils.data._utils.collate.default_collate"), path_only=True, unknown="the samples are not known")
# fmt: on
