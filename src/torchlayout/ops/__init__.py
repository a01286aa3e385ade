"""The operator table: what each operator does to layouts. Knows nothing of syntax."""

from torchlayout.ops.attributes import attribute
from torchlayout.ops.indexing import assign, index
from torchlayout.ops.table import Args, Op, all_rows, find_function, find_method, find_operator, select
from torchlayout.ops.values import (
    UNKNOWN,
    Alias,
    Alternatives,
    DType,
    Fields,
    Many,
    MemoryFormat,
    Operand,
    Outcome,
    Refused,
    Result,
    Unknowable,
)

__all__ = [
    "UNKNOWN", "Alias", "Alternatives", "Args", "DType", "Fields", "Many", "MemoryFormat", "Op", "Operand", "Outcome",
    "Refused", "Result", "Unknowable", "all_rows", "assign", "attribute", "find_function", "find_method",
    "find_operator", "index",
    "select",
]  # fmt: skip
