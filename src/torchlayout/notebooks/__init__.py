"""Jupyter notebooks: code cells as one program, and fixes back into the cells."""

from torchlayout.notebooks.document import Notebook, NotebookError

__all__ = ["Notebook", "NotebookError"]
