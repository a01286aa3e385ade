"""Elementwise operators of one, two and three operands, under all their spellings."""

from __future__ import annotations

from torchlayout.layouts import contiguous
from torchlayout.ops.table import Args, Transfer, op
from torchlayout.ops.transfers import (
    broadcast_shape,
    elementwise,
    elementwise_bool,
    elementwise_float,
    elementwise_layout,
    elementwise_untyped,
    full_precision,
    itself,
    like_input,
    numbers,
    packed_like_float,
    promoted,
    tensors,
)
from torchlayout.ops.values import Alias, Operand, Outcome, Result, Unknowable

FRESH = Alias.FRESH

# ---------------------------------------------------------------- one operand
SAME_DTYPE = """
    sgn conj_physical bitwise_not ceil floor frac neg negative trunc fix sign positive
""".split()
FLOAT_RESULT = """
    acos arccos acosh arccosh asin arcsin asinh arcsinh atan arctan atanh arctanh cos cosh deg2rad rad2deg digamma erf
    erfc erfinv exp exp2 expm1 i0 lgamma log log10 log1p log2 reciprocal rsqrt sigmoid sin sinc sinh sqrt tan tanh
""".split()
BOOL_RESULT = "isfinite isinf isnan isneginf isposinf isreal logical_not signbit".split()
SPECIAL_UNARY = """
    airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammaln i0 i0e
    i1 i1e log1p log_ndtr modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 ndtr ndtri psi
    scaled_modified_bessel_k0 scaled_modified_bessel_k1 sinc spherical_bessel_j0
""".split()


def positive(args: Args) -> Outcome:
    """the tensor itself"""
    return itself(args)


def conj_physical(args: Args) -> Outcome:
    """the tensor itself where it is real, else elementwise"""
    dtype = args.operand().dtype
    if dtype is None:
        raise Unknowable("real or complex is not known")
    return elementwise(args) if dtype.is_complex else itself(args)


def frexp(args: Args) -> Outcome:
    """two tensors, each elementwise"""
    layout = elementwise_layout([args["self"]], args.facts)
    return Result(layout, args.operand().dtype), Result(layout)


INTEGERS_ONLY = "x.to(torch.int32)"
"""What operators on bits are tried on."""


def _unary(name: str, transfer: Transfer) -> None:
    owner = INTEGERS_ONLY if name == "bitwise_not" else "x"
    op(f"{name}(Tensor self) -> Tensor", alias=FRESH, layout=transfer, example=f"{owner}.{name}()")


for _name in SAME_DTYPE:
    if _name not in ("positive", "conj_physical", "round"):
        _unary(_name, elementwise)
for _name in FLOAT_RESULT:
    _unary(_name, elementwise_float)
for _name in BOOL_RESULT:
    _unary(_name, elementwise_bool)
for _name in ("abs", "absolute", "angle", "square"):
    _unary(_name, elementwise_untyped)
for _name in SPECIAL_UNARY:
    op(f"special_{_name}(Tensor self) -> Tensor", alias=FRESH, layout=elementwise_float, example=f"torch.special.{_name}(x)",
       spellings=(f"torch.special.{_name}",))  # fmt: skip

# fmt: off
op("positive(Tensor(a) self) -> Tensor(a)", alias=Alias.VIEW, layout=positive, example="torch.positive(x)")
op("conj_physical(Tensor self) -> Tensor", alias=Alias.MAYBE_VIEW, layout=conj_physical, example="torch.conj_physical(x)", unknown="complex or real decides whether it copies")
QUANTIZED = "int quant_min, int quant_max) -> Tensor"
for _name, _more, _call in (
    ("fake_quantize_per_tensor_affine", "float scale, int zero_point", "0.1, 0"),
    ("fake_quantize_per_tensor_affine.tensor_qparams", "Tensor scale, Tensor zero_point", "torch.tensor(0.1), torch.tensor(0)"),
    ("fake_quantize_per_channel_affine", "Tensor scale, Tensor zero_point, int axis", "torch.ones(x.size(0)), torch.zeros(x.size(0)), 0"),
):  # fmt: skip
    op(f"{_name}(Tensor self, {_more}, {QUANTIZED}", alias=FRESH, layout=like_input, example=f"torch.{_name.partition('.')[0]}(x, {_call}, 0, 255)")
op("round(Tensor self, *, int decimals=0) -> Tensor", alias=FRESH, layout=elementwise, example="x.round(decimals=2)", spellings=("torch.special.round",))
op("frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)", alias=FRESH, layout=frexp, example="x.frexp()")
op("logit(Tensor self, float? eps=None) -> Tensor", alias=FRESH, layout=elementwise_float, example="x.logit()", spellings=("torch.special.logit",))
op("nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor", alias=FRESH, layout=elementwise, example="x.nan_to_num()")
op("mvlgamma(Tensor self, int p) -> Tensor", alias=FRESH, layout=packed_like_float, example="(x + 9).mvlgamma(2)", spellings=("torch.special.multigammaln",))
op("polygamma(int n, Tensor self) -> Tensor", alias=FRESH, layout=elementwise_float, example="torch.polygamma(1, x)", spellings=("torch.special.polygamma",))
op("polygamma.method(Tensor self, int n) -> Tensor", alias=FRESH, layout=elementwise_float, example="x.polygamma(1)")
op("fill.Scalar(Tensor self, Scalar value) -> Tensor", alias=FRESH, layout=elementwise, example="torch.fill(x, 1)")
# fmt: on


# ---------------------------------------------------------------- two operands
def elementwise_swapped(args: Args) -> Outcome:
    """sizes broadcast; strides in the operands' order, the second one first, without their gaps"""
    values = tensors(args)[::-1]
    return Result(elementwise_layout(values, args.facts), promoted([*values, *numbers(args)]))


def packed_second(args: Args) -> Outcome:
    """sizes of the tensor, packed (contiguous whatever came in)"""
    exponent = args.operand("exponent")
    dtype = exponent.dtype if args.op.name == "pow" else None
    return Result(
        contiguous(args.layout("exponent").shape),
        full_precision(promoted([Operand(exponent.layout, dtype), *numbers(args)])),
    )


def ldexp(args: Args) -> Outcome:
    """as `self * 2**other`: sizes broadcast; strides in the operands' order, without their gaps"""
    power = Operand(contiguous(args.layout("other").shape))
    return Result(elementwise_layout([args["self"], power], args.facts))


WITH_NUMBERS: dict[str, str] = {
    "add": ", *, Scalar alpha=1", "sub": ", *, Scalar alpha=1", "subtract": ", *, Scalar alpha=1", "mul": "",
    "multiply": "", "fmod": "", "remainder": "", "bitwise_and": "",
    "bitwise_or": "", "bitwise_xor": "", "bitwise_left_shift": "", "bitwise_right_shift": "", "__and__": "", "__or__": "",
    "__xor__": "", "__lshift__": "", "__rshift__": "", "floor_divide": "",
}  # fmt: skip
FLOAT_WITH_NUMBERS = {"div": ", *, str? rounding_mode=None", "divide": ", *, str? rounding_mode=None",
                      "true_divide": "", "xlogy": "", "copysign": ""}  # fmt: skip
COMPARISONS = "eq ne lt le gt ge not_equal less less_equal greater greater_equal".split()
TENSORS_ONLY = "fmax fmin gcd lcm heaviside maximum minimum nextafter hypot".split()
FLOAT_TENSORS_ONLY = "atan2 arctan2 igamma igammac logaddexp logaddexp2".split()
POLYNOMIALS = """
    chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w hermite_polynomial_h
    hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p shifted_chebyshev_polynomial_t
    shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w
""".split()


TENSOR_FIRST = "fmod copysign rsub __and__ __or__ __xor__ __lshift__ __rshift__".split() + COMPARISONS
"""These take a number only as the second operand."""


def _binary(name: str, more: str, transfer: Transfer, owner: str = "x", second: str = "other") -> None:
    """The overloads for two tensors, for a tensor and a number, and for a number and a tensor."""
    both = f"{owner}.{name}({owner})" if name != "rsub" else "torch.rsub(x, x)"
    number = f"{owner}.{name}(2)" if name != "rsub" else "torch.rsub(x, 2)"
    op(f"{name}.Tensor(Tensor self, Tensor {second}{more}) -> Tensor", alias=FRESH, layout=transfer, example=both)
    op(f"{name}.Scalar(Tensor self, Scalar {second}{more}) -> Tensor", alias=FRESH, layout=transfer, example=number)
    if name not in TENSOR_FIRST:
        packs = packed_second if second == "exponent" else transfer
        op(
            f"{name}.Scalar_Tensor(Scalar self, Tensor {second}{more}) -> Tensor",
            alias=FRESH,
            layout=packs,
            example=f"torch.{name}(2, {owner})",
        )


def _special_binary(name: str, first: str, second: str) -> None:
    path = f"torch.special.{name}"
    for left, right, call in (("Tensor", "Tensor", "x, x"), ("Tensor", "Scalar", "x, 2"), ("Scalar", "Tensor", "2, x")):
        op(
            f"special_{name}.{left}_{right}({left} {first}, {right} {second}) -> Tensor",
            alias=FRESH,
            layout=elementwise_float,
            example=f"{path}({call})",
            spellings=(path,),
        )


for _name, _more in WITH_NUMBERS.items():
    _binary(_name, _more, elementwise, INTEGERS_ONLY if _name.startswith(("bitwise_", "__")) else "x")
_binary("rsub", ", *, Scalar alpha=1", elementwise_swapped)
for _name, _more in FLOAT_WITH_NUMBERS.items():
    _binary(_name, _more, elementwise_float)
for _name in COMPARISONS:
    _binary(_name, "", elementwise_bool)
_binary("pow", "", elementwise_float, second="exponent")
_binary("float_power", "", elementwise_untyped, second="exponent")
for _name in ("xlog1py", "xlogy", "zeta"):
    _special_binary(_name, "self", "other")
for _name in POLYNOMIALS:
    _special_binary(_name, "x", "n")
for _name in TENSORS_ONLY + FLOAT_TENSORS_ONLY:
    op(f"{_name}(Tensor self, Tensor other) -> Tensor", alias=FRESH, layout=elementwise if _name in TENSORS_ONLY else elementwise_float,
       example=f"torch.{_name}(x, x.clone())" if _name not in ("gcd", "lcm") else f"{INTEGERS_ONLY}.{_name}(x.to(torch.int32))")  # fmt: skip
for _name in ("gammainc", "gammaincc"):
    op(f"special_{_name}(Tensor self, Tensor other) -> Tensor", alias=FRESH, layout=elementwise_float,
       example=f"torch.special.{_name}(x, x)", spellings=(f"torch.special.{_name}",))  # fmt: skip
for _name in ("logical_and", "logical_or", "logical_xor"):
    op(f"{_name}(Tensor self, Tensor other) -> Tensor", alias=FRESH, layout=elementwise_bool, example=f"x.{_name}(x)")


def masked_fill(args: Args) -> Outcome:
    """sizes broadcast with the mask's, packed (contiguous whatever came in)"""
    operand, mask = args.operand(), args["mask"]
    shape = args.layout().shape
    if isinstance(mask, Operand):
        found = broadcast_shape([shape, args.layout("mask").shape], args.facts)
        if found is None and not args.facts.assumed:
            raise Unknowable("the mask may enlarge the tensor")
        shape = shape if found is None else found
    elif not args.facts.assumed:
        raise Unknowable("the mask is not known")
    return Result(contiguous(shape), operand.dtype)


# fmt: off
op("ldexp.Tensor(Tensor self, Tensor other) -> Tensor", alias=FRESH, layout=ldexp, example="torch.ldexp(x, torch.ones_like(x))")
op("isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor", alias=FRESH, layout=elementwise_bool, example="x.isclose(x.clone())")
op("masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor", alias=FRESH, layout=masked_fill, example="x.masked_fill(x > 0.5, 0)")
op("masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor", alias=FRESH, layout=masked_fill, example="x.masked_fill(x > 0.5, torch.tensor(0.0))")
# fmt: on


# ---------------------------------------------------------------- three operands
def clamped(args: Args) -> Outcome:
    """sizes broadcast; strides in the operands' order, without their gaps"""
    values = [value for value in tensors(args) if value is not None]
    return Result(elementwise_layout(values, args.facts), promoted([*values, *numbers(args)]))


def lerped(args: Args) -> Outcome:
    """sizes broadcast; strides in the operands' order, without their gaps"""
    values = [args["self"], args["end"], args["weight"]]
    return Result(elementwise_layout(values, args.facts), promoted(values[:2]))


def chosen(args: Args) -> Outcome:
    """sizes broadcast; strides in the operands' order, without their gaps"""
    values = [args[name] for name in ("condition", "self", "other")]
    picked = [*values[1:], *numbers(args)]
    return Result(elementwise_layout(values, args.facts), promoted(picked))


WHERE = ("torch.where",)
"""The function takes the condition first, the method the tensor; so each has rows of its own."""

# fmt: off
op("lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor", alias=FRESH, layout=lerped, example="x.lerp(x + 1, x.clone())")
op("lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor", alias=FRESH, layout=lerped, example="x.lerp(x + 1, 0.5)")
op("addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", alias=FRESH, layout=elementwise, example="x.addcmul(x, x)")
op("addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", alias=FRESH, layout=elementwise, example="x.addcdiv(x, x)")
op("where.method(Tensor self, Tensor condition, Tensor other) -> Tensor", alias=FRESH, layout=chosen, example="x.where(x > 0.5, x.clone())")
op("where.method_number(Tensor self, Tensor condition, Scalar other) -> Tensor", alias=FRESH, layout=chosen, example="x.where(x > 0.5, 0.0)")
op("where.self(Tensor condition, Tensor self, Tensor other) -> Tensor", alias=FRESH, layout=chosen, example="torch.where(x > 0.5, x, x.clone())", spellings=WHERE)
op("where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor", alias=FRESH, layout=chosen, example="torch.where(x > 0.5, x, 0.0)", spellings=WHERE)
op("where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor", alias=FRESH, layout=chosen, example="torch.where(x > 0.5, 0.0, x)", spellings=WHERE)
op("where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor", alias=FRESH, layout=chosen, example="torch.where(x > 0.5, 0.0, 1.0)", spellings=WHERE)
for _name in ("clamp", "clip"):
    op(f"{_name}.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", alias=FRESH, layout=clamped, example=f"x.{_name}(x - 1, x + 1)")
    op(f"{_name}(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", alias=FRESH, layout=clamped, example=f"x.{_name}(0, 1)")
for _bound in ("min", "max"):
    op(f"clamp_{_bound}.Tensor(Tensor self, Tensor {_bound}) -> Tensor", alias=FRESH, layout=clamped, example=f"x.clamp_{_bound}(x)")
    op(f"clamp_{_bound}(Tensor self, Scalar {_bound}) -> Tensor", alias=FRESH, layout=clamped, example=f"x.clamp_{_bound}(0)")
# fmt: on
