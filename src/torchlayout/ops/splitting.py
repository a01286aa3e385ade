"""One tensor into several views: chunk, split, unbind and their kin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchlayout.layouts import Dim, Layout
from torchlayout.ops.slicing import cut
from torchlayout.ops.table import Args, Transfer, op
from torchlayout.ops.transfers import at_dim
from torchlayout.ops.values import Alias, Alternatives, Many, Operand, Outcome, Result, Unknowable, is_unknown
from torchlayout.ops.views import moved, real_dim, view_of
from torchlayout.sizes import NO, Poly, Size, exact_quotient

VIEW = Alias.VIEW
MAX_PIECES = 256
"""Pieces that are told apart; of more of them, each may be any."""


def piece(args: Args, layout: Layout, place: int, start: Size | None, size: Size) -> Result:
    """`size` elements of one dimension, from `start` on."""
    dim = layout.dims[place]
    dims = (*layout.dims[:place], Dim(args.facts.normal(size), dim.stride), *layout.dims[place + 1 :])
    return view_of(args, Layout(dims, moved(layout.offset, start, dim.stride)))


def repeated(args: Args, layout: Layout, place: int, *runs: tuple[Size, int]) -> Outcome:
    """Runs of pieces of one size: each run's size, and how many there are."""
    runs = tuple((size, count) for size, count in runs if count > 0)
    if sum(count for _, count in runs) <= MAX_PIECES:
        return pieces(args, layout, place, [size for size, count in runs for _ in range(count)])
    kinds = tuple(piece(args, layout, place, None, size) for size, _ in runs)
    return Many(kinds[0] if len(kinds) == 1 else Alternatives(kinds))


def pieces(args: Args, layout: Layout, place: int, sizes: Sequence[Size]) -> Outcome:
    """One piece after another."""
    results = []
    start: Size = 0
    for size in sizes:
        results.append(piece(args, layout, place, start, size))
        start = start + size
    return tuple(results)


def of_equal_size(args: Args, layout: Layout, place: int, size: Size) -> Outcome:
    """Pieces of one size, the last one maybe shorter."""
    whole = layout.dims[place].size
    if isinstance(whole, int) and isinstance(size, int):
        if size == 0:
            if whole:
                raise Unknowable("pieces of size 0")
            return pieces(args, layout, place, [0])
        full, rest = divmod(whole, size)
        return repeated(args, layout, place, (size, full), (rest, 1 if rest or not full else 0))
    count = exact_quotient(whole, size)
    if isinstance(count, int):
        return repeated(args, layout, place, (size, count))
    full_piece = piece(args, layout, place, None, size)
    if args.facts.assumed:
        return Many(full_piece)
    return Many(Alternatives((full_piece, piece(args, layout, place, None, args.facts.symbols.fresh("last")))))


def chunked(args: Args) -> Outcome:
    """views of equal size along one dimension, the last one maybe smaller"""
    chunks = args.integer("chunks")
    layout, place = real_dim(args, args.integer("dim"))
    if chunks < 1:
        raise Unknowable("no chunks")
    facts = args.facts
    whole = layout.dims[place].size
    exact = exact_quotient(whole, chunks)
    if isinstance(whole, int):
        size = -(-whole // chunks)
        if size == 0:
            return repeated(args, layout, place, (0, chunks))
        return of_equal_size(args, layout, place, size)
    if exact is not None:
        return repeated(args, layout, place, (exact, chunks))
    if facts.assumed:
        return repeated(args, layout, place, (facts.floor_divide(whole, chunks), chunks))
    size_up = facts.floor_divide(whole + (chunks - 1), chunks)
    return repeated(args, layout, place, (size_up, chunks - 1), (whole - size_up * (chunks - 1), 1))


def split_evenly(args: Args) -> Outcome:
    """views of the size given along one dimension, the last one maybe smaller"""
    layout, place = real_dim(args, args.integer("dim"))
    if is_unknown(args["split_size"]):
        return Many(piece(args, layout, place, None, args.facts.symbols.fresh("split")))
    return of_equal_size(args, layout, place, args.size("split_size"))


def split_by_sizes(args: Args) -> Outcome:
    """views of the sizes given along one dimension"""
    layout, place = real_dim(args, args.integer("dim"))
    facts = args.facts
    if is_unknown(args["split_size"]):
        return Many(piece(args, layout, place, None, facts.symbols.fresh("split")))
    sizes = _sizes(args, args.known("split_size"))
    total = sum(sizes)
    if facts.equal(total, layout.dims[place].size) is NO:
        raise Unknowable("the sizes do not add up")
    facts.learn_equal(layout.dims[place].size, total)
    return pieces(args, layout, place, sizes)


def _sizes(args: Args, value: Any) -> list[Size]:
    if not isinstance(value, (tuple, list)):
        raise Unknowable("no list of sizes")
    sizes: list[Size] = []
    for place, item in enumerate(value):
        if is_unknown(item):
            sizes.append(args.facts.symbols.fresh(("split", place)))
        elif isinstance(item, bool) or not isinstance(item, (int, Poly)):
            raise Unknowable("a size that is no int")
        else:
            sizes.append(args.facts.normal(item))
    return sizes


def parted(args: Args, layout: Layout, place: int, where: Any) -> Outcome:
    """`tensor_split`: into a number of parts as equal as possible, or at indices."""
    facts = args.facts
    dim = layout.dims[place]
    if isinstance(where, Operand) or is_unknown(where):
        return Many(piece(args, layout, place, None, facts.symbols.fresh("part")))
    if isinstance(where, (tuple, list)):
        ends = [*where, None]
        cuts = [cut(dim, slice(a, b), facts, place=i) for i, (a, b) in enumerate(zip([0, *where], ends, strict=True))]
        return tuple(piece(args, layout, place, one.start, one.dim.size) for one in cuts)
    if not isinstance(where, int) or where < 1:
        raise Unknowable("no number of parts")
    if isinstance(dim.size, int):
        least, more = divmod(dim.size, where)
        return repeated(args, layout, place, (least + 1, more), (least, where - more))
    exact = exact_quotient(dim.size, where)
    if exact is not None:
        return repeated(args, layout, place, (exact, where))
    if where > MAX_PIECES:
        return Many(piece(args, layout, place, None, facts.symbols.fresh("part")))
    return tuple(piece(args, layout, place, None, facts.symbols.fresh(("part", i))) for i in range(where))


def split_somewhere(args: Args) -> Outcome:
    """views along one dimension, of sizes as equal as possible or between the indices given"""
    layout, place = real_dim(args, args.integer("dim"))
    where = args["indices_or_sections"]
    return parted(args, layout, place, where)


def splitting_at(dim_of_rank: dict[int, int], name: str) -> Transfer:
    def split_along(args: Args) -> Outcome:
        """views along one dimension, of equal sizes or between the indices given"""
        layout = args.layout()
        dim = dim_of_rank.get(layout.rank if layout.rank is not None else 9, dim_of_rank[9])
        layout, place = at_dim(args, layout, dim)
        if place < 0 or len(layout.dims) <= dim:
            raise Unknowable("too few dimensions")
        where = args["indices"]
        if isinstance(where, int) and isinstance(size := layout.dims[place].size, int) and (not where or size % where):
            raise Unknowable("parts that are not equal")
        return parted(args, layout, place, where)

    split_along.__name__ = name
    return split_along


def unbound(args: Args) -> Outcome:
    """one view for each index of a dimension, which is removed"""
    layout, place = real_dim(args, args.integer("dim"))
    dim = layout.dims[place]
    rest = (*layout.dims[:place], *layout.dims[place + 1 :])
    if isinstance(dim.size, int) and dim.size <= MAX_PIECES:
        return tuple(view_of(args, Layout(rest, moved(layout.offset, i, dim.stride))) for i in range(dim.size))
    return Many(view_of(args, Layout(rest, None)))


# fmt: off
op("chunk(Tensor(a) self, int chunks, int dim=0) -> Tensor(a)[]", alias=VIEW, layout=chunked, example="x.chunk(2, -1)")
op("split.Tensor(Tensor(a) self, SymInt split_size, int dim=0) -> Tensor(a)[]", alias=VIEW, layout=split_evenly, example="x.split(2, -1)", unknown="how often an unknown size goes into another")
op("split.sizes(Tensor(a) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]", alias=VIEW, layout=split_by_sizes, example="x.split([1, x.size(0) - 1])")
op("split_with_sizes(Tensor(a) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]", alias=VIEW, layout=split_by_sizes, example="x.split_with_sizes([1, x.size(-1) - 1], -1)")
op("unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", alias=VIEW, layout=chunked, example="x.unsafe_chunk(2, -1)")
op("unsafe_split_with_sizes(Tensor self, SymInt[] split_size, int dim=0) -> Tensor[]", alias=VIEW, layout=split_by_sizes, example="x.unsafe_split_with_sizes([1, x.size(-1) - 1], -1)")
op("unsafe_split(Tensor self, SymInt split_size, int dim=0) -> Tensor[]", alias=VIEW, layout=split_evenly, example="x.unsafe_split(2, -1)", unknown="how often an unknown size goes into another")
op("tensor_split(Tensor(a) self, Any indices_or_sections, int dim=0) -> Tensor(a)[]", alias=VIEW, layout=split_somewhere, example="x.tensor_split(4, -1)", unknown="indices in a tensor")
op("hsplit(Tensor(a) self, Any indices) -> Tensor(a)[]", alias=VIEW, layout=splitting_at({1: 0, 9: 1}, "hsplit"), example="x.hsplit([1])")
op("vsplit(Tensor(a) self, Any indices) -> Tensor(a)[]", alias=VIEW, layout=splitting_at({9: 0}, "vsplit"), example="x.vsplit([1])")
op("dsplit(Tensor(a) self, Any indices) -> Tensor(a)[]", alias=VIEW, layout=splitting_at({9: 2}, "dsplit"), example="x.dsplit([1])")
op("unbind.int(Tensor(a) self, int dim=0) -> Tensor(a)[]", alias=VIEW, layout=unbound, example="x.unbind(-1)")
# fmt: on
