"""The small models of each package that `model_outputs` runs: a name, how to build it, how to call it.

Those of timm and transformers are chosen by the files that changed; the others are few enough to take all.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

IMAGE = 64
PER_MODULE = 4
"""Models tried of each module of timm."""

Runs = Iterator[tuple[str, Callable[[], Any], Callable[[Any], Any]]]


def of_timm(files: list[str]) -> Runs:
    import timm

    def run(model: Any) -> Any:
        return model(torch.randn(2, 3, IMAGE, IMAGE))

    for module in _timm_modules(files):
        for name in timm.list_models(module=module)[:PER_MODULE]:
            yield name, lambda name=name: timm.create_model(name), run
            yield f"{name} of {IMAGE}", lambda name=name: timm.create_model(name, img_size=IMAGE), run


def _timm_modules(files: list[str]) -> list[str]:
    """The modules of models that are among the files, or mention what those of the files define that hold layers."""
    import timm.models

    folder = Path(timm.models.__file__).parent
    texts = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
    names = re.compile(r"^(?:def|class) (\w+)", re.MULTILINE)
    among = {Path(file).stem for file in files if Path(file).parent == folder}
    layers = [Path(file) for file in files if Path(file).parent != folder]
    defined = {name for path in layers for name in names.findall(path.read_text(encoding="utf-8"))}
    mentions = re.compile(rf"\b(?:{'|'.join(sorted(defined)) or '(?!)'})\b")
    return sorted(among | {stem for stem, text in texts.items() if mentions.search(text)})


def of_torchvision(files: list[str]) -> Runs:
    from torchvision import models

    image = torch.Size((2, 3, IMAGE, IMAGE))
    calls: dict[str, Callable[[Any], Any]] = {
        "models": lambda model: model(torch.randn(image)),
        "inception": lambda model: model(torch.randn(2, 3, 96, 96)),
        "maxvit": lambda model: model(torch.randn(1, 3, 224, 224)),
        "segmentation": lambda model: model(torch.randn(image)),
        "detection": lambda model: model([torch.rand(3, IMAGE, IMAGE)]),
        "video": lambda model: model(torch.randn(1, 3, 16, 112, 112)),
        "optical_flow": lambda model: model(torch.rand(1, 3, 128, 128), torch.rand(1, 3, 128, 128), 2),
    }
    for name in models.list_models():
        build = models.get_model_builder(name)
        kind = build.__module__.split(".")[2]
        given = {"weights_backbone": None} if kind in ("detection", "segmentation") else {}
        special = next((word for word in ("inception", "maxvit") if word in name), kind)
        call = calls.get(special, calls["models"])
        yield name, lambda name=name, given=given: models.get_model(name, weights=None, **given), call


SMALL = {
    "hidden_size": 32, "d_model": 32, "n_embd": 32, "embed_dim": 32, "num_hidden_layers": 2, "n_layer": 2,
    "num_layers": 2, "encoder_layers": 2, "decoder_layers": 2, "num_attention_heads": 4, "n_head": 4, "num_heads": 4,
    "encoder_attention_heads": 4, "decoder_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
    "intermediate_size": 64, "ffn_dim": 64, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "d_ff": 64, "d_kv": 8,
    "vocab_size": 99, "max_position_embeddings": 64, "n_positions": 64, "image_size": IMAGE, "num_experts": 2,
    "num_local_experts": 2, "num_experts_per_tok": 1, "pad_token_id": 0,
}  # fmt: skip


def of_transformers(files: list[str]) -> Runs:
    from transformers import CONFIG_MAPPING, PreTrainedModel

    folders = {Path(file).parent.name for file in files if "/models/" in file}
    for name in CONFIG_MAPPING:
        folder = name.replace("-", "_")
        if folder not in folders:
            continue
        try:
            module = importlib.import_module(f"transformers.models.{folder}.modeling_{folder}")
        except ImportError:
            continue
        for kind in vars(module).values():
            own = inspect.isclass(kind) and issubclass(kind, PreTrainedModel) and kind.__module__ == module.__name__
            if own and "forward" in vars(kind):
                for labels in ("none", "tokens", "class"):
                    yield (
                        f"{kind.__name__}, labels: {labels}",
                        lambda name=name, kind=kind: kind(_small_config(CONFIG_MAPPING[name]())),
                        lambda model, labels=labels: _run_transformers(model, labels),
                    )


def _small_config(config: Any) -> Any:
    for part in [config, *(value for value in vars(config).values() if hasattr(value, "hidden_size"))]:
        for key, value in SMALL.items():
            if isinstance(getattr(part, key, None), int):
                setattr(part, key, value)
    return config


def _run_transformers(model: Any, labels: str) -> Any:
    ids = torch.arange(1, 17).reshape(2, 8)
    given = {
        "input_ids": ids,
        "decoder_input_ids": ids,
        "pixel_values": torch.randn(2, getattr(model.config, "num_channels", 3), IMAGE, IMAGE),
        "input_features": torch.randn(2, 80, 64),
        "input_values": torch.randn(2, 4000),
        "flattened_patches": torch.randn(2, 16, 770),
    }
    if labels == "tokens":
        given["labels"] = ids
    elif labels == "class":
        given |= {name: torch.zeros(2, dtype=torch.long) for name in ("labels", "start_positions", "end_positions")}
    wanted = inspect.signature(model.forward).parameters
    return list(model(**{name: value for name, value in given.items() if name in wanted}).values())


def of_open_clip(files: list[str]) -> Runs:
    from open_clip import CLIP, CoCa

    text = {"context_length": 16, "vocab_size": 99, "width": 32, "heads": 4, "layers": 2}
    plain = {"layers": 2, "width": 32, "head_width": 8, "patch_size": 16, "image_size": IMAGE}
    towers = {
        "ViT": plain,
        "ViT, pooled by attention": {**plain, "attentional_pool": True, "attn_pooler_heads": 4},
        "ResNet": {"layers": [1, 1, 1, 1], "width": 16, "image_size": IMAGE},
    }

    def run(model: Any) -> Any:
        return model(torch.randn(2, 3, IMAGE, IMAGE), torch.arange(1, 33).reshape(2, 16))

    for name, vision in towers.items():
        yield f"CLIP, {name}", lambda vision=vision: CLIP(32, vision, text), run
    pooled = {**towers["ViT, pooled by attention"], "output_tokens": True}
    captions = {**text, "embed_cls": True, "output_tokens": True}
    yield "CoCa", lambda: CoCa(32, {**text, "mlp_ratio": 4}, captions, pooled), run


def of_ultralytics(files: list[str]) -> Runs:
    import ultralytics
    from ultralytics import RTDETR, YOLO
    from ultralytics.models.sam.sam3.encoder import TransformerEncoderLayer

    configs = Path(ultralytics.__file__).parent / "cfg" / "models"
    for path in sorted(configs.rglob("*.yaml")):
        kind = RTDETR if "rtdetr" in path.name else YOLO
        yield path.stem, lambda kind=kind, path=path: kind(str(path)).model, lambda m: m(torch.rand(1, 3, IMAGE, IMAGE))

    def encoder() -> Any:
        attention = [torch.nn.MultiheadAttention(32, 4, batch_first=True) for _ in range(2)]
        return TransformerEncoderLayer(32, 64, 0.1, True, False, False, True, *attention)

    for divided in (False, True):  # its input is transposed, as behind the flattened features of an image

        def run(model: Any, divided: bool = divided) -> Any:
            tokens = torch.randn(2, 32, 9).transpose(1, 2)
            place = torch.randn(1 if divided else 2, 9, 32)
            return model(tokens, torch.randn(2, 5, 32), dac=divided, query_pos=place)

        yield f"encoder of SAM 3, divided: {divided}", encoder, run


def of_monai(files: list[str]) -> Runs:
    from monai.losses import NACLLoss
    from monai.metrics import DiceHelper
    from monai.networks import nets

    for dim in (2, 3):
        sides = (8,) * dim

        def loss(criterion: Any, sides: tuple[int, ...] = sides) -> Any:
            return criterion(torch.randn(2, 3, *sides, requires_grad=True), torch.randint(0, 3, (2, *sides)))

        for distance in ("l1", "l2"):
            name = f"NACLLoss of {dim} dimensions, {distance}"
            yield name, lambda d=distance, dim=dim: NACLLoss(classes=3, dim=dim, distance_type=d), loss

    class Dice(torch.nn.Module):
        def forward(self, predicted: Any, wanted: Any) -> Any:
            return DiceHelper(include_background=True, num_classes=3)(predicted, wanted)

    yield "Dice", Dice, lambda dice: dice(torch.randint(0, 3, (2, 1, 8, 8)), torch.randint(0, 3, (2, 1, 8, 8)))
    image = lambda model: model(torch.randn(1, 1, 64, 64))  # noqa: E731
    yield "UNet", lambda: nets.UNet(2, 1, 2, (4, 8, 16), (2, 2)), image
    yield "SwinUNETR", lambda: nets.SwinUNETR(1, 2, feature_size=12, spatial_dims=2), image
    yield "UNETR", lambda: nets.UNETR(1, 2, 64, 8, 24, 48, 4, spatial_dims=2), image
    yield "ViT", lambda: nets.ViT(1, 64, 16, 24, 48, 2, 4, spatial_dims=2), image
    yield "SegResNet", lambda: nets.SegResNet(2, 8, 1, 2), image
    yield "DenseNet", lambda: nets.DenseNet121(2, 1, 2), image


RUNS = {
    "timm": of_timm,
    "torchvision": of_torchvision,
    "transformers": of_transformers,
    "monai": of_monai,
    "ultralytics": of_ultralytics,
    "open_clip": of_open_clip,
}
