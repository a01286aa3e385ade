"""Operators that write in place, as sink words: methods of tensors, functions, and `inplace=True`."""

from __future__ import annotations


def _called(names: str) -> tuple[str, ...]:
    return tuple(f".{name}_(" for name in names.split())


ARITHMETIC = _called(
    "abs absolute acos acosh add addbmm addcdiv addcmul addmm addmv addr alpha_dropout apply arccos arccosh arcsin"
    " arcsinh arctan arctan2 arctanh asin asinh atan atan2 atanh baddbmm bitwise_and bitwise_left_shift bitwise_not"
    " bitwise_or bitwise_right_shift bitwise_xor ceil celu clamp clamp_max clamp_min clip conj_physical copy copysign"
    " cos cosh cumprod cumsum deg2rad digamma div divide dropout elu embedding_renorm eq erf erfc exp exp2 expm1"
    " feature_alpha_dropout feature_dropout fix float_power floor floor_divide fmod frac gcd ge greater greater_equal"
    " gt hardtanh heaviside hypot i0 igamma igammac index_add index_copy index_fill index_put index_reduce lcm ldexp"
    " le leaky_relu lerp less less_equal lgamma log log10 log1p log2 logical_and logical_not logical_or logical_xor"
    " logit lt map map2 masked_fill masked_scatter mul multiply mvlgamma nan_to_num ne neg negative nextafter"
    " not_equal polygamma pow put rad2deg reciprocal relu remainder renorm round rrelu rsqrt scatter scatter_add"
    " scatter_reduce selu sgn sigmoid sign sin sinc sinh sqrt square sub subtract tan tanh threshold tril triu"
    " true_divide trunc xlogy"
)
FILLING = _called(
    "bernoulli cauchy constant dirac erfinv exponential eye fill fill_diagonal geometric kaiming_normal"
    " kaiming_uniform log_normal normal ones orthogonal random sparse trunc_normal uniform xavier_normal"
    " xavier_uniform zero zeros"
)
"""Methods, and functions of `nn.init`, that write without reading; every model's weights are made by them."""
IN_PLACE_WORDS = (*ARITHMETIC, *FILLING)

BY_FLAG = (
    "inplace=True", "inplace = True", "inplace: bool = True", "inplace: bool=True", '"inplace": True',
    "'inplace': True", "U(True)",
)  # fmt: skip
"""Texts of which one stands in a file that asks functions or modules to write in place: `F.relu(x, inplace=True)`,
`nn.ReLU(inplace=True)`, `nn.ReLU(True)`."""

ASSIGNING = "]= += -= *= /= |= &="
"""Companions: texts of assignments that write in place."""
