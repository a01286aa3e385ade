"""What a loop changes: names it assigns or may write to, and whether an expression stays the same in it."""

from __future__ import annotations

from collections.abc import Iterator

from torchlayout.interp.frame import Frame
from torchlayout.program import nodes

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


def changed_names(body: tuple[object, ...]) -> frozenset[str]:
    """Dotted names that statements assign, delete, or may write to in place.

    "*" is among them where something unknown may write to any parameter (an optimizer's step).
    """
    found: set[str] = set()
    for node in walk(body):
        if isinstance(node, (nodes.Assign, nodes.Delete)):
            for target in node.targets:
                found.update(_targets(target))
        elif isinstance(node, (nodes.AugAssign, nodes.For, nodes.Walrus, nodes.Clause)):
            found.update(_targets(node.target))
        elif isinstance(node, nodes.With):
            for _, bound in node.items:
                if bound is not None:
                    found.update(_targets(bound))
        elif isinstance(node, nodes.Call):
            found.update(_written_by(node))
    return frozenset(found)


def _targets(target: nodes.Expr) -> Iterator[str]:
    if isinstance(target, nodes.Sequence):
        for item in target.items:
            yield from _targets(item)
    elif isinstance(target, nodes.Starred):
        yield from _targets(target.value)
    elif isinstance(target, nodes.Subscript):
        yield from _targets(target.value)
    else:
        name = dotted(target)
        if name:
            yield name


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
        elif (
            isinstance(func.value, nodes.Name)
            and func.value.id == "self"
            and func.attr.startswith(("update", "_update", "set_", "reset", "_set", "_reset"))
        ):
            yield "self"
        elif receiver is not None and func.attr not in HARMLESS_METHODS and not receiver[:1].isupper():
            for arg in call.args:
                if arg.keyword == "out" and (name := root_path(arg.value)):
                    yield name
    elif isinstance(func, nodes.Name) and func.id.endswith("_"):
        for arg in call.args:
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


def unchanged_in_loop(fr: Frame, receiver: nodes.Expr) -> bool:
    """Whether this expression is the same, unwritten value on every turn of the innermost loop."""
    loop = fr.loop
    if loop is None:
        return False
    return fr.branches == loop.branches and _fixed(receiver, loop.assigned)


def _fixed(node: nodes.Expr, changed: frozenset[str]) -> bool:
    if isinstance(node, nodes.Const):
        return True
    if isinstance(node, (nodes.Name, nodes.Attribute)):
        name = dotted(node)
        if name is None:
            return isinstance(node, nodes.Attribute) and node.attr in _VIEWING and _fixed(node.value, changed)
        if "*" in changed and "." in name:
            return False
        return not any(
            name == other or name.startswith(other + ".") or other.startswith(name + ".") for other in changed
        )
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
