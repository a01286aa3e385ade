"""LAY900: what is known of a tensor that `reveal_layout(x)` asks about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import REVEAL, Example, Rule

if TYPE_CHECKING:
    from torchlayout.interp.trace import Reveal
    from torchlayout.ops import Operand
    from torchlayout.program.nodes import Span
    from torchlayout.rules.finding import Finding
    from torchlayout.rules.seen import Seen
    from torchlayout.sizes import Facts


class RevealedLayout(Rule):
    """## What it does
    Answers `reveal_layout(x)` with what is known of `x`: its sizes and strides, whether it is contiguous, and whether
    that is proved or holds if the function's inputs are contiguous and no size is 1.

    ## Why is this bad?
    It is not: this is how to ask the linter what it knows, while writing code or reading a finding. The same line runs
    with `from torchlayout import reveal_layout`, prints the real layout and returns `x`; take it out before you commit.

    ## Example
    ```python
    import torch
    from torchlayout import reveal_layout

    x = torch.randn(3, 4).t()
    reveal_layout(x)
    ```

    ## Use instead
    ```python
    import torch

    x = torch.randn(3, 4).t()
    ```

    ## What it cannot see
    An unknown size or stride is shown as `?`, dimensions of unknown number as `...`. Where paths differ, what differs
    is shown as `?` too. What a call gave that is not followed counts as unknown: it is not taken to be contiguous.

    ## References
    - [torch.Tensor.stride](https://pytorch.org/docs/stable/generated/torch.Tensor.stride.html)
    - [torch.Tensor.is_contiguous](https://pytorch.org/docs/stable/generated/torch.Tensor.is_contiguous.html)
    """

    code, name = "LAY900", "revealed-layout"
    words = (f"{REVEAL}(",)
    invalid = (
        Example(
            """\
import torch
from torchlayout import reveal_layout

x = torch.randn(3, 4).t()
reveal_layout(x)  # LAY900
""",
            note="shape (4, 3), stride (1, 4), not contiguous",
        ),
    )
    valid = (
        Example(
            """\
import torch

x = torch.randn(3, 4).t()
""",
            note="speaks only where it is asked",
        ),
    )

    def check(self, seen: Seen) -> Iterator[Finding]:
        for span, contexts in seen.trace.reveals.items():
            yield self.finding(seen, span, list(contexts.values()))

    def finding(self, seen: Seen, span: Span, reveals: list[Reveal]) -> Finding:
        from torchlayout.rules import tell
        from torchlayout.rules.drawing import Drawing
        from torchlayout.rules.finding import Finding

        assumed = _assumed(reveals)
        proven = [pair for reveal in reveals for pair in reveal.proven]
        layout = _as_data(assumed)
        layout["proved"] = _as_data(proven) == layout and layout["contiguous"] != "unknown"
        origin = next((reveal.origin for reveal in reveals if reveal.origin is not None), None)
        drawing = Drawing(tell.picture(REVEAL, *assumed[0]), None) if len(assumed) == 1 else None
        related = tell.history(origin, seen.trace.path, span)
        message = _told(layout) + tell.made_by(origin, seen.trace.path)
        return Finding(self.code, message, span, related, layout=layout, drawing=drawing)


def _assumed(reveals: list[Reveal]) -> list[tuple[Operand, Facts]]:
    """The alternatives if the inputs are contiguous. Some rest on more: that what an unknown call gave is contiguous.
    Callers that hand such a tensor over say nothing beside other callers; else only its shape counts."""
    sure = [reveal for reveal in reveals if not any(operand.weak for operand, _ in reveal.assumed)]
    return [
        _without_guess(operand, facts, reveal) if operand.weak else (operand, facts)
        for reveal in sure or reveals
        for operand, facts in reveal.assumed
    ]


def _without_guess(operand: Operand, facts: Facts, reveal: Reveal) -> tuple[Operand, Facts]:
    """An alternative without its strides, unless these are proved."""
    from torchlayout.layouts import is_contiguous, unknown_strides
    from torchlayout.sizes import YES
    from torchlayout.structs import replace

    packed = is_contiguous(operand.layout, facts) is YES
    proved = [
        other.layout == operand.layout or (packed and is_contiguous(other.layout, known) is YES)
        for other, known in reveal.proven
    ]
    if proved and all(proved):
        return operand, facts
    return replace(operand, layout=unknown_strides(operand.layout.shape)), facts


def _as_data(pairs: list[tuple[Operand, Facts]]) -> dict[str, object]:
    """The answer as data, of all alternatives together."""
    from torchlayout.layouts import is_contiguous
    from torchlayout.rules import tell
    from torchlayout.sizes import NO, YES, agree

    words = {YES: "yes", NO: "no"}
    answer = words.get(agree(is_contiguous(operand.layout, facts) for operand, facts in pairs), "unknown")
    return {
        "shape": _common(tell.shape_texts(operand, facts) for operand, facts in pairs),
        "stride": _common(tell.stride_texts(operand, facts) for operand, facts in pairs),
        "contiguous": answer,
    }


def _common(alternatives: Iterable[tuple[str, ...]]) -> list[str] | None:
    """What all alternatives have in common, "?" where they differ; None where the rank is not known."""
    found = list(dict.fromkeys(alternatives))
    if not found or any("..." in texts for texts in found) or len({len(texts) for texts in found}) > 1:
        return None
    return [texts[0] if len(set(texts)) == 1 else "?" for texts in zip(*found, strict=True)]


def _told(layout: dict[str, object]) -> str:
    """The answer as a sentence."""

    def listed(name: str) -> str:
        value = layout[name]
        return f"({', '.join(value)})" if isinstance(value, list) else "unknown"

    sure = "proved" if layout["proved"] else "if the inputs are contiguous and no size is 1"
    contiguous = {"yes": "contiguous", "no": "not contiguous", "unknown": "contiguous or not is unknown"}
    return (
        f"shape {listed('shape')}, stride {listed('stride')}, {contiguous[str(layout['contiguous'])]} ({sure})"
        if layout["contiguous"] != "unknown"
        else f"shape {listed('shape')}, stride {listed('stride')}, {contiguous['unknown']}"
    )
