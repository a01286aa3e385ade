"""LAY902: a comment that suppresses nothing. `check` reports it; this is its page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import Rule

if TYPE_CHECKING:
    from torchlayout.rules.finding import Finding
    from torchlayout.rules.seen import Seen


class UnusedSuppression(Rule):
    """## What it does
    With the setting `report-unused-suppressions`, reports comments that name codes of torchlayout and silence no
    finding. Where there is no such code, it says so.

    ## Why is this bad?
    The comment was written for a finding that is gone. It misleads readers, and would hide the next finding there.

    ## Example
    ```python
    import torch

    x = torch.randn(3, 4)
    x.reshape(12)  # noqa: LAY101
    ```

    ## Use instead
    ```python
    import torch

    x = torch.randn(3, 4)
    x.reshape(12)
    ```

    ## What it cannot see
    A bare `# noqa`, and comments that name other linters' codes too: they may be there for those.

    ## Fix safety
    The fix takes the comment away. It is safe where the comment holds the codes alone, and unsafe where it gives a
    reason (`-- reason`), which would be lost. There is none where the comment says anything else.

    ## References
    - [Configuration](../configuration.md)
    """

    code, name = "LAY902", "unused-suppression"
    fixable = True

    def check(self, seen: Seen) -> Iterator[Finding]:
        """Nothing: the engine reports it, from the comments."""
        return iter(())
