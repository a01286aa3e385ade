"""LAY106: a non-contiguous tensor handed to a function that refuses it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import Example, Rule

if TYPE_CHECKING:
    from torchlayout.interp.trace import Case, ForeignArgument, ForeignCall, Origin, Site, SiteKey, Visit
    from torchlayout.ops import Operand
    from torchlayout.rules.contiguity_needs import Need
    from torchlayout.rules.finding import Finding
    from torchlayout.rules.seen import Seen
    from torchlayout.sizes import Facts


class NoncontiguousArgument(Rule):
    """## What it does
    Reports tensors that are not contiguous in arguments of functions that refuse them: the collectives and
    point-to-point calls of `torch.distributed`, `safetensors.torch.save_file` and `save`, hidden states of RNN, GRU and
    LSTM (on CUDA), `torch.frombuffer` (of strided arrays), and functions named in the setting `need-contiguous`.

    ## Why is this bad?
    These functions read memory from its start on, so they raise (`Tensors must be contiguous`, `rnn: hx is not
    contiguous`), some of them only on some backend: gloo on a developer's machine accepts what NCCL refuses on the
    cluster. The message says which. A tensor in channels_last passes NCCL's test, and is not reported for it.

    ## Example
    ```python
    import torch
    import torch.distributed as dist


    def gather_weight(weight):
        turned = weight.transpose(0, 1)
        shards = [torch.empty(turned.shape) for _ in range(dist.get_world_size())]
        dist.all_gather(shards, turned)
        return shards
    ```

    ## Use instead
    ```python
    import torch
    import torch.distributed as dist


    def gather_weight(weight):
        turned = weight.transpose(0, 1).contiguous()
        shards = [torch.empty(turned.shape) for _ in range(dist.get_world_size())]
        dist.all_gather(shards, turned)
        return shards
    ```

    ## What it cannot see
    Functions that it has not been told of. Name your own (wrappers of kernels, compiled extensions) in the setting
    `need-contiguous`, with the arguments by name, by position, or `*`. Which backend a process group has is not
    followed, so the message names the one that refuses.

    ## Fix safety
    The fix writes `.contiguous()` behind the argument, `.copy()` behind an array. It is unsafe: it copies, and a
    function that writes to the argument (a collective's output) then fills the copy; for outputs no fix is offered.

    ## References
    - [torch.distributed](https://pytorch.org/docs/stable/distributed.html)
    - [safetensors.torch](https://huggingface.co/docs/safetensors/api/torch)
    """

    code, name = "LAY106", "noncontiguous-argument"
    words = (
        "all_reduce(", "all_gather(", "all_gather_into_tensor(", "all_gather_single(", "broadcast(", "reduce(",
        "gather(", "scatter(", "reduce_scatter(", "reduce_scatter_tensor(", "reduce_scatter_single(", "all_to_all(",
        "all_to_all_single(", "all_reduce_coalesced(", "send(", "isend(", "recv(", "irecv(", "save_file(", "save(",
        "frombuffer(", "LSTM(", "GRU(", "RNN(",
    )  # fmt: skip
    beside = (
        "torch.distributed", "import distributed", "distributed as", "distributed,", "distributed.", "safetensors",
        "frombuffer", "LSTM", "GRU", "RNN",
    )  # fmt: skip
    fixable = True
    invalid = (
        Example(
            """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
try:
    x = torch.randn(3, 4)
    dist.all_to_all_single(torch.empty(3, 2), x[:, :2])  # LAY106
finally:
    dist.destroy_process_group()
""",
            fixed=[("x[:, :2])", "x[:, :2].contiguous())")],
            note="the one collective whose input every backend tests",
            needs="torch.distributed",
        ),
        Example(
            """\
import torch
from safetensors.torch import save

weight = torch.randn(4, 3).t()
save({"weight": weight})  # LAY106
""",
            note="a transposed weight in a checkpoint",
            needs="safetensors",
        ),
        Example(
            """\
import torch

rnn = torch.nn.GRU(4, 8, num_layers=2)
hidden = torch.zeros(3, 2, 8).transpose(0, 1)
rnn(torch.randn(5, 3, 4), hidden)  # LAY106
""",
            fixed=[("4), hidden)", "4), hidden.contiguous())")],
            note="cuDNN wants hidden states packed; a CPU takes them as they are",
            needs="cuda",
        ),
        Example(
            """\
import numpy as np
import torch

samples = np.ones((4, 6))
left = torch.frombuffer(samples[:, ::2], dtype=torch.float64)  # LAY106
""",
            fixed=[("samples[:, ::2], ", "samples[:, ::2].copy(), ")],
            note="NumPy hands out no buffer of every other column",
        ),
    )
    valid = (
        Example(
            """\
import torch
from safetensors.torch import save

weight = torch.randn(4, 3).t()
save({"weight": weight.contiguous()})
""",
            note="packed first",
            needs="safetensors",
        ),
    )
    near_misses = (
        Example(
            """\
import numpy as np
import torch

samples = np.ones((4, 6))
half = torch.frombuffer(samples[:2], dtype=torch.float64)
turned = torch.frombuffer(samples.T.copy(), dtype=torch.float64)
read = torch.frombuffer(bytearray(8)[::2], dtype=torch.uint8)
""",
            note="rows from the start, a packed copy, and a slice of bytes, which is new memory",
        ),
        Example(
            """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
try:
    x = torch.randn(3, 4)
    dist.all_to_all_single(torch.empty(2, 4), x[:2])
finally:
    dist.destroy_process_group()
""",
            note="rows from the start are contiguous",
            needs="torch.distributed",
        ),
    )

    def check(self, seen: Seen) -> Iterator[Finding]:
        from torchlayout.rules import contiguity_needs

        for key, calls in sorted(seen.trace.calls.items()):
            if key[0] != seen.trace.path:
                continue
            told: set[int | str] = set()
            for call in calls:
                for place, found in self.foreign(seen, key, call):
                    if place not in told:
                        told.add(place)
                        yield found
        for site in seen.refusing:
            yield from self.refused(seen, site)
        for site in seen.named(*contiguity_needs.RECURRENT):
            yield from self.hidden_state(seen, site)

    # ------------------------------------------------------------ functions outside the table
    def foreign(self, seen: Seen, key: SiteKey, call: ForeignCall) -> Iterator[tuple[int | str, Finding]]:
        from torchlayout.rules import contiguity_needs, mend

        need = contiguity_needs.find(call.path)
        wanted = _arguments(need, call, seen)
        for place, argument in wanted:
            found = _strided(argument, need is not None and need.dense_enough)
            if found is not None:
                at = mend.call_at(seen, key)
                fix, output = None, contiguity_needs.is_output(need, place)
                if at is not None and not output and _written_alone(seen, at, place):
                    fix = mend.pack_argument(seen, at, place, _packing(found[0]))
                where = f" {need.where}" if need is not None and need.where else ""
                says = f" ({need.says})" if need is not None else ""
                name = call.path.rpartition(".")[2]
                named = f"argument {place + 1}" if isinstance(place, int) else f"`{place}`"
                what = f"`{name}` refuses {named}{where}{says}"
                yield place, self.finding(seen, key, what, *found, argument.origin, call.caller, fix, output)

    # ------------------------------------------------------------ operators of the table
    def refused(self, seen: Seen, site: Site) -> Iterator[Finding]:
        from torchlayout.rules import mend
        from torchlayout.rules.seen import refusal

        found = refusal(site, "needs-contiguous")
        if found is None:
            return
        visit, case, path = found
        parameter = case.refused.parameter if case.refused is not None else "self"
        operand = case.operand(parameter)
        if operand is not None:
            says = f" ({case.refused.message})" if case.refused is not None else ""
            at, packing, fix = mend.call_at(seen, site.key), _packing(operand), None
            if at is not None:
                fix = mend.pack_argument(seen, at, 0, packing) or mend.pack_argument(seen, at, parameter, packing)
            text = f"`{site.name}` raises{path}{says}"
            yield self.finding(
                seen, site.key, text, operand, case.facts, visit.origins.get(parameter), visit.caller, fix
            )

    def hidden_state(self, seen: Seen, site: Site) -> Iterator[Finding]:
        from torchlayout.rules import contiguity_needs, mend

        for visit in site.relevant():
            if visit.op.name not in contiguity_needs.RECURRENT:
                return
            for case in visit.assumed:
                found = _strided_state(visit, case)
                if found is None:
                    continue
                parameter, operand = found
                at = mend.call_at(seen, site.key)
                fix = mend.pack_argument(seen, at, 1) if at and len(at.arguments) == 2 and _is_tensor(case) else None
                yield self.finding(
                    seen, site.key, "a hidden state is refused on CUDA (rnn: hx is not contiguous)", operand,
                    case.facts, visit.origins.get(parameter), visit.caller, fix,
                )  # fmt: skip
                return

    def finding(
        self,
        seen: Seen,
        key: SiteKey,
        what: str,
        operand: Operand,
        facts: Facts,
        origin: Origin | None,
        caller: SiteKey | None,
        fix: object,
        output: bool = False,
    ) -> Finding:
        from torchlayout.rules import tell
        from torchlayout.rules.finding import Finding, Fix

        here = seen.trace.path
        remedy = "copy it on the NumPy side (`.copy()`)" if operand.numpy else "pack it with `contiguous()`"
        if output:
            remedy = "hand over a packed tensor, and copy the result back from it"
        layout = tell.layout_text(operand, facts)
        message = f"{what}: it is not contiguous, with {layout}{tell.made_by(origin, here)}; {remedy}"
        related = tell.history(origin, here, key[1]) + tell.called_from(caller, here)
        return Finding(self.code, message, key[1], related, fix if isinstance(fix, Fix) else None)


def _packing(operand: Operand) -> str:
    """The call that packs a tensor or an array."""
    return ".copy()" if operand.numpy else ".contiguous()"


def _arguments(need: Need | None, call: ForeignCall, seen: Seen) -> list[tuple[int | str, ForeignArgument]]:
    """The arguments of a call that have to be contiguous, by the table and by the settings."""
    wanted: set[int | str] = set()
    for index, keyword in need.arguments if need is not None else ():
        wanted.update((index, keyword))
    for path, places in seen.options.need_contiguous.items():
        if call.path == path or call.path.endswith(f".{path}"):
            wanted.update(call.arguments if "*" in places else places)
    return [(place, argument) for place, argument in call.arguments.items() if place in wanted]


def _strided(argument: ForeignArgument, dense_enough: bool) -> tuple[Operand, Facts] | None:
    """An alternative of an argument that is not contiguous."""
    from torchlayout.layouts import is_channels_last, is_contiguous
    from torchlayout.sizes import NO

    for operand, facts in (*argument.assumed, *argument.proven):
        if operand.weak or is_contiguous(operand.layout, facts) is not NO:
            continue
        if not (dense_enough and operand.layout.rank in (4, 5) and is_channels_last(operand.layout, facts) is not NO):
            return operand, facts
    return None


def _strided_state(visit: Visit, case: Case) -> tuple[str, Operand] | None:
    """A hidden state that is not contiguous, on a device that is not known to be a CPU."""
    from torchlayout.layouts import is_contiguous
    from torchlayout.ops import Operand
    from torchlayout.rules.contiguity_needs import HIDDEN_STATES
    from torchlayout.sizes import NO

    for name in HIDDEN_STATES:
        value = case.bound.get(name)
        for state in value if isinstance(value, tuple) else (value,):
            if isinstance(state, Operand) and not state.weak and state.device != "cpu":
                if is_contiguous(state.layout, case.facts) is NO:
                    return name, state
    return None


def _is_tensor(case: Case) -> bool:
    """Whether the hidden state is one tensor, not a pair of them."""
    from torchlayout.ops import Operand
    from torchlayout.rules.contiguity_needs import HIDDEN_STATES

    return any(isinstance(case.bound.get(name), Operand) for name in HIDDEN_STATES)


def _written_alone(seen: Seen, at: object, place: int | str) -> bool:
    """Whether an argument is written as one tensor, not as a list or dict of them."""
    from torchlayout.program.places import CallSite

    assert isinstance(at, CallSite)
    for index, argument in enumerate(at.arguments):
        if place in (index, argument.keyword):
            return seen.unit.source.slice(argument.value)[:1] not in ("[", "{", "(")
    return False
