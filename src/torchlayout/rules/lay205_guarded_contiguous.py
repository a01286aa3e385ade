"""LAY205: `contiguous()` only where `is_contiguous()` says no."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import Example, Rule

if TYPE_CHECKING:
    import ast

    from torchlayout.interp.trace import Guard
    from torchlayout.rules.finding import Finding, Fix
    from torchlayout.rules.seen import Seen


class GuardedContiguous(Rule):
    """## What it does
    Reports `if not x.is_contiguous(): x = x.contiguous()` and `x if x.is_contiguous() else x.contiguous()`.

    ## Why is this bad?
    `contiguous()` makes the same test itself, and returns x where it holds. The guard saves no copy; it only doubles
    the test and hides a plain statement in a branch.

    ## Example
    ```python
    import torch


    def pack(x: torch.Tensor):
        if not x.is_contiguous():
            x = x.contiguous()
        return x
    ```

    ## Use instead
    ```python
    import torch


    def pack(x: torch.Tensor):
        x = x.contiguous()
        return x
    ```

    ## What it cannot see
    Guards of which the branch does more than pack the tensor (counts, warns) are left alone.

    ## Fix safety
    Safe for a variable: the statement in the branch is kept, and gives the same tensor where the test held. Unsafe for
    attributes and items (`self.x`, `t[0]`), and for names in a class body: they are then assigned where the program may
    never have assigned them, which a tuple, or a property without a setter, refuses. Unsafe, too, where the tensor
    comes from a call (`f() if f().is_contiguous() else f().contiguous()`), which is then made once, not twice.

    ## References
    - [torch.Tensor.contiguous](https://pytorch.org/docs/stable/generated/torch.Tensor.contiguous.html)
    """

    code, name = "LAY205", "guarded-contiguous"
    words = (".is_contiguous with .contiguous",)
    fixable = True
    invalid = (
        Example(
            """\
import torch


def pack(x: torch.Tensor):
    if not x.is_contiguous():  # LAY205
        x = x.contiguous()
    return x


pack(torch.randn(3, 4).t())
""",
            fixed=[("    if not x.is_contiguous():\n        x = x.contiguous()\n", "    x = x.contiguous()\n")],
            note="as a statement",
        ),
        Example(
            """\
import torch


def pack(k: torch.Tensor):
    k = k if k.is_contiguous() else k.contiguous()  # LAY205
    return k


pack(torch.randn(3, 4).t())
""",
            fixed=[("k if k.is_contiguous() else k.contiguous()", "k.contiguous()")],
            note="as an expression",
        ),
    )
    valid = (
        Example(
            """\
import torch


def pack(x: torch.Tensor):
    return x.contiguous()


pack(torch.randn(3, 4).t())
""",
            note="the call tests for itself",
        ),
    )
    near_misses = (
        Example(
            """\
import torch


def pack(x: torch.Tensor, copies: list):
    if not x.is_contiguous():
        copies.append(x.shape)
        x = x.contiguous()
    return x


pack(torch.randn(3, 4).t(), [])
""",
            note="the branch does something else too",
        ),
        Example(
            """\
import torch


def own(x: torch.Tensor):
    if not x.is_contiguous():
        x = x.clone()
    return x


own(torch.randn(3, 4).t())
""",
            note="clone does not test, and does not pack",
        ),
    )

    def check(self, seen: Seen) -> Iterator[Finding]:
        from torchlayout.rules.finding import Finding, Related

        for guard in dict.fromkeys(seen.trace.guards):
            form = "conditional expression" if guard.conditional else "branch"
            message = (
                f"`{guard.text}.contiguous()` makes this test itself, and returns `{guard.text}` where it is "
                f"contiguous; call it without the {form}"
            )
            related = (Related(guard.span, "guarded for nothing here"),)
            yield Finding(self.code, message, guard.test, related, _without_test(seen, guard))


def _without_test(seen: Seen, guard: Guard) -> Fix | None:
    """The branch alone in the place of the `if`, or of the conditional expression."""
    import ast

    from torchlayout.program.nodes import Span
    from torchlayout.rules import edits
    from torchlayout.rules.finding import Fix, Safety

    unit = seen.unit

    def span(node: ast.expr | ast.stmt) -> Span:
        start = unit.source.column_from_utf8(node.lineno, node.col_offset)
        end = unit.source.column_from_utf8(node.end_lineno or 0, node.end_col_offset or 0)
        return Span(node.lineno, start, node.end_lineno or node.lineno, end)

    def holds(whole: Span, part: Span) -> bool:
        return whole[:2] <= part[:2] and part[2:] <= whole[2:]

    for node in ast.walk(unit.tree):
        if isinstance(node, ast.IfExp) and guard.conditional:
            kept: ast.expr | ast.stmt = node.body if holds(span(node.body), guard.span) else node.orelse
        elif isinstance(node, ast.If) and not guard.conditional and len(node.body) == 1 and not node.orelse:
            kept = node.body[0]
        else:
            continue
        if holds(span(node.test), guard.test) and holds(span(kept), guard.span):
            whole, text = span(node), unit.source.slice(span(kept))
            if unit.source.slice(Span(*whole[:2], whole.line, whole.column + 4)) == "elif" or "\n" in text:
                return None
            safe = _sets_variable(seen, kept) if isinstance(kept, ast.stmt) else _only_reads(node.test)
            return Fix("Take the test away", edits.replace(whole, text), Safety.SAFE if safe else Safety.UNSAFE)
    return None


def _only_reads(test: ast.expr) -> bool:
    """Whether nothing but `is_contiguous` is called in a test."""
    import ast

    return sum(isinstance(node, (ast.Call, ast.Await, ast.NamedExpr, ast.Yield)) for node in ast.walk(test)) == 1


def _sets_variable(seen: Seen, statement: ast.stmt) -> bool:
    """Whether an assignment is to a variable of a function or of the module, which may be assigned on every path."""
    import ast

    entry = seen.unit.outline.at(statement.lineno)
    return not (entry is not None and entry.is_class) and all(
        isinstance(target, ast.Name) for target in getattr(statement, "targets", [statement])
    )
