"""Facts worth reading: an input, a call, and the strides that torch gives, which the table has to say exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from conformance import check_example

from torchlayout.layouts import Layout, contiguous, unknown_strides
from torchlayout.ops import Operand, Outcome, Result, find_function, find_method, select
from torchlayout.sizes import Facts, Poly

CL = torch.channels_last


def assert_strides(x: str, call: str, strides: Sequence[int]) -> None:
    """`call` is an expression over `x`; its result has these strides, and the table says so."""
    scope: dict[str, Any] = {"torch": torch, "F": F, "CL": CL}
    torch.manual_seed(0)
    scope["x"] = eval(x, scope)
    real = eval(call, scope)
    assert real.stride() == tuple(strides), f"torch gives {real.stride()}"
    verdict = check_example(call, scope["x"])
    assert verdict.kind == "exact", f"{verdict.kind}: {verdict.detail}"


class Symbolic:
    """Named unknown sizes, and rows applied to tensors made of them."""

    def __init__(self, names: str = "B T C H W") -> None:
        self.facts = Facts()
        self.sizes = {name: self.facts.symbols.atom(name, name) for name in names.split()}

    def __getitem__(self, name: str) -> Poly:
        return self.sizes[name]

    def tensor(self, *shape: Any) -> Operand:
        """A packed tensor; letters are unknown sizes."""
        return Operand(contiguous([self.sizes.get(size, size) if isinstance(size, str) else size for size in shape]))

    def whatever(self, key: str, packed: bool = True) -> Operand:
        """A tensor of unknown rank."""
        shape = (self.facts.symbols.rest(key, key),)
        return Operand(contiguous(shape) if packed else unknown_strides(shape))

    def call(self, path: str, *args: Any, assumed: bool = True, **kwargs: Any) -> Outcome:
        """What the table says of `F.f`, `torch.f` or `Tensor.f`."""
        return applied(path, args, kwargs, self.facts.assumed_world if assumed else self.facts)

    def layout(self, path: str, *args: Any, assumed: bool = True, **kwargs: Any) -> Layout:
        result = self.call(path, *args, assumed=assumed, **kwargs)
        assert isinstance(result, Result), result
        return result.layout


def applied(path: str, args: Sequence[Any], kwargs: Mapping[str, Any], facts: Facts) -> Outcome:
    owner, _, name = path.rpartition(".")
    rows = find_method(name) if owner == "Tensor" else find_function(path.replace("F.", "torch.nn.functional."))
    found = select(rows, args, kwargs)
    assert found is not None, f"no row of {path} takes these arguments"
    row, bound = found
    return row.apply(bound, facts)
