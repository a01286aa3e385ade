"""What a loop changes: names it assigns or may write to, and whether an expression stays the same in it."""

from __future__ import annotations

from collections.abc import Iterator

from torchlayout.interp.frame import Frame
from torchlayout.interp.state import State
from torchlayout.interp.tensors import as_tensor
from torchlayout.interp.values import Dictionary, Function, Instance, Opaque, Tensor, Value
from torchlayout.program import nodes
from torchlayout.structs import struct

HARMLESS_METHODS = frozenset(
    "append extend items keys values get size dim view reshape transpose permute contiguous clone detach t sum mean "
    "matmul bmm mm softmax unsqueeze squeeze to float split chunk".split()
)


def walk(node: object) -> Iterator[object]:
    """All nodes below, itself first; bodies of nested functions too."""
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, tuple) and not hasattr(current, "_fields"):
            stack.extend(current)
        elif isinstance(current, tuple):
            yield current
            stack.extend(current)
        elif hasattr(current, "__struct_fields__"):
            yield current
            stack.extend([getattr(current, name) for name in current.__struct_fields__ if name != "span"])


@struct(frozen=True, slots=True)
class Changes:
    """What statements do to dotted names. `self.method()` stands for what that method does, `name()` for what a
    function does; "*" is among the written where something unknown may write to any parameter (an optimizer's step)."""

    rebound: frozenset[str]
    """Names that are assigned or deleted."""
    written: frozenset[str]
    """Names whose memory may be written to in place."""

    def any_of(self, name: str) -> bool:
        """Whether the name may stand for something else afterwards."""
        return _meets(name, self.rebound) or _meets(name, self.written)


def changes(body: tuple[object, ...]) -> Changes:
    """What statements and expressions change, bodies of nested functions too."""
    rebound: set[str] = set()
    written: set[str] = set()
    for node in walk(body):
        if isinstance(node, nodes.Call):
            written.update(_written_by(node))
        else:
            for target in _assigned_by(node):
                for name, into in _targets(target):
                    (written if into or isinstance(node, nodes.AugAssign) else rebound).add(name)
    return Changes(frozenset(rebound), frozenset(written))


def _assigned_by(node: object) -> Iterator[nodes.Expr]:
    if isinstance(node, (nodes.Assign, nodes.Delete)):
        yield from node.targets
    elif isinstance(node, (nodes.AugAssign, nodes.For, nodes.Walrus, nodes.Clause)):
        yield node.target
    elif isinstance(node, nodes.With):
        yield from (bound for _, bound in node.items if bound is not None)


def _targets(target: nodes.Expr, into: bool = False) -> Iterator[tuple[str, bool]]:
    """The names that a target reaches, and whether it writes into what they stand for (`x[0] = v`)."""
    if isinstance(target, nodes.Sequence):
        for item in target.items:
            yield from _targets(item, into)
    elif isinstance(target, nodes.Starred):
        yield from _targets(target.value, into)
    elif isinstance(target, nodes.Subscript):
        yield from _targets(target.value, True)
    else:
        name = dotted(target)
        if name:
            yield name, into


def _written_by(call: nodes.Call) -> Iterator[str]:
    """What a call may write to: the receiver of an in-place method, arguments of functions that are not known."""
    func = call.func
    if isinstance(func, nodes.Attribute):
        receiver = root(func.value)
        if func.attr.endswith("_") and not func.attr.endswith("__"):
            name = root_path(func.value)
            if name:
                yield name
        elif func.attr in ("step", "load_state_dict", "backward"):
            yield "*"
        elif isinstance(func.value, nodes.Name) and func.value.id == "self":
            yield f"self.{func.attr}()"
        elif receiver is not None and func.attr not in HARMLESS_METHODS and not receiver[:1].isupper():
            for arg in call.args:
                if arg.keyword == "out" and (name := root_path(arg.value)):
                    yield name
    elif isinstance(func, nodes.Name):
        yield f"{func.id}()"
        for arg in call.args if func.id.endswith("_") else ():
            if name := root_path(arg.value):
                yield name


def dotted(node: nodes.Expr) -> str | None:
    """`self.conv.weight` as text; None for what is no chain of names."""
    parts: list[str] = []
    while isinstance(node, nodes.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, nodes.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def root(node: nodes.Expr) -> str | None:
    """The name that an expression starts at: `x` of `x.t().view(6)`."""
    while True:
        if isinstance(node, (nodes.Attribute, nodes.Subscript)):
            node = node.value
        elif isinstance(node, nodes.Call):
            node = node.func
        else:
            return node.id if isinstance(node, nodes.Name) else None


def root_path(node: nodes.Expr) -> str | None:
    """The longest chain of plain names that an expression starts at: `self.w` of `self.w.t().add_(1)`."""
    best: nodes.Expr = node
    while True:
        if dotted(best) is not None:
            return dotted(best)
        if isinstance(best, (nodes.Attribute, nodes.Subscript)):
            best = best.value
        elif isinstance(best, nodes.Call):
            best = best.func
        else:
            return None


_VIEWING = frozenset(
    "view reshape transpose permute t T mT contiguous flatten unflatten unsqueeze squeeze detach data float half "
    "double to narrow select chunk split expand movedim swapaxes size dim shape weight bias clone".split()
)
"""Methods that give the same on every turn if their receiver and arguments do."""


def unchanged_in_loop(fr: Frame, st: State, receiver: nodes.Expr, value: Value) -> bool:
    """Whether this expression is the same, unwritten value on every turn of the innermost loop."""
    loop = fr.loop
    if loop is None or fr.branches != loop.branches:
        return False
    if loop.changes is None:
        loop.changes = changes(loop.body)
    changed = _with_methods(loop.changes, fr, st)
    return _fixed(receiver, changed) and not any(_meets(name, changed.written) for name in _aliases(value, fr, st))


def _aliases(value: Value, fr: Frame, st: State) -> Iterator[str]:
    """Names and attributes of the object whose tensors may lie in the memory of this one."""
    if not isinstance(value, Tensor):
        return
    held = st.heap.get(fr.receiver.ref) if isinstance(fr.receiver, Instance) else None
    attributes = held.items if isinstance(held, Dictionary) else {}
    for prefix, names in (("", st.env), ("self.", attributes)):
        for name, other in names.items():
            tensor = as_tensor(other, st.facts)
            if tensor is not None and not value.storages.isdisjoint(tensor.storages):
                yield f"{prefix}{name}"


def _meets(name: str, changed: frozenset[str]) -> bool:
    """Whether a dotted name, a part of it or what it is part of is among the changed ones."""
    if "*" in changed and "." in name:
        return True
    return any(name == other or name.startswith(other + ".") or other.startswith(name + ".") for other in changed)


def _with_methods(done: Changes, fr: Frame, st: State) -> Changes:
    """The changes, with what the object's own methods change in place of their calls.

    A module that the object holds writes only to itself. A method that is not known may write to all of `self`, and
    a function that the caller handed over to any parameter.
    """
    from torchlayout.interp.definitions import member

    rebound, written = set(done.rebound), {name for name in done.written if not name.endswith("()")}
    held = st.heap.get(fr.receiver.ref) if isinstance(fr.receiver, Instance) else None
    called = done.written - written
    if any(isinstance(st.env.get(name[:-2]), Opaque) for name in called):
        written.add("*")
    seen = {name for name in called if name.startswith("self.")}
    pending = list(seen)
    while pending:
        name = pending.pop()[len("self.") : -len("()")]
        method = member(fr.receiver.cls, name, fr.run) if isinstance(fr.receiver, Instance) else None
        if isinstance(method, Function) and isinstance(method.node, nodes.Function):
            inner = changes(method.node.body)
            rebound.update(other for other in inner.rebound if other.startswith("self."))
            mine = {other for other in inner.written if other.startswith("self.") or other == "*"}
            calls = {other for other in mine if other.endswith("()")}  # of methods
            written |= mine - calls
            pending.extend(calls - seen)
            seen |= calls
        elif not (isinstance(held, Dictionary) and name in held.items):
            written.add("self")
    return Changes(frozenset(rebound), frozenset(written))


def _fixed(node: nodes.Expr, changed: Changes) -> bool:
    if isinstance(node, nodes.Const):
        return True
    if isinstance(node, (nodes.Name, nodes.Attribute)):
        name = dotted(node)
        if name is None:
            return isinstance(node, nodes.Attribute) and node.attr in _VIEWING and _fixed(node.value, changed)
        return not changed.any_of(name)
    if isinstance(node, nodes.Call):
        func = node.func
        if not isinstance(func, nodes.Attribute) or func.attr not in _VIEWING:
            return False
        return _fixed(func.value, changed) and all(_fixed(arg.value, changed) for arg in node.args)
    if isinstance(node, nodes.Subscript):
        return _fixed(node.value, changed) and _fixed(node.index, changed)
    if isinstance(node, nodes.Slice):
        return all(part is None or _fixed(part, changed) for part in (node.lower, node.upper, node.step))
    if isinstance(node, nodes.Sequence):
        return all(_fixed(item, changed) for item in node.items)
    if isinstance(node, nodes.Unary):
        return _fixed(node.operand, changed)
    if isinstance(node, nodes.Binary):
        return _fixed(node.left, changed) and _fixed(node.right, changed)
    return False
