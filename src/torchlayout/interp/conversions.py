"""`module.to(memory_format=torch.channels_last)`, which turns the parameters and buffers of a module in place.

Of those with four or five dimensions each becomes what `tensor.to(memory_format=...)` makes of it (`Module.to` and
`Module._apply` in torch/nn/modules/module.py): a parameter stays the same object, a buffer is another one afterwards.
Every name of the module, and all that is in it, is turned with it.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from torchlayout.interp.definitions import is_module_class
from torchlayout.interp.forgetting import forget_items
from torchlayout.interp.frame import Frame
from torchlayout.interp.module_formats import WITH_LAYOUT, set_format
from torchlayout.interp.operate import replace_everywhere
from torchlayout.interp.state import State, join_states, with_operands
from torchlayout.interp.tensors import to_argument
from torchlayout.interp.values import (
    Container,
    Dictionary,
    Held,
    Instance,
    Many,
    Module,
    Opaque,
    Sequence,
    Tensor,
    Union_,
    Value,
)
from torchlayout.layouts import settle, unknown_strides
from torchlayout.ops import Alternatives, Operand, Result, find_method, select
from torchlayout.ops.modules import RANKS_CONVERTED
from torchlayout.ops.values import MemoryFormat
from torchlayout.program.nodes import Span
from torchlayout.sizes import Facts

if TYPE_CHECKING:
    from torchlayout.interp.calls import Arguments


def turn(value: Value, arguments: Arguments, span: Span, st: State, fr: Frame) -> None:
    """What `value.to(...)` with these arguments does to a module."""
    given = arguments.kwargs.get("memory_format")
    if given is None and not arguments.open_kwargs:
        return
    form = None if isinstance(given, Union_) else to_argument(given, st)
    if form is not MemoryFormat.PRESERVE:
        Turning(form if isinstance(form, MemoryFormat) else None, span, st, fr).all_of(value)


class Turning:
    """One call of `to`; `form` is None where it is not known, and whether there is any."""

    def __init__(self, form: MemoryFormat | None, span: Span, st: State, fr: Frame) -> None:
        self.form = form
        self.span = span
        self.st = st
        self.fr = fr
        self.seen: set[Hashable] = set()

    def all_of(self, value: Value, sure: bool = True) -> None:
        """Turn a module and those in it. Not `sure`: it may be another one that is turned."""
        if isinstance(value, Union_):
            self._one_of(value, sure)
        elif isinstance(value, (Module, Container, Instance)) and value.ref not in self.seen:
            self.seen.add(value.ref)
            sure = sure and not value.several
            if isinstance(value, Module):
                self._torch_module(value, sure)
            elif isinstance(value, Container):
                self._container(value, sure)
            else:
                self._instance(value, sure)

    def _one_of(self, value: Union_, sure: bool) -> None:
        """Whichever of several modules it is, that one is turned."""
        found = [choice for choice in value.choices if isinstance(choice, (Module, Container, Instance))]
        if len(found) == 1:
            self.all_of(found[0], sure)
            return
        whole, joined = self.st, None
        for place, choice in enumerate(found):
            self.st = whole.copy()
            self.all_of(choice, sure)
            joined = join_states(joined, self.st, (self.fr.place(self.span), "turned", place))
        if joined is not None:
            whole.become(joined)
        self.st = whole

    def _torch_module(self, module: Module, sure: bool) -> None:
        from torchlayout.interp.attributes import get_attribute

        held = self.st.heap.get(module.ref)
        own = held.items if isinstance(held, Dictionary) else {}
        set_format(module, self.form if sure else None, self.st)
        for name in WITH_LAYOUT:
            value = own.get(name)
            if isinstance(value, Tensor):
                self._attribute(module.ref, name, value, sure)
            elif value is None:
                made = get_attribute(module, name, self.span, self.st, self.fr)
                if isinstance(made, Tensor):  # names that it got before
                    replace_everywhere(self.st, (module.ref, name), made)

    def _container(self, container: Container, sure: bool) -> None:
        inner = self.st.load(container.items)
        if container.kind.startswith("parameter"):
            if isinstance(container.items, Held):
                place = (self.fr.place(self.span), "turned")
                forget_items(container.items, Opaque((place, container.ref), kind="tensor"), place, self.st)
        elif isinstance(inner, Sequence):
            for item in inner.items:
                self.all_of(item, sure)
        elif isinstance(inner, Many):
            self.all_of(inner.item, sure)
        elif isinstance(inner, Dictionary):
            for name, item in inner.items.items():
                self.all_of(item, sure and name not in inner.maybe)
            self.all_of(inner.rest, sure)

    def _instance(self, instance: Instance, sure: bool) -> None:
        attributes = self.st.heap.get(instance.ref)
        if not isinstance(attributes, Dictionary):
            return
        plain = is_module_class(instance.cls) and instance.cls.lookup("_apply") is None
        for name, item in attributes.items.items():
            certain = sure and plain and name not in attributes.maybe
            if isinstance(item, Tensor) and item.parameter and not item.numpy:
                self._attribute(instance.ref, name, item, certain)
            else:
                self.all_of(item, certain)

    # ------------------------------------------------------------ tensors
    def _attribute(self, owner: Hashable, name: str, tensor: Tensor, sure: bool) -> None:
        """A parameter, a buffer or, for all that is known, a plain tensor that a module holds."""
        ident = tensor.ident
        parameter = isinstance(ident, tuple) and len(ident) == 2 and ident[1] == "parameter"
        proven, assumed = self.st.facts.proven_world, self.st.facts.assumed_world
        turned = with_operands(
            tensor,
            self._operands(tensor.proven, proven, sure and parameter),
            self._operands(tensor.assumed, assumed, sure and parameter),
        )
        if parameter:
            replace_everywhere(self.st, ident, turned)
        held = self.st.heap.get(owner)
        if isinstance(held, Dictionary) and name in held.items:
            items = {**held.items, name: turned}
            self.st.heap[owner] = Dictionary(items, held.rest, held.maybe)

    def _operands(self, operands: tuple[Operand, ...], facts: Facts, sure: bool) -> tuple[Operand, ...]:
        found = [made for operand in operands for made in self._operand(operand, facts, sure)]
        return tuple(dict.fromkeys(found))

    def _operand(self, operand: Operand, facts: Facts, sure: bool) -> list[Operand]:
        layout = settle(operand.layout, facts)
        if layout.rank is not None and layout.rank not in RANKS_CONVERTED:
            return [operand]
        outcome: Any = None
        found = select(find_method("to"), [operand], {"memory_format": self.form})
        if sure and self.form is not None and layout.rank is not None and found is not None:
            row, bound = found
            outcome = row.apply(bound, facts)
        outcomes = outcome.outcomes if isinstance(outcome, Alternatives) else (outcome,)
        layouts = [one.layout for one in outcomes if isinstance(one, Result)]
        if len(layouts) != len(outcomes):
            layouts = [unknown_strides(layout.shape)]
        return [Operand(made, operand.dtype, False, operand.weak, operand.device) for made in layouts]
