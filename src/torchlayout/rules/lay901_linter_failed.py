"""LAY901: the linter itself failed on a file. `check` reports it; this is its page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlayout.rules.base import Rule

if TYPE_CHECKING:
    from torchlayout.rules.finding import Finding
    from torchlayout.rules.seen import Seen


class LinterFailed(Rule):
    """## What it does
    Says that torchlayout itself failed on a file and checked nothing in it. It stands at the start of the file; the run
    goes on with the others.

    ## Why is this bad?
    It is an error of torchlayout, not of your code: please report it, with the traceback that `--verbose` shows and,
    if you can, the file.

    ## Example
    No code is known to lead to it.

    ## Use instead
    Until it is mended, the file can be left out with `exclude`, or the code with
    `per-file-ignores = { "path/to/file.py" = ["LAY901"] }`.

    ## What it cannot see
    Failures outside the analysis: a file that cannot be read or parsed is told of as an error, not as a finding.

    ## References
    - [Issues](https://github.com/torchlayout/torchlayout/issues)
    """

    code, name = "LAY901", "linter-failed"

    def check(self, seen: Seen) -> Iterator[Finding]:
        """Nothing: the engine reports it."""
        return iter(())
