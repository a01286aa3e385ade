"""Who refuses a non-contiguous tensor: functions outside the operator table, and in which argument.

Vocabulary: *need* (one function and its arguments), *where* (on which backends it refuses), *dense enough* (a tensor in
a channels_last format passes too). Operators of the table, such as `torch.frombuffer`, refuse by their rows.

Measured with gloo in one process where a CPU can show it; what NCCL and cuDNN say is read from their sources in torch
(`check_gpu_single_tensor` in ProcessGroupNCCL.cpp, `_cudnn_rnn` in native/cudnn/RNN.cpp), and marked "on CUDA".
"""

from __future__ import annotations

from typing import NamedTuple

from torchlayout.rules.collectives import WRITTEN, WRITTEN_BY_SOME


class Need(NamedTuple):
    """`arguments` are (position, keyword); a list, tuple or dict of tensors counts as its tensors."""

    path: str
    arguments: tuple[tuple[int, str], ...]
    where: str = ""
    dense_enough: bool = False
    says: str = "Tensors must be contiguous"
    """What is raised."""


_NCCL = "with NCCL"


def _nccl(name: str, *arguments: tuple[int, str]) -> Need:
    return Need(f"torch.distributed.{name}", arguments, _NCCL, dense_enough=True)


# fmt: off
NEEDS: tuple[Need, ...] = (
    # collectives: every tensor that NCCL is handed
    _nccl("all_reduce", (0, "tensor")),
    _nccl("broadcast", (0, "tensor")),
    _nccl("reduce", (0, "tensor")),
    _nccl("all_gather", (0, "tensor_list"), (1, "tensor")),
    _nccl("all_gather_into_tensor", (0, "output_tensor"), (1, "input_tensor")),
    _nccl("all_gather_single", (0, "output_tensor"), (1, "input_tensor")),
    _nccl("gather", (0, "tensor"), (1, "gather_list")),
    _nccl("scatter", (0, "tensor"), (1, "scatter_list")),
    _nccl("reduce_scatter", (0, "output"), (1, "input_list")),
    _nccl("reduce_scatter_tensor", (0, "output"), (1, "input")),
    _nccl("reduce_scatter_single", (0, "output"), (1, "input")),
    _nccl("all_to_all", (0, "output_tensor_list"), (1, "input_tensor_list")),
    _nccl("all_reduce_coalesced", (0, "tensors")),
    # the one collective whose input every backend tests
    Need("torch.distributed.all_to_all_single", ((1, "input"),), dense_enough=True),
    # point to point: gloo refuses; NCCL warns, and sends what lies between the elements too
    Need("torch.distributed.send", ((0, "tensor"),), "with gloo", says="input tensor has to be contiguous"),
    Need("torch.distributed.isend", ((0, "tensor"),), "with gloo", says="input tensor has to be contiguous"),
    Need("torch.distributed.recv", ((0, "tensor"),), "with gloo", says="input tensor has to be contiguous"),
    Need("torch.distributed.irecv", ((0, "tensor"),), "with gloo", says="input tensor has to be contiguous"),
    # savers
    Need("safetensors.torch.save_file", ((0, "tensors"),), says="You are trying to save a non contiguous tensor"),
    Need("safetensors.torch.save", ((0, "tensors"),), says="You are trying to save a non contiguous tensor"),
)
# fmt: on

HIDDEN_STATES = ("hx", "hidden", "h_0", "c_0")
"""Parameters of RNN, GRU and LSTM by which hidden states come in: on CUDA, cuDNN raises
`rnn: hx is not contiguous`. On a CPU they are accepted."""

RECURRENT = frozenset({"RNN", "GRU", "LSTM", "rnn_tanh", "rnn_relu", "gru", "lstm"})


def find(path: str) -> Need | None:
    """The need of a function by its dotted path, also where the collectives are defined."""
    return _BY_PATH.get(path.replace("torch.distributed.distributed_c10d.", "torch.distributed."))


_BY_PATH = {need.path: need for need in NEEDS}

LISTS_WRITTEN = frozenset({"tensor_list", "gather_list", "output_tensor_list"})
"""Arguments that take a list of tensors which a collective writes to."""


def is_output(need: Need | None, place: int | str) -> bool:
    """Whether a function writes its result into an argument."""
    if need is None:
        return False
    name = next((keyword for index, keyword in need.arguments if place in (index, keyword)), None)
    function = need.path.rpartition(".")[2]
    return name in LISTS_WRITTEN or (
        name is not None and name in (WRITTEN.get(function), WRITTEN_BY_SOME.get(function))
    )
