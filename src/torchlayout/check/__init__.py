"""From source text to the findings that are shown: settings, files, suppression, cache.

Everything a front end needs stands here, and each front end (the flake8 plugin, the command line, an editor)
goes through the same `engine.analyze`. Nothing is imported before it is used: `settings` is cheap enough
for flake8's start-up, the rest comes with the first file that mentions torch.

The package is itself callable, since it bears the name of the public function: `torchlayout.check(source)` is
`torchlayout.check.engine.check(source)`, whatever was imported before.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast

    from torchlayout.check.settings import Settings
    from torchlayout.rules.finding import Finding


class _CallablePackage(ModuleType):
    def __call__(
        self,
        source: str | bytes,
        path: str = "<string>",
        settings: Settings | None = None,
        tree: ast.Module | None = None,
    ) -> list[Finding]:
        """The findings in a Python source text: see `torchlayout.check.engine.check`."""
        from torchlayout.check.engine import DEFAULTS, check

        return check(source, path, DEFAULTS if settings is None else settings, tree)


sys.modules[__name__].__class__ = _CallablePackage
