"""Sizes: integer polynomials over named unknowns, and what is known of them. Knows nothing of tensors."""

from torchlayout.sizes.facts import Facts
from torchlayout.sizes.polynomial import Atom, Poly, Size, exact_quotient, of_atom, product, render, single_atom
from torchlayout.sizes.symbols import Extent, Rest, Shape, Symbols
from torchlayout.sizes.truth import MAYBE, NO, YES, Truth, agree, every, some, truth

__all__ = [
    "MAYBE", "NO", "YES", "Atom", "Extent", "Facts", "Poly", "Rest", "Shape", "Size", "Symbols", "Truth", "agree",
    "every", "exact_quotient", "of_atom", "product", "render", "single_atom", "some", "truth",
]  # fmt: skip
