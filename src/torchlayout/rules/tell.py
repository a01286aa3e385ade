"""The words of messages: layouts, where they came from, when something happens.

A message is one line: what is wrong, the layout that makes it wrong, where that came from, when it happens, and what
to do about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from torchlayout.interp.trace import Case, Origin, Site, SiteKey, Visit
from torchlayout.layouts import Layout, is_channels_last, is_contiguous, settle
from torchlayout.ops import Operand, Refused, Result
from torchlayout.program.nodes import Span
from torchlayout.rules.drawing import Drawing, Picture
from torchlayout.rules.finding import Related
from torchlayout.rules.seen import results
from torchlayout.sizes import YES, Facts, Poly, Rest, Size, product

MAX_COUNT = 40
"""Characters of a number of elements that a message still tells."""

MAX_SIZE_TEXT = 24
"""Characters of one size in a message."""
MAX_LAYOUT_TEXT = 120
"""Characters of sizes and strides together, beyond which single ones are shown shorter still."""

MAX_RELATED = 6
"""Steps of a value's history that a finding shows, the latest first."""

_MOVES = re.compile(
    r"\W*(a slice|transpose|permute|t\b|T\b|mT\b|H\b|mH\b|movedim|moveaxis|swap|rearrange|expand|broadcast|narrow"
    r"|select|chunk|split|unbind|tensor_split|as_strided|unfold|diagonal|flip|rot90|adjoint|flatten|view_as_real|real|imag"
    r"|meshgrid|to\(memory_format|channels_last)"
)
"""Steps that change how a tensor lies in memory, as origins spell them; others hand it on."""


# ---------------------------------------------------------------- layouts
def size_text(size: Size, facts: Facts) -> str:
    return facts.render(size)


def shape_texts(operand: Operand, facts: Facts) -> tuple[str, ...]:
    """Sizes as people write them, "?" where one is not known, "..." for dimensions of unknown number."""
    layout = settle(operand.layout, facts)
    return tuple("..." if dim.rest is not None else facts.render(dim.size) for dim in layout.dims)


def stride_texts(operand: Operand, facts: Facts) -> tuple[str, ...]:
    layout = settle(operand.layout, facts)
    return tuple(
        "..." if dim.rest is not None else "?" if dim.stride is None else facts.render(dim.stride)
        for dim in layout.dims
    )


def bracketed(texts: Iterable[str]) -> str:
    return "(" + ", ".join(texts) + ")"


def layout_text(operand: Operand, facts: Facts) -> str:
    """ "sizes (B, C) and strides (1, B)"; a size or stride too long to read is an ellipsis, and where no size or no
    stride at all is known, words say so."""
    form = " (channels_last)" if _is_channels_last(operand.layout, facts) else ""
    shape, stride = shape_texts(operand, facts), stride_texts(operand, facts)
    text = ""
    for most in (MAX_SIZE_TEXT, MAX_SIZE_TEXT // 2):
        sizes, strides = (bracketed(_short(text, most) for text in texts) for texts in (shape, stride))
        text = _count_text(shape) or f"sizes {sizes}"
        if not _unknown(stride):
            text += f" and strides {strides}"
        elif not _unknown(shape):
            text += " and unknown strides"
        elif len(shape) > 1:
            text += " and strides"
        if len(text) <= MAX_LAYOUT_TEXT:
            break
    return text + form


def _unknown(texts: Sequence[str]) -> bool:
    return bool(texts) and all(text in ("?", "...") for text in texts)


def _count_text(shape: Sequence[str]) -> str:
    """ "3 dimensions of unknown sizes"; nothing where a size is known, or where there is no dimension."""
    if not _unknown(shape):
        return ""
    count = sum(text == "?" for text in shape)
    if "..." not in shape:
        return f"{count} dimension{'s of unknown sizes' if count > 1 else ' of unknown size and stride'}"
    return f"at least {count} dimensions of unknown sizes" if count > 1 else "an unknown number of dimensions"


def layout_in_brackets(operand: Operand | None, facts: Facts) -> str:
    """ " (sizes (3, 4) and strides (4, 1))"; nothing where not even the number of dimensions is known."""
    if operand is None or (_unknown(shape := shape_texts(operand, facts)) and "..." in shape):
        return ""
    return f" ({layout_text(operand, facts)})"


def _short(text: str, most: int = MAX_SIZE_TEXT) -> str:
    return text if len(text) <= most else "\N{HORIZONTAL ELLIPSIS}"


def _is_channels_last(layout: Layout, facts: Facts) -> bool:
    if layout.rank not in (4, 5) or is_contiguous(layout, facts) is YES:
        return False
    return is_channels_last(layout, facts) is YES


SHAPED = frozenset({"view", "view_as", "reshape", "reshape_as"})
"""Operators that are told a shape by a `size`, a `shape` or a tensor of that shape."""


def wanted_shape(case: Case, name: str) -> str | None:
    """The shape that a view or reshape asks for, as known; None where there is none to tell."""
    if name not in SHAPED:
        return None
    for name in ("size", "shape"):
        value = case.bound.get(name)
        if isinstance(value, tuple) and value:
            return bracketed(_extent_text(item, case.facts) for item in value)
        if isinstance(value, (int, Poly)) and not isinstance(value, bool):
            return bracketed([_extent_text(value, case.facts)])
    other = case.operand("other")
    return None if other is None else bracketed(shape_texts(other, case.facts))


def _extent_text(value: Any, facts: Facts) -> str:
    if isinstance(value, Rest):
        return "..."
    return _short(facts.render(value)) if isinstance(value, (int, Poly)) else "?"


def elements(operand: Operand, facts: Facts) -> str | None:
    """How many elements a copy moves: "B*T*C elements"; None where that is not known."""
    layout = settle(operand.layout, facts)
    if any(dim.rest is not None for dim in layout.dims):
        return None
    texts = shape_texts(operand, facts)
    if "?" in "".join(texts):
        return None
    total = product(layout.sizes)
    if isinstance(total, int):
        return f"{total} elements"
    count = "*".join(map(_factor, texts))
    return f"{count} elements" if len(count) <= MAX_COUNT else None


def _factor(text: str) -> str:
    return f"({text})" if " " in text and not text.startswith("(") else text


def picture(title: str, operand: Operand, facts: Facts) -> Picture:
    return Picture(title, shape_texts(operand, facts), stride_texts(operand, facts))


def drawing(visit: Visit, case: Case, name: str) -> Drawing | None:
    """The operand of a case, and what the operation makes of it."""
    operand = case.operand()
    if operand is None:
        return None
    after: Picture | None = None
    made = next(results(case.outcome), None)
    if isinstance(made, Result):
        after = picture(f"after {name}", Operand(made.layout), case.facts)
    return Drawing(picture(visit.text or name, operand, case.facts), after)


# ---------------------------------------------------------------- where it came from
def code(text: str) -> str:
    """Code in a message; words such as "a slice" stay as they are."""
    return text if text.startswith(("a ", "an ", "the ")) or "`" in text else f"`{text}`"


def cause(origin: Origin | None) -> Origin | None:
    """The latest step that moved a tensor's memory about, else its latest step."""
    if origin is None:
        return None
    return next((step for step in origin.steps() if step.text.endswith("]") or _MOVES.match(step.text)), origin)


def place(path: str, span: Span, here: str) -> str:
    """ "line 41", or "line 41 of models/block.py" where that is another file."""
    return f"line {span.line}" if path == here else f"line {span.line} of {path}"


def made_by(origin: Origin | None, here: str) -> str:
    """`, made so by "transpose(1, 2)" on line 41`; nothing where that is not known."""
    step = cause(origin)
    return "" if step is None else f", made so by {code(step.text)} on {place(step.path, step.span, here)}"


def history(origin: Origin | None, here: str, at: Span | None = None) -> tuple[Related, ...]:
    """The places where a value got its layout, the latest first; `at`, where the finding itself stands, is left out."""
    found: list[Related] = []
    for step in origin.steps() if origin is not None else ():
        if step.path == here and step.span == at:
            continue
        found.append(Related(step.span, f"{code(step.text)} here", None if step.path == here else step.path))
        if len(found) == MAX_RELATED:
            break
    return tuple(found)


def called_from(caller: SiteKey | None, here: str) -> tuple[Related, ...]:
    """The call that led to a finding inside a function."""
    if caller is None:
        return ()
    path, span = caller
    return (Related(span, "called from here", None if path == here else path),)


# ---------------------------------------------------------------- when it happens
def sizes_that_matter(visit: Visit, case: Case) -> list[str]:
    """The names of sizes that must be above 1 for a refusal: with one of them at 1, torch does what is asked."""
    operand = case.operand()
    if operand is None:
        return []
    found: list[str] = []
    for size in settle(operand.layout, case.facts).sizes:
        if not isinstance(size, Poly):
            continue
        # of `n - 1` it is not n that has to be above 1
        parts = [Poly({(atom,): 1}) for atom in dict.fromkeys(size.atoms())] if len(size.terms) == 1 else [size]
        for part in parts:
            name = "?" if any(atom.name is None for atom in part.atoms()) else case.facts.render(part)
            if name in found:
                continue
            facts = case.facts.copy()
            facts.learn_equal(part, 1)
            try:
                visit.op.apply(_settled(case.bound, facts), facts)
            except Refused:
                continue
            found.append(name)
    return found


def _settled(bound: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    return {name: _settled_value(value, facts) for name, value in bound.items()}


def _settled_value(value: Any, facts: Facts) -> Any:
    if isinstance(value, Poly):
        return facts.normal(value)
    if isinstance(value, tuple):
        return tuple(_settled_value(item, facts) for item in value)
    return value


def all_of(names: Sequence[str]) -> str:
    """ "B", "B and T", "B, T and C"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def when(visit: Visit, case: Case, *, certain: bool) -> str:
    """When a refusal comes about: " for B above 1", and on what it rests; nothing where it always does."""
    names = sizes_that_matter(visit, case)
    named = [name for name in names if name != "?"]
    if names and named == names and len(", ".join(names)) <= MAX_COUNT:
        sizes = f" for {all_of(named)} above 1"
    else:
        sizes = " for sizes above 1" if names else ""
    return sizes if certain or _known(visit) else f"{sizes} (the inputs taken to be contiguous)"


def _known(visit: Visit) -> bool:
    """Whether the proven world knows the strides too, so that nothing is assumed of the inputs."""
    operands = [case.operand() for case in visit.proven]
    return bool(operands) and all(operand is not None and None not in operand.layout.strides for operand in operands)


def on_path(visit: Visit, here: str) -> str:
    """ " when called from line 30"."""
    return "" if visit.caller is None else f" when called from {place(*visit.caller, here)}"


def operator_name(site: Site) -> str:
    """The operation as a message names it: `view`, indexing, `+=`."""
    return {"[]": "indexing", "[]=": "this write"}.get(site.name, f"`{site.name}`")
