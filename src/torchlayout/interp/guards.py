"""Finding `x if x.is_contiguous() else x.contiguous()` and the `if` statement that says the same."""

from __future__ import annotations

from torchlayout.interp.frame import Frame
from torchlayout.interp.state import State
from torchlayout.interp.text import expression_text
from torchlayout.interp.trace import Guard
from torchlayout.program import nodes


def contiguity_test(test: nodes.Expr) -> tuple[nodes.Expr, nodes.Span, bool] | None:
    """x, the place, and whether it asks for contiguity, of `x.is_contiguous()` or its negation."""
    wanted = True
    while isinstance(test, nodes.Unary) and test.op == "not":
        test, wanted = test.operand, not wanted
    if isinstance(test, nodes.Call) and isinstance(test.func, nodes.Attribute) and not test.args:
        if test.func.attr == "is_contiguous":
            return test.func.value, test.span, wanted
    return None


def packing(node: nodes.Expr) -> tuple[nodes.Expr, nodes.Span] | None:
    """x and the place of `x.contiguous()` without arguments."""
    if isinstance(node, nodes.Call) and isinstance(node.func, nodes.Attribute) and not node.args:
        if node.func.attr == "contiguous":
            return node.func.value, node.span
    return None


def find_guard(node: nodes.Assign, st: State, fr: Frame) -> None:
    """Note the conditional expression form in an assignment's value."""
    value = node.value
    if not isinstance(value, nodes.Conditional):
        return
    tested = contiguity_test(value.test)
    if tested is None:
        return
    subject, place, wanted = tested
    kept, packed = (value.body, value.orelse) if wanted else (value.orelse, value.body)
    made = packing(packed)
    if made is not None and expression_text(made[0]) == expression_text(kept) == expression_text(subject):
        fr.run.trace.guards.append(Guard(made[1], place, expression_text(subject), True))


def find_statement_guard(node: nodes.If, fr: Frame) -> None:
    """Note `if not x.is_contiguous(): x = x.contiguous()`, with nothing else in it."""
    tested = contiguity_test(node.test)
    if tested is None or tested[2] or node.orelse or len(node.body) != 1:
        return
    statement = node.body[0]
    if not isinstance(statement, nodes.Assign) or len(statement.targets) != 1 or statement.value is None:
        return
    made = packing(statement.value)
    text = expression_text(tested[0])
    if made is not None and expression_text(made[0]) == text == expression_text(statement.targets[0]):
        fr.run.trace.guards.append(Guard(made[1], tested[1], text, False))
