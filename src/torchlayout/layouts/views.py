"""The view rule: which shapes can be expressed over given strides.

torch splits the dimensions into *runs* that lie next to each other in memory, and cuts the new shape from those
runs (`computeStride` in ATen/TensorUtils.cpp). Merging across two runs is what a view cannot do.
"""

from __future__ import annotations

from torchlayout.layouts.layout import Dim, Layout, contiguous, settle, settle_shape, unknown_strides
from torchlayout.layouts.properties import is_contiguous
from torchlayout.layouts.ranks import at_any_rank, learn_last_sizes
from torchlayout.sizes import MAYBE, NO, YES, Facts, Rest, Shape, Size, Truth, exact_quotient, product, single_atom
from torchlayout.structs import struct


@struct(frozen=True, slots=True)
class ViewAnswer:
    """Whether the view exists, and its layout: exact where YES, of unknown strides where MAYBE, None where NO."""

    exists: Truth
    layout: Layout | None
    by_chance: bool = False
    """Where MAYBE: it exists only if sizes that the code tells apart happen to agree (`x[:, :n]` with all of x)."""


@struct(frozen=True, slots=True)
class Run:
    """Dimensions next to each other in memory: `numel` elements, `stride` apart."""

    numel: Size
    stride: Size | None
    apart: bool = True
    """It certainly does not continue the run before it."""


def infer_shape(numel: Size, shape: Shape, facts: Facts) -> Shape | None:
    """The shape with its -1 solved; None where the numbers of elements cannot agree, or there are two -1."""
    holes = [i for i, extent in enumerate(shape) if extent == -1]
    if len(holes) > 1 or any(isinstance(e, int) and e < -1 for e in shape):
        return None
    others = product(e.numel if isinstance(e, Rest) else e for e in shape if e != -1)
    if not holes:
        return None if facts.equal(numel, others) is NO else shape
    learn_even_splits(shape, facts)
    others, numel = facts.normal(others), facts.normal(numel)
    if others == 0 or (isinstance(numel, int) and isinstance(others, int) and numel % others):
        return None
    rest = facts.quotient(numel, others)
    if exact_quotient(numel, others) is None:
        facts.learn_equal(numel, others * rest)  # torch refuses a shape that leaves something over
    return (*shape[: holes[0]], rest, *shape[holes[0] + 1 :])


def learn_even_splits(shape: Shape, facts: Facts) -> None:
    """A shape that holds both `a // b` and `b` splits a: people write so where b divides a, and the facts learn it.

    `x.view(B, -1, H, C // H)` then solves its -1 exactly.
    """
    for place, extent in enumerate(shape):
        atom = None if isinstance(extent, Rest) else single_atom(extent)
        if atom is None or not isinstance(atom.key, tuple) or len(atom.key) != 3 or atom.key[0] != "//":
            continue
        whole, part = facts.normal(atom.key[1]), facts.normal(atom.key[2])
        others = product(
            other
            for i, other in enumerate(shape)
            if i != place and not isinstance(other, Rest) and not (isinstance(other, int) and other < 1)
        )
        if exact_quotient(facts.normal(others), part) is not None:
            facts.learn_equal(whole, part * extent)  # type: ignore[operator]


def runs(layout: Layout, facts: Facts) -> tuple[list[Run], Truth]:
    """The runs of a settled layout, outermost first, and whether they are certain.

    Where it is not known whether two dimensions lie next to each other, they are kept apart and the answer
    says MAYBE: the real runs may be longer.
    """
    found: list[Run] = []
    sure = YES
    for dim in layout.dims:
        if facts.is_one(dim.size) is YES:
            continue
        if not found:
            found.append(Run(dim.size, dim.stride))
            continue
        outer = found[-1]
        if outer.stride is None or dim.stride is None:
            adjacent = MAYBE
        else:
            adjacent = facts.equal(outer.stride, dim.size * dim.stride)
            if adjacent is NO and (facts.above_one(dim.size) is not YES or facts.above_one(outer.numel) is not YES):
                adjacent = MAYBE
        if adjacent is YES:
            found[-1] = Run(outer.numel * dim.size, dim.stride, outer.apart)
        else:
            sure = sure & (MAYBE if adjacent is MAYBE else YES)
            found.append(Run(dim.size, dim.stride, adjacent is NO))
    return found, sure


def view(layout: Layout, shape: Shape, facts: Facts) -> ViewAnswer | None:
    """What `x.view(shape)` gives; None where the numbers of elements differ, which is no matter of layout."""
    open_end = learn_last_sizes(shape, facts)
    layout = settle(layout, facts)
    cases = at_any_rank(layout, facts) if open_end and layout.dims and layout.dims[-1].rest is not None else ()
    wanted = infer_shape(layout.numel, settle_shape(shape, facts), facts)
    if wanted is None:
        return None
    if is_contiguous(layout, facts) is YES:
        return ViewAnswer(YES, contiguous(wanted, layout.offset))
    if wanted == layout.shape:
        return ViewAnswer(YES, layout)
    found, sure = runs(layout, facts)
    cut, dims = _cut(found, list(wanted), facts)
    if cut is YES:
        return ViewAnswer(YES, Layout(tuple(dims), layout.offset))
    if (cut is NO and sure is YES) or _merges(found, wanted, facts):
        return ViewAnswer(NO, None)
    if cases and all(_is_refused(layout, shape, case) for case in cases):
        return ViewAnswer(NO, None)
    known = all(run.stride is not None for run in found)
    return ViewAnswer(MAYBE, unknown_strides(wanted), cut is NO and known)


def _is_refused(layout: Layout, shape: Shape, facts: Facts) -> bool:
    answer = view(layout, shape, facts)
    return answer is not None and answer.exists is NO


def _merges(found: list[Run], wanted: Shape, facts: Facts) -> bool:
    """Whether the shape is sure to merge across a certain boundary between two runs.

    Each boundary needs a cut of the shape behind which lie just as many elements; the shape offers one fewer cuts
    than it has dimensions.
    """
    cuts: list[Size] = []
    inner: Size = 1
    for extent in reversed(wanted[1:]):
        inner = inner * (extent.numel if isinstance(extent, Rest) else extent)
        if facts.is_one(inner) is not YES and not (cuts and facts.equal(cuts[-1], inner) is YES):
            cuts.append(inner)
    boundaries: list[Size] = []
    inner = 1
    for run in reversed(found[1:]):
        inner = inner * run.numel
        if run.apart:
            boundaries.append(inner)
    if any(isinstance(extent, Rest) for extent in wanted):
        return False
    if len(boundaries) > len(cuts):
        return True
    return any(all(facts.equal(cut, boundary) is NO for cut in cuts) for boundary in boundaries)


def _cut(found: list[Run], wanted: list[Size | Rest], facts: Facts) -> tuple[Truth, list[Dim]]:
    """Cut the wanted extents from the runs, innermost first."""
    dims: list[Dim] = []
    for run in reversed(found):
        left = run.numel
        stride = run.stride
        while facts.is_one(left) is not YES:
            if not wanted:
                return MAYBE, []
            extent = wanted.pop()
            size = extent.numel if isinstance(extent, Rest) else extent
            remaining = _take(left, size, facts)
            if not isinstance(remaining, tuple):  # a rest may be cut anywhere
                return MAYBE if isinstance(extent, Rest) else remaining, []
            dims.append(Dim(size, stride, extent if isinstance(extent, Rest) else None))
            left = remaining[0]
            stride = None if stride is None else stride * size
        while wanted and wanted[-1] == 1:  # torch counts dimensions of size 1 to the run inside them
            wanted.pop()
            dims.append(Dim(1, stride))
    while wanted:
        extent = wanted.pop()
        size = extent.numel if isinstance(extent, Rest) else extent
        if facts.is_one(size) is NO:
            return MAYBE, []
        dims.append(Dim(size, 1, extent if isinstance(extent, Rest) else None))
    return YES, list(reversed(dims))


def _take(left: Size, size: Size, facts: Facts) -> tuple[Size] | Truth:
    """What is left of a run once a dimension of this size is cut from it, or why that is not so.

    NO: the dimension reaches beyond the run, or does not divide it, so it would merge two runs.
    """
    rest = exact_quotient(facts.normal(left), facts.normal(size))
    if rest is not None:
        return (rest,)
    if isinstance(left, int) and isinstance(size, int):
        return NO
    beyond = exact_quotient(facts.normal(size), facts.normal(left))
    if beyond is not None and facts.above_one(beyond) is YES:
        return NO
    if facts.less(left, size) is YES:
        return NO
    return MAYBE
