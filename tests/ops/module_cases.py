"""Constructor arguments for each class of torch.nn, and shapes of inputs that it takes."""

from __future__ import annotations

from typing import Any, NamedTuple


class Case(NamedTuple):
    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    shapes: tuple[tuple[int, ...], ...]
    """One shape for each input."""


def case(name: str, *args: Any, of: tuple[int, ...] | tuple[tuple[int, ...], ...], **kwargs: Any) -> Case:
    shapes = of if of and isinstance(of[0], tuple) else (of,)
    return Case(name, args, kwargs, shapes)  # type: ignore[arg-type]


IMAGE, VOLUME, SEQUENCE, MATRIX = (2, 4, 6, 8), (2, 4, 4, 6, 4), (2, 4, 6), (3, 4)
ELEMENTWISE = """
    ReLU ReLU6 RReLU LeakyReLU ELU CELU SELU GELU SiLU Mish Hardtanh Hardswish Hardsigmoid Hardshrink Softshrink
    Softplus Softsign Sigmoid LogSigmoid Tanh Tanhshrink Identity
""".split()
CASES: list[Case] = [case(name, of=shape) for name in ELEMENTWISE for shape in (MATRIX, IMAGE)]
for _name in ("ReLU", "ReLU6", "LeakyReLU", "ELU", "SiLU", "Hardswish", "Mish", "Hardtanh"):
    CASES.append(case(_name, inplace=True, of=IMAGE))
CASES += [
    case("GELU", approximate="tanh", of=IMAGE),
    case("PReLU", of=IMAGE),
    case("PReLU", 4, of=IMAGE),
    case("Threshold", 0.1, 2.0, of=IMAGE),
    case("GLU", of=IMAGE),
    case("GLU", 1, of=IMAGE),
    case("Softmax", -1, of=IMAGE),
    case("Softmax", dim=1, of=IMAGE),
    case("Softmin", 1, of=MATRIX),
    case("LogSoftmax", 1, of=IMAGE),
    case("Softmax2d", of=IMAGE),
    case("CosineSimilarity", of=(IMAGE, IMAGE)),
    case("CosineSimilarity", dim=-1, of=(MATRIX, MATRIX)),
    case("PairwiseDistance", of=(MATRIX, MATRIX)),
    case("PairwiseDistance", keepdim=True, of=(SEQUENCE, SEQUENCE)),
    case("Linear", 4, 5, of=MATRIX),
    case("Linear", 6, 5, bias=False, of=SEQUENCE),
    case("Linear", 8, 1, of=IMAGE),
    case("Linear", 4, 5, of=(4,)),
    case("LazyLinear", 5, of=SEQUENCE),
    case("Bilinear", 4, 4, 5, of=(MATRIX, MATRIX)),
    case("Bilinear", 6, 6, 5, bias=False, of=(SEQUENCE, SEQUENCE)),
    case("Flatten", of=IMAGE),
    case("Flatten", 0, of=IMAGE),
    case("Flatten", 1, 2, of=IMAGE),
    case("Flatten", start_dim=-2, of=SEQUENCE),
    case("Unflatten", 1, (2, 2), of=IMAGE),
    case("Unflatten", -1, (2, -1), of=IMAGE),
    case("PixelShuffle", 2, of=IMAGE),
    case("PixelUnshuffle", 2, of=IMAGE),
    case("ChannelShuffle", 2, of=IMAGE),
    case("Fold", (4, 4), 2, of=(2, 12, 9)),
    case("Fold", output_size=(4, 4), kernel_size=(2, 2), stride=2, of=(2, 12, 4)),
    case("Unfold", 2, of=IMAGE),
    case("Unfold", (2, 3), padding=1, stride=2, of=IMAGE),
    case("Upsample", scale_factor=2, of=IMAGE),
    case("Upsample", size=(3, 5), mode="bilinear", of=IMAGE),
    case("Upsample", scale_factor=2, mode="bilinear", align_corners=True, of=IMAGE),
    case("Upsample", scale_factor=2, mode="linear", of=SEQUENCE),
    case("Upsample", scale_factor=2, mode="trilinear", of=VOLUME),
    case("UpsamplingNearest2d", scale_factor=2, of=IMAGE),
    case("UpsamplingBilinear2d", size=(3, 5), of=IMAGE),
]
for _name in ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"):
    _shape = {"Dropout1d": SEQUENCE, "Dropout3d": VOLUME}.get(_name, IMAGE)
    CASES += [case(_name, of=_shape), case(_name, 0.0, of=_shape)]
CASES.append(case("Dropout", 0.2, inplace=True, of=IMAGE))

for _n, _shape in ((1, SEQUENCE), (2, IMAGE), (3, VOLUME)):
    CASES += [
        case(f"Conv{_n}d", 4, 6, 3, of=_shape),
        case(f"Conv{_n}d", 4, 6, 3, padding=1, bias=False, of=_shape),
        case(f"Conv{_n}d", 4, 6, 2, stride=2, groups=2, of=_shape),
        case(f"Conv{_n}d", 4, 4, 3, padding=1, groups=4, of=_shape),
        case(f"Conv{_n}d", 4, 6, 1, of=_shape),
        case(f"Conv{_n}d", 4, 6, 3, padding="same", dilation=2, of=_shape),
        case(f"Conv{_n}d", 4, 6, 3, padding=1, padding_mode="reflect", of=_shape),
        case(f"Conv{_n}d", 4, 6, 3, padding="same", padding_mode="circular", of=_shape),
        case(f"Conv{_n}d", 4, 6, 3, of=_shape[1:]),
        case(f"LazyConv{_n}d", 6, 3, of=_shape),
        case(f"ConvTranspose{_n}d", 4, 6, 3, of=_shape),
        case(f"ConvTranspose{_n}d", 4, 6, 3, stride=2, padding=1, output_padding=1, of=_shape),
        case(f"ConvTranspose{_n}d", 4, 6, 2, groups=2, bias=False, of=_shape),
        case(f"LazyConvTranspose{_n}d", 6, 3, of=_shape),
        case(f"MaxPool{_n}d", 2, of=_shape),
        case(f"MaxPool{_n}d", 3, stride=1, padding=1, of=_shape),
        case(f"MaxPool{_n}d", 2, return_indices=True, of=_shape),
        case(f"MaxPool{_n}d", 2, of=_shape[1:]),
        case(f"MaxPool{_n}d", 3, ceil_mode=True, of=_shape),
        case(f"AvgPool{_n}d", 2, of=_shape),
        case(f"AvgPool{_n}d", 3, 1, 1, of=_shape),
        case(f"LPPool{_n}d", 2, 2, of=_shape),
        case(f"AdaptiveAvgPool{_n}d", 1, of=_shape),
        case(f"AdaptiveAvgPool{_n}d", 2, of=_shape),
        case(f"AdaptiveMaxPool{_n}d", 2, of=_shape),
        case(f"AdaptiveMaxPool{_n}d", 2, return_indices=True, of=_shape),
        case(f"BatchNorm{_n}d", 4, of=_shape),
        case(f"BatchNorm{_n}d", 4, affine=False, track_running_stats=False, of=_shape),
        case(f"LazyBatchNorm{_n}d", of=_shape),
        case(f"InstanceNorm{_n}d", 4, of=_shape),
        case(f"InstanceNorm{_n}d", 4, affine=True, of=_shape),
        case(f"InstanceNorm{_n}d", 4, of=_shape[1:]),
        case(f"LazyInstanceNorm{_n}d", of=_shape),
        case(f"ConstantPad{_n}d", 1, 3.5, of=_shape),
        case(f"ZeroPad{_n}d", 1, of=_shape),
        case(f"ZeroPad{_n}d", (1, 2) * _n, of=_shape),
        case(f"ReflectionPad{_n}d", 1, of=_shape),
        case(f"ReplicationPad{_n}d", 1, of=_shape),
        case(f"CircularPad{_n}d", 1, of=_shape),
    ]
CASES += [
    case("AdaptiveAvgPool2d", (None, 2), of=IMAGE),
    case("FractionalMaxPool2d", 2, output_size=(3, 4), of=IMAGE),
    case("FractionalMaxPool2d", 2, output_ratio=0.5, of=IMAGE),
    case("FractionalMaxPool3d", 2, output_size=2, of=VOLUME),
    case("BatchNorm1d", 4, of=MATRIX),
    case("GroupNorm", 2, 4, of=IMAGE),
    case("GroupNorm", 2, 4, affine=False, of=SEQUENCE),
    case("LayerNorm", 8, of=IMAGE),
    case("LayerNorm", (6, 8), of=IMAGE),
    case("LayerNorm", [4], elementwise_affine=False, of=MATRIX),
    case("RMSNorm", 6, of=SEQUENCE),
    case("LocalResponseNorm", 2, of=IMAGE),
    case("CrossMapLRN2d", 2, of=IMAGE),
]
for _kind in ("RNN", "GRU", "LSTM"):
    for _options in ({}, {"batch_first": True}, {"bidirectional": True}, {"num_layers": 2, "batch_first": True}):
        CASES += [case(_kind, 6, 5, of=SEQUENCE, **_options), case(_kind, 6, 5, of=(4, 6), **_options)]
    CASES += [case(f"{_kind}Cell", 4, 5, of=MATRIX), case(f"{_kind}Cell", 4, 5, bias=False, of=(4,))]
CASES += [
    case("LSTM", 6, 5, 1, True, True, proj_size=2, of=SEQUENCE),
    case("LSTM", 6, 5, 2, bidirectional=True, proj_size=2, of=SEQUENCE),
]
_QUERY, _KEY = (2, 4, 6), (2, 5, 6)
for _options in ({}, {"batch_first": True}, {"batch_first": True, "bias": False}, {"add_zero_attn": True}):
    CASES.append(case("MultiheadAttention", 6, 2, of=((2, 4, 6),) * 3, **_options))
CASES += [
    case("MultiheadAttention", 6, 3, batch_first=True, of=(_QUERY, _KEY, _KEY)),
    case("MultiheadAttention", 6, 3, add_bias_kv=True, of=((4, 2, 6), (5, 2, 6), (5, 2, 6))),
    case("MultiheadAttention", 6, 2, of=((4, 6), (5, 6), (5, 6))),
]
for _options in ({}, {"batch_first": True}, {"batch_first": True, "norm_first": True}, {"norm_first": True}):
    CASES += [
        case("TransformerEncoderLayer", 6, 2, 7, of=SEQUENCE, **_options),
        case("TransformerDecoderLayer", 6, 2, 7, of=(SEQUENCE, SEQUENCE), **_options),
    ]
CASES.append(case("Transformer", 6, 2, 1, 1, 7, batch_first=True, of=(SEQUENCE, SEQUENCE)))
for _name in ("L1Loss", "MSELoss", "SmoothL1Loss", "HuberLoss", "BCELoss", "BCEWithLogitsLoss", "KLDivLoss",
              "PoissonNLLLoss", "SoftMarginLoss", "HingeEmbeddingLoss", "MultiLabelSoftMarginLoss", "CrossEntropyLoss"):  # fmt: skip
    for _reduction in ("mean", "none"):
        CASES.append(case(_name, reduction=_reduction, of=(MATRIX, MATRIX)))
for _reduction in ("sum", "none"):
    CASES += [
        case("MarginRankingLoss", reduction=_reduction, of=((3,), (3,), (3,))),
        case("TripletMarginLoss", reduction=_reduction, of=(MATRIX, MATRIX, MATRIX)),
        case("TripletMarginWithDistanceLoss", reduction=_reduction, of=(MATRIX, MATRIX, MATRIX)),
        case("CosineEmbeddingLoss", reduction=_reduction, of=(MATRIX, MATRIX, (3,))),
        case("GaussianNLLLoss", reduction=_reduction, of=(MATRIX, MATRIX, MATRIX)),
    ]
