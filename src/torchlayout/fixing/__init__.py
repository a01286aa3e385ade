"""Fixes: from findings that carry edits to mended text, and back to disk.

`fix_text` mends a text, `unified_diff` shows what changed, `patch` makes a patch of a file's bytes, and
`replace_content` puts them back on disk.
"""

from torchlayout.fixing.diff import patch, unified_diff
from torchlayout.fixing.engine import MAX_ROUNDS, Fixed, fix_text
from torchlayout.fixing.files import ChangedMeanwhile, replace_content

__all__ = ["MAX_ROUNDS", "ChangedMeanwhile", "Fixed", "fix_text", "patch", "replace_content", "unified_diff"]
