"""Evaluating expressions to abstract values.

`evaluate` never fails: what is not understood is an `Opaque` value. Operators on tensors go to the table
(`operate`), calls to `calls`, comprehensions to `comprehensions`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchlayout.interp import calls, record
from torchlayout.interp.attributes import get_attribute
from torchlayout.interp.conditions import as_value, condition, of_value
from torchlayout.interp.frame import Frame, OutOfBudget
from torchlayout.interp.items import take
from torchlayout.interp.iteration import iterate
from torchlayout.interp.joins import join, join_all
from torchlayout.interp.names import lookup
from torchlayout.interp.numbers import arithmetic, compare_values, negate
from torchlayout.interp.operate import operate
from torchlayout.interp.refine import assume, outcome, truth_of
from torchlayout.interp.state import State, join_states, settled
from torchlayout.interp.tensors import NOT_TENSORS, as_tensor, may_be_list, note_int
from torchlayout.interp.text import expression_text
from torchlayout.interp.values import (
    MAX_WEIGHT,
    NESTING,
    Dictionary,
    Function,
    Many,
    Opaque,
    Slice,
    Tensor,
    Union_,
    Value,
    choices,
    items_of,
)
from torchlayout.interp.values import Sequence as SequenceValue
from torchlayout.ops import find_method
from torchlayout.program import nodes
from torchlayout.sizes import Poly

BINARY_ROWS = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "//": "floor_divide", "%": "remainder", "**": "pow", "@": "matmul",
    "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<<": "bitwise_left_shift", ">>": "bitwise_right_shift",
}  # fmt: skip
COMPARE_ROWS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
SURELY_BOOL = frozenset({"is", "is not", "in", "not in"})
"""Comparisons that give no tensor."""
UNARY_ROWS = {"-": "neg", "~": "bitwise_not", "+": "positive"}


def evaluate(node: nodes.Expr, st: State, fr: Frame) -> Value:
    """The value of an expression; evaluating it may change the state (calls, walrus)."""
    run = fr.run  # what follows is `Run.step`, and `weight_of`, written out: nothing is called more often
    run.steps += 1
    if run.steps > run.last_step:
        raise OutOfBudget
    value = _EVALUATORS[type(node)](node, st, fr)
    if type(value) in NESTING and value.weight > MAX_WEIGHT:
        value = Opaque((fr.place(node.span), "heavy"))
    if run.options.explain:
        _explain(node, value, st, fr)
    return value


def _explain(node: nodes.Expr, value: Value, st: State, fr: Frame) -> None:
    if isinstance(value, Tensor) and fr.unit is fr.run.unit:
        seen = fr.run.trace.explained.setdefault(node.span, [])
        seen.append((expression_text(node), record.as_reveal(value, st)))


def _constant(node: nodes.Const, st: State, fr: Frame) -> Value:
    return node.value


def _name(node: nodes.Name, st: State, fr: Frame) -> Value:
    return lookup(node.id, st, fr)


def _attribute(node: nodes.Attribute, st: State, fr: Frame) -> Value:
    return get_attribute(evaluate(node.value, st, fr), node.attr, node.span, st, fr)


def _call(node: nodes.Call, st: State, fr: Frame) -> Value:
    return calls.call(node, st, fr)


# ---------------------------------------------------------------- containers
def evaluate_items(items: tuple[nodes.Expr, ...], st: State, fr: Frame) -> tuple[list[Value], bool]:
    """The values of a display or argument list, `*x` spread out; False where the length is not known."""
    values: list[Value] = []
    complete = True
    for item in items:
        if not isinstance(item, nodes.Starred):
            values.append(evaluate(item, st, fr))
            continue
        inner = st.load(evaluate(item.value, st, fr))
        if isinstance(inner, SequenceValue) and inner.kind != "set":
            values.extend(inner.items)
        elif isinstance(inner, Dictionary) and inner.rest is None:
            values.extend(inner.items)
        else:
            complete = False
            values.extend(items_of(iterate(inner, st, fr, item.span)))
    return values, complete


def _sequence(node: nodes.Sequence, st: State, fr: Frame) -> Value:
    values, complete = evaluate_items(node.items, st, fr)
    if node.kind == "set":
        record.use(fr, (t for value in values for t in st.tensors_in(value)), "contained", "set", None, node.span)
    if complete:
        made: Value = SequenceValue(node.kind, tuple(values))
    else:
        made = Many(join_all(values, (fr.place(node.span), "items")), node.kind)
    return made if node.kind == "tuple" else st.hold(("list", fr.place(node.span)), made)


def _mapping(node: nodes.Mapping, st: State, fr: Frame) -> Value:
    made = Dictionary({})
    for key, item in node.items:
        value = evaluate(item, st, fr)
        if key is None:
            inner = st.load(value)
            unknown = Dictionary({}, Opaque((fr.place(node.span), "rest")))
            made = made.overlaid(inner if isinstance(inner, Dictionary) else unknown, fr.place(node.span))
            continue
        name = evaluate(key, st, fr)
        record.use(fr, st.tensors_in(name), "contained", "key", None, node.span)
        if isinstance(name, (str, int, bool)):
            made = made.put(name, value)
        else:  # which may be one of the keys before it
            made = made.overlaid(Dictionary({}, value), fr.place(node.span))
    return st.hold(("dict", fr.place(node.span)), made)


def _slice(node: nodes.Slice, st: State, fr: Frame) -> Value:
    parts = [None if part is None else evaluate(part, st, fr) for part in (node.lower, node.upper, node.step)]
    record.contents(fr, parts, "slice", node.span, st)
    return Slice(*parts)


def _starred(node: nodes.Starred, st: State, fr: Frame) -> Value:
    record.contents(fr, [evaluate(node.value, st, fr)], "*", node.span, st)
    return Opaque((fr.place(node.span), "starred"))


def _lambda(node: nodes.Lambda, st: State, fr: Frame) -> Value:
    defaults = {p.name: evaluate(p.default, st, fr) for p in node.params if p.default is not None}
    closure = {**fr.closure, **st.env}
    fr.made.append((closure, frozenset()))
    return Function(node, fr.unit, "<lambda>", closure, defaults, fr.owner, homes=(fr.home, *fr.homes))


# ---------------------------------------------------------------- operators
def _binary(node: nodes.Binary, st: State, fr: Frame) -> Value:
    left, right = evaluate(node.left, st, fr), evaluate(node.right, st, fr)
    if isinstance(left, str):
        record.contents(fr, [right], node.op, node.span, st)
    return binary(node.op, left, right, node, st, fr)


def binary(op: str, left: Value, right: Value, node: nodes.Binary | nodes.AugAssign, st: State, fr: Frame) -> Value:
    """`left op right` for values."""
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        return tensor_binary(BINARY_ROWS.get(op), op, left, right, node.span, st, fr)
    if isinstance(left, Union_) or isinstance(right, Union_):
        options = [
            binary(op, a, b, node, st, fr)
            for a in choices(left)
            for b in choices(right)
            if a is not None and b is not None
        ]
        return join_all(options, fr.place(node.span))
    value = arithmetic(op, left, right, st, fr.place(node.span))
    sides = (left, right)
    unsure = any(isinstance(s, Opaque) and s.kind is None for s in sides)
    if value is not None and not (isinstance(value, Poly) and unsure):
        return value
    if op == "@" and fr.unit is not None and isinstance(left, Opaque) and isinstance(right, Opaque):
        return tensor_binary("matmul", op, left, right, node.span, st, fr)
    if op in "+-*/" and (_tensor_like(left) or (isinstance(right, Opaque) and right.kind == "ndarray")):
        return tensor_binary(BINARY_ROWS[op], op, left, right, node.span, st, fr)
    weak = not (isinstance(left, Opaque) and not left.weak)
    size = value if isinstance(value, Poly) else None
    made = Opaque((fr.place(node.span), "binary"), _in_brackets(node), weak, size=size)
    if size is not None and not _may_be_tuple(op, left, right, st):
        note_int(made, st.facts)
    return made


def _may_be_tuple(op: str, left: Value, right: Value, st: State) -> bool:
    """Whether the operator may put tuples together, for all that is known of its operands."""
    lists = [isinstance(side, Opaque) and may_be_list(side, st.facts) for side in (left, right)]
    return (op == "+" and all(lists)) or (op == "*" and any(lists))


def _in_brackets(node: nodes.Expr | nodes.AugAssign) -> str | None:
    """The name of what an operator gives; None where the text is too long to be one."""
    text = expression_text(node) if isinstance(node, (nodes.Binary, nodes.Unary)) else "..."
    return None if "..." in text else f"({text})"


def _tensor_like(value: Value) -> bool:
    return isinstance(value, Opaque) and value.kind in ("tensor", "ndarray")


def _may_be_tensor(value: Value) -> bool:
    return isinstance(value, (Tensor, Union_)) or (isinstance(value, Opaque) and value.kind not in NOT_TENSORS)


def tensor_binary(row: str | None, op: str, left: Value, right: Value, span: nodes.Span, st: State, fr: Frame) -> Value:
    """An operator with a tensor on one side at least."""
    unknown = Opaque((fr.place(span), "operator"), kind="tensor")
    left, right = (as_tensor(side, st.facts) or side if _tensor_like(side) else side for side in (left, right))
    if row is None:
        record.use(fr, st.tensors_in(left) + st.tensors_in(right), "operand", op, None, span)
        return unknown
    if isinstance(right, Tensor) and row != "matmul" and not _may_be_tensor(left):
        left, right = right, left  # a number has no part in the layout
    numpy = any(isinstance(side, Tensor) and side.numpy for side in (left, right))
    if isinstance(right, (str, type(None))):
        return unknown
    result = operate(fr, st, find_method(row, numpy) or find_method(row), [left, right], {}, span, op, "operator")
    if result is None:
        record.use(fr, st.tensors_in(left) + st.tensors_in(right), "operand", op, None, span)
    return unknown if result is None else result


def _unary(node: nodes.Unary, st: State, fr: Frame) -> Value:
    value = evaluate(node.operand, st, fr)
    if node.op == "not":
        record.truth(fr, value, node.span)
        known = truth_of(value, st)
        return _opposite(value, node, fr) if known is None else not known
    if isinstance(value, Tensor):
        rows = find_method(UNARY_ROWS[node.op], value.numpy) or find_method(UNARY_ROWS[node.op])
        result = operate(fr, st, rows, [value], {}, node.span, node.op, "operator")
        return Opaque((fr.place(node.span), "operator"), kind="tensor") if result is None else result
    known = negate(node.op, value, st)
    if isinstance(value, Opaque) and value.kind is None and isinstance(known, Poly):
        made = Opaque((fr.place(node.span), "unary"), _in_brackets(node), value.weak, value.origin, size=known)
        note_int(value, st.facts)
        note_int(made, st.facts)
        return made
    return Opaque((fr.place(node.span), "unary")) if known is None else known


def _opposite(value: Value, node: nodes.Unary, fr: Frame) -> Opaque:
    asked = of_value(value)
    if asked is None:
        return Opaque((fr.place(node.span), "not"), kind="bool")
    return as_value((asked[0], not asked[1]))


def _compare(node: nodes.Compare, st: State, fr: Frame) -> Value:
    left = evaluate(node.left, st, fr)
    answers: list[Value] = []
    for op, other in node.rest:
        right = evaluate(other, st, fr)
        if op in COMPARE_ROWS and (isinstance(left, Tensor) or isinstance(right, Tensor)):
            answers.append(tensor_binary(COMPARE_ROWS[op], op, left, right, node.span, st, fr))
        else:
            if op not in ("is", "is not"):
                record.contents(fr, [left, right], op, node.span, st)
            known = compare_values(op, left, right, st)
            surely = op in SURELY_BOOL or not (_may_be_tensor(left) or _may_be_tensor(right))
            kind = "bool" if surely else None
            answers.append(_unknown_answer(node, kind, st, fr) if known is None else known)
        left = right
    if len(answers) == 1:
        return answers[0]
    if any(answer is False for answer in answers):
        return False
    if all(answer is True for answer in answers):
        return True
    kind = "bool" if all(getattr(answer, "kind", "bool") == "bool" for answer in answers) else None
    return Opaque((fr.place(node.span), "compare"), kind=kind)


def _unknown_answer(node: nodes.Compare, kind: str | None, st: State, fr: Frame) -> Opaque:
    asked = condition(node, st, fr)
    return Opaque((fr.place(node.span), "compare"), kind=kind) if asked is None else as_value(asked, kind)


def _bool(node: nodes.BoolOp, st: State, fr: Frame) -> Value:
    """`and` and `or`: each later operand is reached only where the earlier ones did not decide."""
    stop_on = node.op == "or"
    ends: list[tuple[Value, State]] = []
    state = st
    for place, operand in enumerate(node.values):
        value = evaluate(operand, state, fr)
        if place < len(node.values) - 1:
            record.truth(fr, value, node.span)
        known = outcome(operand, value, state, fr)
        if known is stop_on or place == len(node.values) - 1:
            ends.append((value, state))
            break
        if known is None:
            ends.append((_that_count_as(stop_on, value, state), state))
            state = state.copy()
            if not assume(operand, not stop_on, state, fr):
                break
    value, joined = ends[0]
    for other, end in ends[1:]:
        value = join(settled_in(value, joined), settled_in(other, end), fr.place(node.span))
        merged = join_states(joined, end, fr.place(node.span))
        assert merged is not None
        joined = merged
    if joined is not st:
        st.become(joined)
    return value


def _that_count_as(truth: bool, value: Value, st: State) -> Value:
    """The alternatives of a value that may count as true (or false): `x or y` is x only where x is not None."""
    if not isinstance(value, Union_):
        return value
    kept = tuple(choice for choice in value.choices if truth_of(choice, st) in (truth, None))
    return kept[0] if len(kept) == 1 else Union_(kept) if kept else value


def _conditional(node: nodes.Conditional, st: State, fr: Frame) -> Value:
    test = evaluate(node.test, st, fr)
    record.truth(fr, test, node.span)
    known = outcome(node.test, test, st, fr)
    results: list[Value] = []
    ends: list[State] = []
    for branch, wanted in ((node.body, True), (node.orelse, False)):
        if known is (not wanted):
            continue
        inner = st.copy()
        if not assume(node.test, wanted, inner, fr):
            continue
        guards = len(fr.guards)
        note_guards(node.test, fr)
        results.append(evaluate(branch, inner, fr))
        del fr.guards[guards:]
        ends.append(inner)
    if not ends:
        return Opaque((fr.place(node.span), "conditional"))
    if len(ends) == 1:
        st.become(ends[0])
        return results[0]
    joined = join_states(ends[0], ends[1], fr.place(node.span))
    assert joined is not None
    first, second = (settled_in(value, end) for value, end in zip(results, ends, strict=True))
    st.become(joined)
    return join(first, second, fr.place(node.span))


def settled_in(value: Value, st: State) -> Value:
    return settled(value, st.facts)


def note_guards(test: nodes.Expr, fr: Frame) -> None:
    """Remember the receivers of `is_contiguous()` in a test, for the statements under it."""
    while isinstance(test, nodes.Unary) and test.op == "not":
        test = test.operand
    if isinstance(test, nodes.BoolOp):
        for value in test.values:
            note_guards(value, fr)
    elif isinstance(test, nodes.Call) and isinstance(test.func, nodes.Attribute) and test.func.attr == "is_contiguous":
        fr.guards.append(expression_text(test.func.value))


# ---------------------------------------------------------------- subscripts
def _subscript(node: nodes.Subscript, st: State, fr: Frame) -> Value:
    value = evaluate(node.value, st, fr)
    index = evaluate(node.index, st, fr)
    record.contents(fr, [index], "index", node.span, st)
    return take(value, index, node, st, fr)


# ---------------------------------------------------------------- the rest
def _comprehension(node: nodes.Comprehension, st: State, fr: Frame) -> Value:
    from torchlayout.interp.comprehensions import comprehension

    return comprehension(node, st, fr)


def _walrus(node: nodes.Walrus, st: State, fr: Frame) -> Value:
    from torchlayout.interp.targets import bind_name

    value = evaluate(node.value, st, fr)
    bind_name(node.target.id, value, st, fr)
    return value


def _yield(node: nodes.Yield, st: State, fr: Frame) -> Value:
    if node.value is not None:
        value = evaluate(node.value, st, fr)
        record.use(fr, st.tensors_in(value), "yielded", "yield", None, node.span)
        loaded = st.load(value)
        fr.yields.append(join_all(items_of(loaded), fr.place(node.span)) if node.whole else value)
    return Opaque((fr.place(node.span), "sent"))


def _await(node: nodes.Await, st: State, fr: Frame) -> Value:
    return evaluate(node.value, st, fr)


def _opaque(node: nodes.Opaque, st: State, fr: Frame) -> Value:
    for part in node.parts:  # what stands in an f-string
        record.contents(fr, [evaluate(part, st, fr)], "text", node.span, st)
    return Opaque((fr.place(node.span), "opaque"))


_EVALUATORS: dict[type, Callable[[Any, State, Frame], Value]] = {
    nodes.Const: _constant, nodes.Name: _name, nodes.Attribute: _attribute, nodes.Call: _call,
    nodes.Subscript: _subscript, nodes.Slice: _slice, nodes.Sequence: _sequence, nodes.Starred: _starred,
    nodes.Mapping: _mapping, nodes.Binary: _binary, nodes.Unary: _unary, nodes.Compare: _compare, nodes.BoolOp: _bool,
    nodes.Conditional: _conditional, nodes.Lambda: _lambda, nodes.Comprehension: _comprehension, nodes.Walrus: _walrus,
    nodes.Yield: _yield, nodes.Await: _await, nodes.Opaque: _opaque,
}  # fmt: skip
