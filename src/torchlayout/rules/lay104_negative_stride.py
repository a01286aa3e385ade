"""LAY104: negative strides reach torch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import Example, Rule

if TYPE_CHECKING:
    from torchlayout.interp.trace import Case, Origin, Site, Visit
    from torchlayout.rules.finding import Finding, Fix
    from torchlayout.rules.seen import Seen


class NegativeStride(Rule):
    """## What it does
    Reports reversed NumPy views (`a[::-1]`, `np.flip`, `np.fliplr`, `np.rot90`) that reach `torch.from_numpy`,
    `torch.tensor`, `torch.as_tensor` and their like, and slices with a negative step on tensors.

    ## Why is this bad?
    NumPy reverses by a negative stride, without moving anything. torch has no negative strides and raises ValueError,
    also in constructors that would copy. A tensor itself cannot be sliced backwards at all. Often it is the colour
    order of an image (`image[..., ::-1]`) or a falling sort (`np.sort(x)[::-1]`) that comes to torch so.

    ## Example
    ```python
    import numpy as np
    import torch

    image = np.ones((4, 5, 3), dtype=np.float32)
    tensor = torch.from_numpy(image[..., ::-1])
    ```

    ## Use instead
    ```python
    import numpy as np
    import torch

    image = np.ones((4, 5, 3), dtype=np.float32)
    tensor = torch.from_numpy(image[..., ::-1].copy())
    ```

    ## What it cannot see
    Arrays that come from code that is not read, such as image readers and augmentation libraries.

    ## Fix safety
    The fix copies on the NumPy side. It is unsafe: the program raised before, and the tensor does not share memory with
    the array. A backwards slice of a tensor has no fix; write `x.flip(0)`.

    ## References
    - [torch.from_numpy](https://pytorch.org/docs/stable/generated/torch.from_numpy.html)
    - [torch.flip](https://pytorch.org/docs/stable/generated/torch.flip.html)
    """

    code, name = "LAY104", "negative-stride"
    words = (
        "from_numpy(", "tensor(", "as_tensor(", "asarray(", "Tensor(", "FloatTensor(", "DoubleTensor(", "LongTensor(",
        "IntTensor(", "ByteTensor(", "from_dlpack(", "::-",
    )  # fmt: skip
    beside = (
        "::-", "np.flip", "np.rot90", "numpy.flip", "numpy.rot90", "from numpy import", "import flip", "import rot90",
    )  # fmt: skip
    source = "reversed"
    fixable = True
    invalid = (
        Example(
            """\
import numpy as np
import torch

image = np.ones((4, 5, 3), dtype=np.float32)
tensor = torch.from_numpy(image[..., ::-1])  # LAY104
""",
            fixed=[("image[..., ::-1])", "image[..., ::-1].copy())")],
            note="the colours reversed without moving them",
        ),
        Example(
            """\
import numpy as np
import torch

mirrored = np.flip(np.arange(1.0, 5.0))
torch.tensor(mirrored)  # LAY104
""",
            fixed=[("tensor(mirrored)", "tensor(mirrored.copy())")],
            note="the constructor copies, but refuses first",
        ),
        Example(
            """\
import torch

x = torch.arange(3)
x[::-1]  # LAY104
""",
            note="a tensor cannot be sliced backwards",
        ),
    )
    valid = (
        Example(
            """\
import numpy as np
import torch

image = np.ones((4, 5, 3), dtype=np.float32)
torch.from_numpy(image[..., ::-1].copy())
torch.from_numpy(np.ascontiguousarray(image[::-1]))
torch.arange(3).flip(0)
""",
            note="copied before torch sees it",
        ),
    )
    near_misses = (
        Example(
            """\
import numpy as np
import torch

image = np.ones((4, 5, 3), dtype=np.float32)
torch.from_numpy(image[:, ::-1] / 255)
torch.from_numpy(image[..., [2, 1, 0]])
torch.from_numpy(image[::-1][::-1])
""",
            note="computed with, re-indexed, or reversed twice",
        ),
        Example(
            """\
import numpy as np
import torch


def worst_first(scores, levels):
    found = np.quantile(scores, levels, axis=0)
    found = found.reshape(len(levels), -1)
    return found[::-1]


worst_first(np.ones((4, 5)), [0.5])
torch.tensor(2)
""",
            note="arrays can be reshaped too",
        ),
    )

    def check(self, seen: Seen) -> Iterator[Finding]:
        from torchlayout.rules.seen import refusal

        for site in seen.refusing:
            found = refusal(site, "negative-stride") or _of_annotated(seen, site)
            if found is None and site.name != "[]":  # hardly any code hands out arrays that are reversed already
                found = refusal(site, "negative-stride", weak=True)
            if found is not None and not (site.name == "[]" and may_be_array(seen, site)):
                yield self.finding(seen, site, *found)

    def finding(self, seen: Seen, site: Site, visit: Visit, case: Case, path: str) -> Finding:
        from torchlayout.rules import tell
        from torchlayout.rules.finding import Finding

        here = seen.trace.path
        parameter = case.refused.parameter if case.refused is not None else "self"
        origin, operand = visit.origins.get(parameter), case.operand(parameter)
        if site.name == "[]":
            message = f"indexing raises{path}: a tensor cannot be sliced with a negative step; use `flip`, which copies"
        else:
            strides = tell.bracketed(tell.stride_texts(operand, case.facts)) if operand is not None else "negative"
            made = tell.made_by(_reversal(origin), here)
            message = (
                f"`{site.name}` raises{path}{tell.on_path(visit, here)}: the array has strides {strides}, in elements"
                f"{made}, and torch has no negative ones; copy it on the NumPy side (`.copy()`)"
            )
        related = tell.history(origin, here, site.span) + tell.called_from(visit.caller, here)
        return Finding(self.code, message, site.span, related, _copied(seen, site))


_REVERSES = re.compile(r"::\s*-|flip|rot90")


def _reversal(origin: Origin | None) -> Origin | None:
    """The latest step that turned a dimension round, whatever was done to the array afterwards."""
    steps = origin.steps() if origin is not None else iter(())
    return next((step for step in steps if _REVERSES.search(step.text)), origin)


OF_BOTH = frozenset(
    {
        "[]", "T", "mT", "all", "any", "argmax", "argmin", "argsort", "clip", "conj", "cumprod", "cumsum", "data",
        "diagonal", "dot", "flatten", "imag", "max", "mean", "min", "prod", "ravel", "real", "repeat", "reshape",
        "round", "squeeze", "std", "sum", "swapaxes", "take", "trace", "transpose", "var", "view",
    }
)  # fmt: skip
"""Methods and attributes that arrays have as tensors do."""

MAX_FOLLOWED = 32
"""Operations before an index that are asked whether only tensors have them."""


def may_be_array(seen: Seen, site: Site) -> bool:
    """Whether what is indexed may come from code that is not read, by nothing but what arrays have too."""
    pending, done = [site.key], {site.key}
    while pending and len(done) < MAX_FOLLOWED:
        maker = seen.site(pending.pop())
        if maker is None or maker.kind == "function" or maker.kind == "module":
            continue
        if maker.kind != "operator" and maker.name not in OF_BOTH:
            continue
        makers = {key for visit in maker.visits.values() for key in visit.made_by.get("self", ())}
        if not makers and maker is not site:
            return True
        pending.extend(makers - done)
        done |= makers
    return False


def _of_annotated(seen: Seen, site: Site) -> tuple[Visit, Case, str] | None:
    """The refusal of a negative step on a parameter that is said to be a tensor, and stays it: its rank does not
    matter."""
    import ast

    from torchlayout.rules.way import way_to_subscript

    if site.name != "[]":
        return None
    refused = [
        (visit, case, "")
        for visit in site.relevant()
        for case in visit.assumed
        if case.refused is not None and case.refused.kind == "negative-stride" and not case.weak
    ]
    way = [step.node for step in way_to_subscript(seen.unit.tree, seen.unit.source, site.span)] if refused else []
    index = way[-1] if way else None
    around = next((node for node in reversed(way) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))), None)
    if not (isinstance(index, ast.Subscript) and isinstance(index.value, ast.Name) and around is not None):
        return None
    name, given = index.value.id, around.args
    said = [arg.annotation for arg in (*given.posonlyargs, *given.args, *given.kwonlyargs) if arg.arg == name]
    if not said or said[0] is None or ast.unparse(said[0]) not in ("torch.Tensor", "Tensor"):
        return None
    stored = (node for node in ast.walk(around) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return None if any(node.id == name for node in stored) else refused[0]


def _copied(seen: Seen, site: Site) -> Fix | None:
    """`torch.tensor(a)` to `torch.tensor(a.copy())`."""
    from torchlayout.rules import edits, mend
    from torchlayout.rules.finding import Fix, Safety

    call = mend.call_at(seen, site.key)
    if call is None or not call.arguments or call.arguments[0].star or call.arguments[0].keyword:
        return None
    value = call.arguments[0].value
    return Fix("Copy the array", edits.call_method(seen.unit.source, value, ".copy()"), Safety.UNSAFE)
