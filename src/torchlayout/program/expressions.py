"""Lowering of libcst expressions. Imported only once a piece of source is lowered, for it imports libcst.

Each function takes the walk and one libcst node, visits the node's parts in the order in which they stand in
the text (the cursor counts on it), and returns the lowered node.
"""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import libcst as cst

from torchlayout.program import nodes
from torchlayout.program.tokens import BadTokens, Cursor

Lower: TypeAlias = "Callable[[Walk, Any], nodes.Expr]"


class Walk:
    """One walk over a tree: the cursor, and whether the function being walked holds a `yield` of its own."""

    __slots__ = ("cursor", "skip_to", "take", "yields")

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.take = cursor.take
        self.skip_to = cursor.skip_to
        self.yields = False

    def expr(self, node: cst.CSTNode) -> nodes.Expr:
        return EXPRESSIONS[type(node)](self, node)

    def name(self, node: cst.Name) -> tuple[str, nodes.Span]:
        """An identifier and its place."""
        return identifier(node.value), self.take(node.value)


def identifier(text: str) -> str:
    """Python compares identifiers in normal form NFKC."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


# ---------------------------------------------------------------- names, literals
_SINGLETONS = {"None": None, "True": True, "False": False}


def _name(walk: Walk, node: cst.Name) -> nodes.Expr:
    word = node.value
    span = walk.take(word)
    if word in _SINGLETONS:
        return nodes.Const(_SINGLETONS[word], span)
    return nodes.Name(identifier(word), span)


def _attribute(walk: Walk, node: cst.Attribute) -> nodes.Expr:
    value = walk.expr(node.value)
    word = node.attr.value
    return nodes.Attribute(value, identifier(word), walk.take(word))


def _number(walk: Walk, node: cst.Integer | cst.Float | cst.Imaginary) -> nodes.Expr:
    word = node.value
    span = walk.take(word)
    try:
        return nodes.Const(int(word) if word.isdecimal() and word.isascii() else ast.literal_eval(word), span)
    except (ValueError, SyntaxError, OverflowError):  # more digits than Python converts
        return nodes.Opaque((), span)


def _string(walk: Walk, node: cst.SimpleString) -> nodes.Expr:
    word = node.value
    span = walk.cursor.take_text(word)
    quote = word[:3] if word.startswith(('"""', "'''")) else word[:1]
    if quote[0] in "\"'" and "\\" not in word:
        return nodes.Const(word[len(quote) : -len(quote)], span)
    try:
        return nodes.Const(_evaluated(word), span)
    except (ValueError, SyntaxError):  # a bad escape
        return nodes.Opaque((), span)


def _evaluated(word: str) -> object:
    import warnings

    with warnings.catch_warnings():  # "\d" in somebody's text is none of our business
        warnings.simplefilter("ignore")
        return ast.literal_eval(word)


def _concatenated(walk: Walk, node: cst.ConcatenatedString) -> nodes.Expr:
    parts: list[nodes.Expr] = []
    rest: Any = node
    while isinstance(rest, cst.ConcatenatedString):  # nested to the right, as long as the text has pieces
        parts.append(walk.expr(rest.left))
        rest = rest.right
    parts.append(walk.expr(rest))
    span = parts[0].span
    texts = [part.value for part in parts if isinstance(part, nodes.Const)]
    if len(texts) == len(parts):
        if all(isinstance(text, str) for text in texts):
            return nodes.Const("".join(map(str, texts)), span)
        if all(isinstance(text, bytes) for text in texts):
            return nodes.Const(b"".join(text for text in texts if isinstance(text, bytes)), span)
    return nodes.Opaque(tuple(part for part in parts if not isinstance(part, nodes.Const)), span)


def _formatted(walk: Walk, node: Any) -> nodes.Expr:
    span = walk.take(node.start)
    return nodes.Opaque(tuple(_fields(walk, node.parts)), span)


def _fields(walk: Walk, parts: Iterable[Any] | None) -> list[nodes.Expr]:
    found: list[nodes.Expr] = []
    for part in parts or ():
        expression = getattr(part, "expression", None)
        if expression is not None:
            found.append(walk.expr(expression))
            found.extend(_fields(walk, part.format_spec))
    return found


def _ellipsis(walk: Walk, node: cst.Ellipsis) -> nodes.Expr:
    return nodes.Const(..., walk.take("..."))


# ---------------------------------------------------------------- calls, subscripts
def _call(walk: Walk, node: cst.Call) -> nodes.Expr:
    func = walk.expr(node.func)
    return nodes.Call(func, arguments(walk, node.args) if node.args else (), func.span)


def arguments(walk: Walk, args: Iterable[cst.Arg]) -> tuple[nodes.Arg, ...]:
    """The arguments of a call, or the bases and keywords of a class."""
    lowered = []
    for arg in args:
        keyword = arg.keyword
        name = None
        if keyword is not None:
            name = identifier(keyword.value)
            walk.skip_to(keyword.value)
        lowered.append(nodes.Arg(walk.expr(arg.value), name, len(arg.star)))
    return tuple(lowered)


def _subscript(walk: Walk, node: cst.Subscript) -> nodes.Expr:
    value = walk.expr(node.value)
    span = walk.take("[")
    elements = node.slice
    items = tuple([_index(walk, element.slice) for element in elements])
    if len(items) == 1 and not isinstance(elements[0].comma, cst.Comma) and not isinstance(items[0], nodes.Starred):
        return nodes.Subscript(value, items[0], span)
    return nodes.Subscript(value, nodes.Sequence("tuple", items, items[0].span), span)


def _index(walk: Walk, node: Any) -> nodes.Expr:
    if isinstance(node, cst.Index):
        if getattr(node, "star", None):  # PEP 646
            span = walk.take("*")
            return nodes.Starred(walk.expr(node.value), span)
        return walk.expr(node.value)
    lower = walk.expr(node.lower) if node.lower is not None else None
    span = walk.take(":")
    upper = walk.expr(node.upper) if node.upper is not None else None
    if not isinstance(node.second_colon, cst.MaybeSentinel):
        walk.skip_to(":")
    step = walk.expr(node.step) if node.step is not None else None
    return nodes.Slice(lower, upper, step, span)


# ---------------------------------------------------------------- displays, comprehensions
def _tuple(walk: Walk, node: cst.Tuple) -> nodes.Expr:
    items = tuple([walk.expr(element) for element in node.elements])
    return nodes.Sequence("tuple", items, items[0].span if items else walk.take("("))


def _list(walk: Walk, node: cst.List) -> nodes.Expr:
    span = walk.take("[")
    return nodes.Sequence("list", tuple([walk.expr(element) for element in node.elements]), span)


def _set(walk: Walk, node: cst.Set) -> nodes.Expr:
    span = walk.take("{")
    return nodes.Sequence("set", tuple([walk.expr(element) for element in node.elements]), span)


def _element(walk: Walk, node: cst.Element) -> nodes.Expr:
    return walk.expr(node.value)


def _starred(walk: Walk, node: cst.StarredElement) -> nodes.Expr:
    span = walk.take("*")
    return nodes.Starred(walk.expr(node.value), span)


def _dict(walk: Walk, node: cst.Dict) -> nodes.Expr:
    span = walk.take("{")
    items: list[tuple[nodes.Expr | None, nodes.Expr]] = []
    for element in node.elements:
        if isinstance(element, cst.DictElement):
            key = walk.expr(element.key)
            items.append((key, walk.expr(element.value)))
        else:
            walk.skip_to("**")
            items.append((None, walk.expr(element.value)))
    return nodes.Mapping(tuple(items), span)


def _comprehension(kind: str, bracket: str | None) -> Lower:
    def lower(walk: Walk, node: Any) -> nodes.Expr:
        span = walk.take(bracket) if bracket else None
        element = walk.expr(node.elt)
        return nodes.Comprehension(kind, element, _clauses(walk, node.for_in), span or element.span)

    return lower


def _dict_comprehension(walk: Walk, node: cst.DictComp) -> nodes.Expr:
    span = walk.take("{")
    key = walk.expr(node.key)
    element = nodes.Sequence("tuple", (key, walk.expr(node.value)), key.span)
    return nodes.Comprehension("dict", element, _clauses(walk, node.for_in), span)


def _clauses(walk: Walk, clause: cst.CompFor | None) -> tuple[nodes.Clause, ...]:
    clauses = []
    while clause is not None:
        target = walk.expr(clause.target)
        iterable = walk.expr(clause.iter)
        clauses.append(nodes.Clause(target, iterable, tuple([walk.expr(condition.test) for condition in clause.ifs])))
        clause = clause.inner_for_in
    return tuple(clauses)


# ---------------------------------------------------------------- operators
_OPERATORS: dict[type, str] = {
    cst.Add: "+", cst.Subtract: "-", cst.Multiply: "*", cst.Divide: "/", cst.FloorDivide: "//", cst.Modulo: "%",
    cst.Power: "**", cst.MatrixMultiply: "@", cst.LeftShift: "<<", cst.RightShift: ">>", cst.BitAnd: "&",
    cst.BitOr: "|", cst.BitXor: "^", cst.And: "and", cst.Or: "or", cst.Minus: "-", cst.Plus: "+",
    cst.BitInvert: "~", cst.Not: "not", cst.LessThan: "<", cst.LessThanEqual: "<=", cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=", cst.Equal: "==", cst.In: "in", cst.NotIn: "not in", cst.Is: "is",
    cst.IsNot: "is not", cst.NotEqual: "!=",
}  # fmt: skip


def _binary(walk: Walk, node: cst.BinaryOperation) -> nodes.Expr:
    # A long sum is nested to the left: go down it without recursion.
    spine: list[cst.BinaryOperation] = []
    leftmost: Any = node
    while type(leftmost) is cst.BinaryOperation:
        spine.append(leftmost)
        leftmost = leftmost.left
    left = walk.expr(leftmost)
    for operation in reversed(spine):
        word = _OPERATORS[type(operation.operator)]
        span = walk.take(word)
        left = nodes.Binary(word, left, walk.expr(operation.right), span)
    return left


def _boolean(walk: Walk, node: cst.BooleanOperation) -> nodes.Expr:
    kind = type(node.operator)
    word = _OPERATORS[kind]
    rest: list[cst.BaseExpression] = []
    leftmost: Any = node
    while type(leftmost) is cst.BooleanOperation and type(leftmost.operator) is kind:
        rest.append(leftmost.right)
        leftmost = leftmost.left
    values = [walk.expr(leftmost)]
    span = None
    for value in reversed(rest):
        place = walk.take(word)
        span = span or place
        values.append(walk.expr(value))
    return nodes.BoolOp(word, tuple(values), span or values[0].span)


def _unary(walk: Walk, node: cst.UnaryOperation) -> nodes.Expr:
    word = _OPERATORS[type(node.operator)]
    span = walk.take(word)
    return nodes.Unary(word, walk.expr(node.expression), span)


def _comparison(walk: Walk, node: cst.Comparison) -> nodes.Expr:
    left = walk.expr(node.left)
    rest = []
    span = None
    for comparison in node.comparisons:
        word = _OPERATORS[type(comparison.operator)]
        first, _, second = word.partition(" ")
        place = walk.take(first)
        if second:
            end = walk.take(second)
            place = nodes.Span(place.line, place.column, end.end_line, end.end_column)
        span = span or place
        rest.append((word, walk.expr(comparison.comparator)))
    return nodes.Compare(left, tuple(rest), span or left.span)


def _conditional(walk: Walk, node: cst.IfExp) -> nodes.Expr:
    body = walk.expr(node.body)
    span = walk.take("if")
    test = walk.expr(node.test)
    walk.skip_to("else")
    return nodes.Conditional(test, body, walk.expr(node.orelse), span)


# ---------------------------------------------------------------- the rest
def _lambda(walk: Walk, node: cst.Lambda) -> nodes.Expr:
    span = walk.take("lambda")
    outer = walk.yields
    params = parameters(walk, node.params)
    body = walk.expr(node.body)
    walk.yields = outer
    return nodes.Lambda(params, body, span)


def parameters(walk: Walk, node: cst.Parameters) -> nodes.Params:
    """The parameters of a function or lambda, in order."""
    found = [_parameter(walk, param, "positional") for param in (*node.posonly_params, *node.params)]
    if isinstance(node.star_arg, cst.Param):
        found.append(_parameter(walk, node.star_arg, "*"))
    found.extend(_parameter(walk, param, "keyword") for param in node.kwonly_params)
    if node.star_kwarg is not None:
        found.append(_parameter(walk, node.star_kwarg, "**"))
    return tuple(found)


def _parameter(walk: Walk, node: cst.Param, kind: str) -> nodes.Param:
    name, span = walk.name(node.name)
    annotation = walk.expr(node.annotation.annotation) if node.annotation is not None else None
    default = walk.expr(node.default) if node.default is not None else None
    return nodes.Param(name, kind, default, annotation, span)


def _walrus(walk: Walk, node: cst.NamedExpr) -> nodes.Expr:
    target = walk.expr(node.target)
    span = walk.take(":=")
    value = walk.expr(node.value)
    if isinstance(target, nodes.Name):
        return nodes.Walrus(target, value, span)
    return nodes.Opaque((value,), span)


def _yield(walk: Walk, node: cst.Yield) -> nodes.Expr:
    walk.yields = True
    span = walk.take("yield")
    if isinstance(node.value, cst.From):
        return nodes.Yield(walk.expr(node.value.item), True, span)
    return nodes.Yield(walk.expr(node.value) if node.value is not None else None, False, span)


def _await(walk: Walk, node: cst.Await) -> nodes.Expr:
    span = walk.take("await")
    return nodes.Await(walk.expr(node.expression), span)


class _Dispatch(dict[type, Lower]):
    def __missing__(self, kind: type) -> Lower:
        raise BadTokens(f"no lowering for {kind.__name__}")


EXPRESSIONS: dict[type, Lower] = _Dispatch(
    {
        cst.Name: _name,
        cst.Attribute: _attribute,
        cst.Integer: _number,
        cst.Float: _number,
        cst.Imaginary: _number,
        cst.SimpleString: _string,
        cst.ConcatenatedString: _concatenated,
        cst.FormattedString: _formatted,
        cst.Ellipsis: _ellipsis,
        cst.Call: _call,
        cst.Subscript: _subscript,
        cst.Tuple: _tuple,
        cst.List: _list,
        cst.Set: _set,
        cst.Element: _element,
        cst.StarredElement: _starred,
        cst.Dict: _dict,
        cst.ListComp: _comprehension("list", "["),
        cst.SetComp: _comprehension("set", "{"),
        cst.GeneratorExp: _comprehension("generator", None),
        cst.DictComp: _dict_comprehension,
        cst.BinaryOperation: _binary,
        cst.BooleanOperation: _boolean,
        cst.UnaryOperation: _unary,
        cst.Comparison: _comparison,
        cst.IfExp: _conditional,
        cst.Lambda: _lambda,
        cst.NamedExpr: _walrus,
        cst.Yield: _yield,
        cst.Await: _await,
    }
)
if hasattr(cst, "TemplatedString"):  # libcst 1.8.3 and later
    EXPRESSIONS[cst.TemplatedString] = _formatted
