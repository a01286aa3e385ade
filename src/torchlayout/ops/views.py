"""Operators whose result is always a view: transposes, permutes, narrowing, expanding."""

from __future__ import annotations

from torchlayout.layouts import Dim, Layout, strided, unknown_strides
from torchlayout.ops.slicing import cut
from torchlayout.ops.table import Args, Transfer, op
from torchlayout.ops.transfers import at_dim, itself, wrapped
from torchlayout.ops.values import Alias, Alternatives, DType, Operand, Outcome, Result, Unknowable, is_unknown
from torchlayout.sizes import MAYBE, NO, YES, Atom, Extent, Facts, Poly, Rest, Size, single_atom
from torchlayout.sizes.polynomial import substitute

VIEW = Alias.VIEW


def view_of(args: Args, layout: Layout, name: str = "self") -> Result:
    """A result in the storage of a parameter."""
    operand = args.operand(name)
    return Result(layout, operand.dtype, YES, operand.numpy, of=name)


def moved(offset: Size | None, by: Size | None, stride: Size | None) -> Size | None:
    """The storage offset `by` elements further along a dimension."""
    if offset is None or by == 0:
        return offset
    return None if by is None or stride is None else offset + by * stride


def real_dim(args: Args, dim: int) -> tuple[Layout, int]:
    """The layout of `self` with this dimension known, and its place; a number has no dimension to name."""
    layout, place = at_dim(args, args.layout(), dim)
    if place < 0:
        raise Unknowable("a tensor without dimensions")
    return layout, place


# ---------------------------------------------------------------- order of dimensions
def swapping(first_name: str, second_name: str) -> Transfer:
    def swapped(args: Args) -> Outcome:
        """sizes and strides of two dimensions swapped"""
        first, second = args.integer(first_name), args.integer(second_name)
        layout = args.layout()
        if layout.rank == 0:
            wrapped(first, 0), wrapped(second, 0)
            return view_of(args, layout)
        layout = args.reaching(layout, first, second)
        dims = list(layout.dims)
        dims[first], dims[second] = dims[second], dims[first]
        return view_of(args, layout.replace(dims))

    return swapped


def permuted(args: Args) -> Outcome:
    """sizes and strides in the given order"""
    order = args.integers("dims") or ()
    layout = args.ranked(rank=len(order))
    order = tuple(wrapped(dim, len(order)) for dim in order)
    if sorted(order) != list(range(len(order))):
        raise Unknowable("not a permutation")
    return view_of(args, layout.replace(layout.dims[dim] for dim in order))


def moved_dims(args: Args) -> Outcome:
    """sizes and strides in another order"""
    source, destination = args.integers("source") or (), args.integers("destination") or ()
    if len(source) != len(destination):
        raise Unknowable("source and destination differ in length")
    layout = args.layout()
    if layout.rank == 0 and all(dim in (0, -1) for dim in (*source, *destination)):
        return view_of(args, layout)
    layout = args.reaching(layout, *source, *destination)
    rank = len(layout.dims)
    places = {wrapped(to, rank): wrapped(of, rank) for of, to in zip(source, destination, strict=True)}
    others = iter([dim for dim in range(rank) if dim not in places.values()])
    return view_of(args, layout.replace(layout.dims[places[i] if i in places else next(others)] for i in range(rank)))


def transposed_matrix(args: Args) -> Outcome:
    """sizes and strides of the two dimensions swapped; fewer dimensions stay"""
    layout = args.layout()
    if layout.rank in (0, 1):
        return view_of(args, layout)
    layout = args.ranked(rank=2)
    return view_of(args, layout.replace(reversed(layout.dims)))


def adjoint(args: Args) -> Outcome:
    """the last two dimensions swapped"""
    layout = args.layout()
    if layout.rank == 0:
        return view_of(args, layout)
    layout = args.reaching(layout, -2)
    *rest, rows, columns = layout.dims
    return view_of(args, layout.replace([*rest, columns, rows]))


# ---------------------------------------------------------------- dimensions of size 1
def unsqueezed(args: Args) -> Outcome:
    """a dimension of size 1 more"""
    dim = args.integer("dim")
    layout = args.layout()
    if dim >= 0:
        layout = args.reaching(layout, dim - 1) if dim else layout
        place = dim
    else:
        layout = args.reaching(layout, dim + 1) if dim < -1 else layout
        place = len(layout.dims) + 1 + dim
    if not 0 <= place <= len(layout.dims):
        raise Unknowable("out of range")
    inner = layout.dims[place] if place < len(layout.dims) else None
    stride = 1 if inner is None else None if inner.stride is None else inner.size * inner.stride
    return view_of(args, layout.replace([*layout.dims[:place], Dim(1, stride), *layout.dims[place:]]))


def squeezed(args: Args) -> Outcome:
    """the dimensions of size 1 removed"""
    layout = args.ranked()
    answers = [args.facts.proven_world.is_one(dim.size) for dim in layout.dims]
    if MAYBE in answers:
        raise Unknowable("a size that may be 1")
    kept = [dim for dim, answer in zip(layout.dims, answers, strict=True) if answer is NO]
    return view_of(args, layout.replace(kept))


def squeezed_at(args: Args) -> Outcome:
    """the given dimensions removed where their size is 1"""
    layout = args.layout()
    places: list[int] = []
    for dim in args.integers("dim") or ():
        layout, place = at_dim(args, layout, dim)
        places.append(place if dim >= 0 or layout.rank is not None else place - len(layout.dims))
    if layout.rank == 0:
        return view_of(args, layout)
    outcomes = [layout]
    for place in sorted((place % len(layout.dims) for place in places), reverse=True):
        dim_size = layout.dims[place].size
        answer = args.facts.proven_world.is_one(dim_size)
        without = [_without(one, place, dim_size) for one in outcomes] if answer is not NO else []
        outcomes = [*without, *(outcomes if answer is not YES else [])]
    results = tuple(view_of(args, one) for one in outcomes)
    return results[0] if len(results) == 1 else Alternatives(results)


def _without(layout: Layout, place: int, size: Size) -> Layout:
    """The layout without a dimension, whose size is then 1 in all that depends on it."""
    atom = single_atom(size)
    dims = [dim for i, dim in enumerate(layout.dims) if i != place]
    if atom is None:
        return layout.replace(dims)
    one: dict[Atom, Size] = {atom: 1}
    return Layout(
        tuple(
            Dim(substitute(d.size, one), None if d.stride is None else substitute(d.stride, one), d.rest) for d in dims
        ),
        None if layout.offset is None else substitute(layout.offset, one),
    )


# ---------------------------------------------------------------- parts
def narrowed(args: Args) -> Outcome:
    """one dimension shorter, its stride kept"""
    layout, place = real_dim(args, args.integer("dim"))
    dim = layout.dims[place]
    start = args["start"]
    if isinstance(start, (int, Poly)):
        low = args.facts.bounds(start)[0]
        start = start if low is not None and low >= 0 else dim.size + start if isinstance(start, int) else None
    else:
        start = None
    dims = [*layout.dims[:place], Dim(args.size("length"), dim.stride), *layout.dims[place + 1 :]]
    return view_of(args, Layout(tuple(dims), moved(layout.offset, start, dim.stride)))


def selected(args: Args) -> Outcome:
    """one dimension removed"""
    layout, place = real_dim(args, args.integer("dim"))
    dim = layout.dims[place]
    at = args["index"]
    facts = args.facts
    if isinstance(at, int):
        inside = facts.less(at, dim.size) if at >= 0 else facts.less(-at - 1, dim.size)
        if inside is NO:
            raise Unknowable("index out of range")
        at = at if at >= 0 else dim.size + at
    elif not isinstance(at, Poly) or facts.bounds(at)[0] is None:
        at = None
    dims = (*layout.dims[:place], *layout.dims[place + 1 :])
    return view_of(args, Layout(dims, moved(layout.offset, at, dim.stride)))


def sliced(args: Args) -> Outcome:
    """one dimension shorter, its stride times the step"""
    layout, place = real_dim(args, args.integer("dim"))
    piece = cut(layout.dims[place], slice(args["start"], args["end"], args["step"]), args.facts)
    dims = (*layout.dims[:place], piece.dim, *layout.dims[place + 1 :])
    return view_of(args, Layout(dims, moved(layout.offset, piece.start, layout.dims[place].stride)))


def diagonal_of(args: Args) -> Outcome:
    """two dimensions replaced by their diagonal, last, with both strides added"""
    offset = args.integer("offset")
    layout = args.reaching(args.layout(), args.integer("dim1"), args.integer("dim2"))
    rank = len(layout.dims)
    places = [place % rank if layout.rank is None else wrapped(place, rank)
              for place in (args.integer("dim1"), args.integer("dim2"))]  # fmt: skip
    if places[0] == places[1]:
        raise Unknowable("the same dimension twice")
    rows, columns = layout.dims[places[0]], layout.dims[places[1]]
    facts = args.facts
    down, right = max(-offset, 0), max(offset, 0)
    length = facts.extreme("min", rows.size - down, columns.size - right)
    length = max(length, 0) if isinstance(length, int) else length
    strides = (rows.stride, columns.stride)
    stride = None if strides[0] is None or strides[1] is None else strides[0] + strides[1]
    start = layout.offset
    if offset and length != 0:
        moves = facts.less(0, length) is YES  # torch does not move the offset of an empty diagonal
        start = moved(moved(start, down, strides[0]), right, strides[1]) if moves else None
    kept = [dim for i, dim in enumerate(layout.dims) if i not in places]
    return view_of(args, Layout((*kept, Dim(length, stride)), start))


def unfolded(args: Args) -> Outcome:
    """windows along one dimension, which share elements where they overlap; a dimension more, last"""
    size, step = args.size("size"), args.size("step")
    layout = args.layout()
    if layout.rank == 0:
        return view_of(args, Layout((Dim(size, 1),), layout.offset))
    layout, place = at_dim(args, layout, args.integer("dimension"))
    dim = layout.dims[place]
    count = args.facts.floor_divide(dim.size - size, step) + 1
    stride = None if dim.stride is None else dim.stride * step
    dims = (*layout.dims[:place], Dim(count, stride), *layout.dims[place + 1 :], Dim(size, dim.stride))
    return view_of(args, Layout(dims, layout.offset))


def as_strided(args: Args) -> Outcome:
    """the sizes and strides given"""
    sizes, strides = args.shape("size"), args.shape("stride")
    if len(sizes) != len(strides) or any(isinstance(extent, Rest) for extent in (*sizes, *strides)):
        raise Unknowable("sizes and strides of unknown number")
    offset = args["storage_offset"]
    offset = args.layout().offset if offset is None else offset if isinstance(offset, (int, Poly)) else None
    known = strided([_size(extent) for extent in sizes], [_size(extent) for extent in strides], offset)
    return view_of(args, known)


def _size(extent: Extent) -> Size:
    assert not isinstance(extent, Rest)
    return extent


# ---------------------------------------------------------------- expanding
def expanded(args: Args, shape: tuple[object, ...], name: str = "self") -> Outcome:
    """sizes of 1 stretched, with stride 0; the others keep theirs"""
    facts = args.facts
    layout = args.layout(name)
    if layout.rank is None or any(isinstance(extent, Rest) for extent in shape):
        return view_of(args, _expanded_somehow(shape, facts), name)
    missing = len(shape) - len(layout.dims)
    if missing < 0:
        raise Unknowable("fewer sizes than dimensions")
    dims = [Dim(_wanted(extent, None, facts, i), 0) for i, extent in enumerate(shape[:missing])]
    for i, (dim, extent) in enumerate(zip(layout.dims, shape[missing:], strict=True)):
        dims.append(_stretched(dim, _wanted(extent, dim.size, facts, missing + i), facts))
    return view_of(args, layout.replace(dims), name)


def _wanted(extent: object, size: Size | None, facts: Facts, place: int) -> Size:
    """The size asked for; -1 keeps the present one."""
    if isinstance(extent, int) and extent == -1:
        if size is None:
            raise Unknowable("-1 for a new dimension")
        return size
    if is_unknown(extent):
        return facts.symbols.fresh(("expand", place))
    assert isinstance(extent, (int, Poly))
    return extent


def _stretched(dim: Dim, size: Size, facts: Facts) -> Dim:
    same = facts.equal(dim.size, size)
    if same is YES:
        return dim
    one = facts.is_one(dim.size)
    if one is YES:
        return Dim(size, 0)
    if one is NO:
        if same is NO:
            raise Unknowable("a size that does not fit")
        return Dim(dim.size if isinstance(dim.size, int) else size, dim.stride)
    return Dim(size, None)


def _expanded_somehow(shape: tuple[object, ...], facts: Facts) -> Layout:
    """Of an unknown rank: only the sizes asked for are known."""
    sizes: list[Extent] = []
    for place, extent in enumerate(shape):
        keeps = is_unknown(extent) or (isinstance(extent, int) and extent == -1)
        sizes.append(facts.symbols.fresh(("expand", place)) if keeps else extent)  # type: ignore[arg-type]
    return unknown_strides(tuple(sizes))


def expand_sizes(args: Args) -> Outcome:
    """sizes of 1 stretched, with stride 0; the others keep theirs"""
    value = args.known("size")
    items = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    return expanded(args, tuple(args.facts.normal(item) if isinstance(item, Poly) else item for item in items))


def expand_like(args: Args) -> Outcome:
    """sizes of 1 stretched to those of another tensor, with stride 0"""
    return expanded(args, args.layout("other").shape)


# ---------------------------------------------------------------- numbers of another kind
PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
WHOLES = {part: whole for whole, part in PARTS.items()}


def as_real(args: Args) -> Outcome:
    """strides doubled; a last dimension of size 2 more"""
    operand, layout = args.operand(), args.layout()
    dims = [Dim(dim.size, None if dim.stride is None else dim.stride * 2, dim.rest) for dim in layout.dims]
    offset = None if layout.offset is None else layout.offset * 2
    dtype = None if operand.dtype is None else DType(PARTS.get(operand.dtype.name, operand.dtype.name))
    return Result(Layout((*dims, Dim(2, 1)), offset), dtype, YES)


def real_part(args: Args) -> Outcome:
    """of a complex tensor: strides doubled; else the tensor itself"""
    operand = args.operand()
    part = _part(operand, args.layout(), 0)
    if operand.dtype is None:
        return Alternatives((itself(args), part))
    return part if operand.dtype.is_complex else itself(args)


def imaginary_part(args: Args) -> Outcome:
    """strides doubled"""
    return _part(args.operand(), args.layout(), 1)


def _part(operand: Operand, layout: Layout, shift: int) -> Result:
    dims = [Dim(dim.size, None if dim.stride is None else dim.stride * 2, dim.rest) for dim in layout.dims]
    offset = None if layout.offset is None else layout.offset * 2 + shift
    dtype = DType(PARTS[operand.dtype.name]) if operand.dtype and operand.dtype.name in PARTS else None
    return Result(Layout(tuple(dims), offset), dtype, YES, operand.numpy)


def alias_of(args: Args) -> Outcome:
    """the same layout"""
    return view_of(args, args.layout())


# fmt: off
op("transpose(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", alias=VIEW, layout=swapping("dim0", "dim1"), example="x.transpose(0, -1)", words="sizes and strides of two dimensions swapped")
op("swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)", alias=VIEW, layout=swapping("axis0", "axis1"), example="x.swapaxes(0, -1)", words="sizes and strides of two dimensions swapped")
op("swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", alias=VIEW, layout=swapping("dim0", "dim1"), example="x.swapdims(1, 0)", words="sizes and strides of two dimensions swapped")
op("permute(Tensor(a) self, int[] dims) -> Tensor(a)", alias=VIEW, layout=permuted, example="x.permute(*reversed(range(x.dim())))")
op("movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)", alias=VIEW, layout=moved_dims, example="x.movedim(0, -1)", spellings=("moveaxis",))
op("movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)", alias=VIEW, layout=moved_dims, example="x.movedim((0, 1), (-1, 0))", spellings=("moveaxis",))
op("t(Tensor(a) self) -> Tensor(a)", alias=VIEW, layout=transposed_matrix, example="x.t()")
op("adjoint(Tensor(a) self) -> Tensor(a)", alias=VIEW, layout=adjoint, example="x.adjoint()", since="1.11")

op("unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", alias=VIEW, layout=unsqueezed, example="x.unsqueeze(-2)")
op("squeeze(Tensor(a) self) -> Tensor(a)", alias=VIEW, layout=squeezed, example="x.squeeze()", unknown="a size may be 1 or not")
op("squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", alias=VIEW, layout=squeezed_at, example="x.squeeze(-1)", unknown="a size may be 1 or not")
op("squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", alias=VIEW, layout=squeezed_at, example="x.squeeze((0, -1))", unknown="a size may be 1 or not", since="2.0")

op("narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)", alias=VIEW, layout=narrowed, example="x.narrow(-1, 1, 2)")
op("narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a)", alias=VIEW, layout=narrowed, example="x.narrow(0, torch.tensor(1), 1)")
op("select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", alias=VIEW, layout=selected, example="x.select(-1, 0)")
op("slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)", alias=VIEW, layout=sliced, example="torch.ops.aten.slice(x, 0, 1)", spellings=("torch.ops.aten.slice",))
op("diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)", alias=VIEW, layout=diagonal_of, example="x.diagonal(1, -1, 0)")
op("diagonal(Tensor(a) self, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)", alias=VIEW, layout=diagonal_of, example="torch.linalg.diagonal(x, offset=-1)", spellings=("torch.linalg.diagonal",), path_only=True)
op("unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)", alias=VIEW, layout=unfolded, example="x.unfold(-1, 2, 1)")
op("as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)", alias=VIEW, layout=as_strided, example="x.as_strided((2, 3), (1, 1))")

op("expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)", alias=VIEW, layout=expand_sizes, example="x[..., :1].expand(*x.shape)")
op("expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", alias=VIEW, layout=expand_like, example="x[:1].expand_as(x)")
op("broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)", alias=VIEW, layout=expand_sizes, example="x[:1].broadcast_to((2, *x.shape))")

op("view_as_real(Tensor(a) self) -> Tensor(a)", alias=VIEW, layout=as_real, example="torch.view_as_real(torch.complex(x, x).as_strided(x.size(), x.stride()))")
op("real(Tensor(a) self) -> Tensor(a)", alias=VIEW, layout=real_part, example="torch.real(x * 1j)")
op("imag(Tensor(a) self) -> Tensor(a)", alias=VIEW, layout=imaginary_part, example="torch.imag(x * 1j)")
op("detach(Tensor(a) self) -> Tensor(a)", alias=VIEW, layout=alias_of, example="x.detach()")
op("as_subclass(Tensor(a) self, Any cls) -> Tensor(a)", alias=VIEW, layout=alias_of, example="x.as_subclass(torch.Tensor)")
op("alias(Tensor(a) self) -> Tensor(a)", alias=VIEW, layout=alias_of, example="torch.ops.aten.alias(x)", spellings=("torch.ops.aten.alias",))
# fmt: on
