"""Reading attributes of values."""

from __future__ import annotations

from torchlayout.interp import record, shapes
from torchlayout.interp.conditions import forget_attribute
from torchlayout.interp.definitions import is_autograd_function, member
from torchlayout.interp.forgetting import forget
from torchlayout.interp.frame import Frame
from torchlayout.interp.gathering import Maker
from torchlayout.interp.joins import join, join_all
from torchlayout.interp.module_formats import configs_of, extended_module, is_changed, lose_format
from torchlayout.interp.module_state import may_be_turned, vague
from torchlayout.interp.operate import read_attribute
from torchlayout.interp.state import State, join_states
from torchlayout.interp.stores import written_somewhere
from torchlayout.interp.tensors import as_tensor
from torchlayout.interp.values import (
    Bound,
    BoundFunction,
    Class,
    Dictionary,
    Function,
    Instance,
    Module,
    Opaque,
    Path,
    Sequence,
    Super,
    Tensor,
    Union_,
    Value,
)
from torchlayout.layouts import Layout, contiguous, is_dense, unknown_strides
from torchlayout.ops import Alias, Alternatives, DType, find_method
from torchlayout.ops.values import is_unknown
from torchlayout.program.nodes import Span
from torchlayout.sizes import NO, YES, Facts
from torchlayout.structs import replace

VIEW_ATTRIBUTES = frozenset({"T", "mT", "H", "mH", "data", "real", "imag"})
QUIET_ATTRIBUTES = frozenset({"dtype", "device", "requires_grad", "is_cuda", "layout", "grad_fn", "is_leaf", "name"})


def get_attribute(value: Value, name: str, span: Span, st: State, fr: Frame) -> Value:
    """`value.name`."""
    if isinstance(value, Tensor):
        return _of_tensor(value, name, span, st, fr)
    if isinstance(value, Path):
        return Path(f"{value.path}.{name}")
    if isinstance(value, Opaque):
        return _of_opaque(value, name, span, st, fr)
    if isinstance(value, Instance):
        return of_instance(value, name, span, st, fr)
    if isinstance(value, Module):
        return _of_module(value, name, span, st, fr)
    if isinstance(value, Union_):
        options = [get_attribute(choice, name, span, st, fr) for choice in value.choices if choice is not None]
        return join_all(options, (fr.place(span), name))
    if isinstance(value, Sequence) and name in value.names:
        return value.items[value.names.index(name)]
    if isinstance(value, Class):
        found = member(value, name, fr.run)
        if isinstance(found, Function):
            return BoundFunction(found, value) if found.kind == "class" else found
        if found is None and name == "apply" and is_autograd_function(value):
            return Bound(value, name, span)
        return Opaque((fr.place(span), name)) if found is None else _unless_written(found, value, name)
    if isinstance(value, Super):
        return _of_super(value, name, span, st, fr)
    return Bound(value, name, span)


def _of_tensor(value: Tensor, name: str, span: Span, st: State, fr: Frame) -> Value:
    if name == "shape":
        record.use(fr, [value], "read", "shape", None, span)
        shape = shapes.shape_of(value, st.facts, value.ident, fr.run.proving)
        return Opaque((value.ident, "shape")) if shape is None else shapes.as_sequence(shape)
    if name in QUIET_ATTRIBUTES:
        record.use(fr, [value], "read", name, None, span)
        dtype = value.assumed[0].dtype
        if name == "dtype" and isinstance(dtype, DType) and all(o.dtype == dtype for o in value.assumed):
            return dtype
        return Opaque((value.ident, name), kind="bool" if name.startswith("is_") else None)
    if name == "grad":
        return _gradient(value, span, st, fr)
    if find_method(name, value.numpy) and name not in VIEW_ATTRIBUTES:
        return Bound(value, name, span)
    found = read_attribute(fr, st, value, name, span)
    if found is None and name in VIEW_ATTRIBUTES:
        return Opaque((fr.place(span), name), None, True, value.origin, "tensor")
    return Bound(value, name, span) if found is None else found


def _gradient(value: Tensor, span: Span, st: State, fr: Frame) -> Value:
    """`p.grad`: None, or of the shape of p. Nothing is proven of its strides, which anybody may have set."""
    if ("grad", value.ident) in st.heap:  # set by hand, at least on some path
        return Union_((None, Opaque((fr.place(span), "grad"), kind="tensor")))
    facts = st.facts.assumed_world
    proven = [replace(operand, layout=unknown_strides(operand.layout.shape)) for operand in value.proven]
    assumed = [
        replace(operand, layout=layout)
        for operand in value.assumed
        for layout in _accumulated(operand.layout, value.parameter, facts)
    ]
    gradient = Tensor(
        tuple(dict.fromkeys(proven)), tuple(dict.fromkeys(assumed)), (value.ident, "grad"),
        frozenset([(value.ident, "grad")]), value.origin, frozenset([fr.site(span)]), True,
    )  # fmt: skip
    return Union_((None, gradient))


def _accumulated(layout: Layout, leaf: bool, facts: Facts) -> list[Layout]:
    """How autograd lays out a gradient: that of a leaf as the leaf is if that is dense, any other packed."""
    packed = contiguous(layout.shape)
    dense = is_dense(layout, facts)
    kept = Layout(layout.dims) if dense is YES else packed if dense is NO else unknown_strides(layout.shape)
    return [kept] if leaf else [kept, packed]


def _of_opaque(value: Opaque, name: str, span: Span, st: State, fr: Frame) -> Value:
    if name in ("shape", "mT", "mH") or (name == "T" and value.kind is None and not value.weak):
        tensor = as_tensor(value, st.facts)
        if tensor is not None:
            return _of_tensor(tensor, name, span, st, fr)
    if value.kind in ("tensor", "ndarray"):
        tensor = as_tensor(value, st.facts)
        if tensor is not None:
            return _of_tensor(tensor, name, span, st, fr)
    return Opaque((value.key, name), f"{value.name}.{name}" if value.name else None, True, value.origin)


def of_instance(value: Instance, name: str, span: Span, st: State, fr: Frame) -> Value:
    """An attribute of an object of a linted class: set on the object, defined by the class, or unknown."""
    attributes = st.heap.get(value.ref)
    own: Value = None
    if isinstance(attributes, Dictionary) and name in attributes.items:
        own = attributes.items[name]
        if name not in attributes.maybe:
            return own
    found = _of_class(value, name, span, st, fr)
    if isinstance(attributes, Dictionary) and name in attributes.items:
        return own if _is_made_up(found) else join(own, found, (fr.place(span), name))
    return found


def _is_made_up(value: Value) -> bool:
    """Whether nothing is known of an attribute: reading it there would raise."""
    return isinstance(value, Opaque)


def _of_class(value: Instance, name: str, span: Span, st: State, fr: Frame) -> Value:
    """What an object has by its class."""
    found = member(value.cls, name, fr.run)
    if found is None and any(name in cls.members for cls in value.cls.lineage()):
        return None
    if isinstance(found, Function):
        if found.kind == "static":
            return found
        if found.kind == "property":
            from torchlayout.interp.calls import Arguments, call_linted

            return call_linted(found, Arguments([value], {}), span, st, fr)
        return BoundFunction(found, value.cls if found.kind == "class" else value)
    if found is not None:
        return _unless_written(found, value.cls, name)
    module = extended_module(value, st)
    if module is not None and not is_changed(value.cls, name):
        inherited = _of_module(module, name, span, st, fr)
        if not isinstance(inherited, Bound):
            return inherited
    path = value.path or "self"
    if name == "__dict__":  # by which any attribute may be set
        forget([value], st, fr, span, everything=True)
    if name == "training":
        return Opaque((value.ref, name), f"{path}.training", True, None, "bool")
    return Opaque((value.ref, name), f"{path}.{name}")


def _unless_written(found: Value, cls: Class, name: str) -> Value:
    """What a class says of an attribute that is no method, and whatever else the file sets it to."""
    if any(name in written_somewhere(part.unit) for part in cls.lineage()):
        return join(found, Opaque((cls.name, name, "written"), name), (cls.name, name))
    return found


def _of_module(value: Module, name: str, span: Span, st: State, fr: Frame) -> Value:
    """A parameter or configured value of a torch module."""
    attributes = st.heap.get(value.ref)
    if isinstance(attributes, Dictionary) and name in attributes.items:
        own = attributes.items[name]
        return join(own, Opaque((value.ref, name)), (fr.place(span), name)) if name in attributes.maybe else own
    if may_be_turned(name, fr.unit) or may_be_turned(name, fr.run.unit):
        return Opaque((fr.place(span), name), strided=True)
    st.facts.symbols.place = (value.ref, name)
    configs = configs_of(value, st)
    proven = [value.row.attribute(config, name, st.facts.proven_world) for config in configs]
    assumed = [value.row.attribute(config, name, st.facts.assumed_world) for config in configs]
    if is_unknown(assumed[0]):
        return Bound(value, name, span)
    if isinstance(assumed[0], Alternatives):
        return Opaque((value.ref, name))  # a parameter, or None
    maker = Maker(st.facts, (value.ref, name), fr.site(span), {}, Alias.VIEW, name)
    made = maker.value(proven, [(outcome, False) for outcome in assumed], False, ())
    if isinstance(made, Tensor):
        return replace(vague(made, st.facts.proven_world), ident=(value.ref, name), parameter=True)
    return made


def _of_super(value: Super, name: str, span: Span, st: State, fr: Frame) -> Value:
    lineage = value.receiver.cls.lineage() if isinstance(value.receiver, Instance) else value.owner.lineage()
    after = lineage[lineage.index(value.owner) + 1 :] if value.owner in lineage else []
    for cls in after:
        if name in cls.members:
            found = member(cls, name, fr.run)
            if isinstance(found, Function) and found.kind != "static":
                return BoundFunction(found, value.receiver)
            return found
    return Opaque((fr.place(span), "super", name), None)


def set_attribute(value: Value, name: str, new: Value, span: Span, st: State, fr: Frame) -> None:
    """`value.name = new`."""
    record.use(fr, st.tensors_in(new), "stored", name, None, span)
    forget_attribute(name, st)
    if isinstance(value, Opaque):  # whose methods may change what it holds
        forget([new], st, fr, span)
    if isinstance(value, Instance) and (name == "__dict__" or _is_set_by_code(value.cls, name, fr)):
        forget([new], st, fr, span)
        forget([value], st, fr, span, everything=True)
        return
    if isinstance(value, (Instance, Module)):
        attributes = st.heap.get(value.ref)
        before = attributes if isinstance(attributes, Dictionary) else Dictionary({})
        st.heap[value.ref] = before.put(name, _named(new, value, name))
    elif isinstance(value, Union_):
        _set_on_one_of(value, name, new, span, st, fr)
    elif name == "grad" and isinstance(value, Tensor):
        st.heap["grad", value.ident] = new
    elif name == "data" and (isinstance(value, Tensor) or _is_used_as_tensor(value, new, st)):
        from torchlayout.interp.operate import replace_everywhere

        tensor = as_tensor(new, st.facts) or as_tensor(Opaque((fr.place(span), "data")), st.facts)
        ident = value.ident if isinstance(value, Tensor) else value.key
        if tensor is not None:
            replace_everywhere(st, ident, replace(tensor, ident=ident))
        lose_format(ident, st)


def _is_set_by_code(cls: Class, name: str, fr: Frame) -> bool:
    """Whether setting an attribute runs code of the class: a property's setter, or `__setattr__`."""
    for part in cls.lineage():
        if "__setattr__" in part.members:
            return True
        if name in part.members:
            found = member(cls, name, fr.run)
            return isinstance(found, Function) and (found.kind == "property" or found.decorated)
    return False


def _set_on_one_of(value: Union_, name: str, new: Value, span: Span, st: State, fr: Frame) -> None:
    """Set an attribute on whichever of several objects it is."""
    found = [choice for choice in value.choices if choice is not None]
    if len(found) == 1:
        set_attribute(found[0], name, new, span, st, fr)
        return
    states: State | None = None
    for place, choice in enumerate(found):
        inner = st.copy()
        set_attribute(choice, name, new, span, inner, fr)
        states = join_states(states, inner, (fr.place(span), name, place))
    if states is not None:
        st.become(states)


def _is_used_as_tensor(value: Value, new: Value, st: State) -> bool:
    """Whether something unknown is a tensor: it gets one for its data, or has been used as one."""
    return isinstance(value, Opaque) and (isinstance(new, Tensor) or st.facts.symbols.knows_rest(value.key))


def _named(new: Value, owner: Instance | Module, name: str) -> Value:
    """Objects reached through an attribute are called by it."""
    if isinstance(new, Instance) and new.path is None:
        path = owner.path if isinstance(owner, Instance) and owner.path else "self"
        return Instance(new.cls, new.ref, f"{path}.{name}")
    if isinstance(new, Opaque) and new.name is None:
        path = owner.path if isinstance(owner, Instance) and owner.path else "self"
        return replace(new, name=f"{path}.{name}")
    return new
