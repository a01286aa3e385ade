"""Run small models of a package and print a digest of what each computes; run as a script by test_models_stay.

    python model_outputs.py PACKAGE FILE... < /dev/null

prints {"outputs": {model: digest}, "lines": {FILE: [line, ...]}}: the lines of the named files that ran. Weights are
random from a fixed seed. Models that are large, or that do not run on these inputs, are left out.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

MAX_PARAMETERS = 40_000_000
IMAGE = 64
PER_MODULE = 4
"""Models tried of each module of timm."""

Build = Callable[[], Any]
Runs = Iterator[tuple[str, Build, Callable[[Any], Any]]]


def main(package: str, files: list[str]) -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True, warn_only=True)
    lines: dict[str, set[int]] = defaultdict(set)
    _with_operators_of_torchvision()
    sys.settrace(_tracer(set(files), lines))
    outputs = {}
    for name, build, run in RUNS[package](files):
        try:
            with torch.device("meta"):
                if sum(p.numel() for p in build().parameters()) > MAX_PARAMETERS:
                    continue
            torch.manual_seed(0)
            model = build().eval()
            result = run(model)
            loss = sum(t.float().sum() for t in tensors(result) if t.is_floating_point() and t.requires_grad)
            if isinstance(loss, torch.Tensor):
                loss.backward()
            gradients = [p.grad for p in model.parameters() if p.grad is not None]
            outputs[name] = digest([*tensors(result), *gradients])
        except Exception:  # a model that needs other inputs
            continue
    sys.settrace(None)
    print(json.dumps({"outputs": outputs, "lines": {file: sorted(found) for file, found in lines.items()}}))


def _with_operators_of_torchvision() -> None:
    """Let torchvision be imported with another torch than it was built for: its own operators are not needed."""
    while True:
        try:
            importlib.import_module("torchvision")
            return
        except ImportError:
            return
        except RuntimeError as error:
            missing = re.search(r"operator (torchvision::\w+) does not exist", str(error))
            if missing is None:
                raise
            torch.library.define(missing[1], "(Tensor x) -> Tensor")
            for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
                del sys.modules[name]


def _tracer(files: set[str], lines: dict[str, set[int]]) -> Any:
    def local(frame: Any, event: str, argument: Any) -> Any:
        if event == "line":
            lines[frame.f_code.co_filename].add(frame.f_lineno)
        return local

    def begin(frame: Any, event: str, argument: Any) -> Any:
        return local if frame.f_code.co_filename in files else None

    return begin


def tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors(item)
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors(item)


def digest(values: list[torch.Tensor]) -> str:
    """Of the bits, shapes and dtypes; not of the strides, which a fix may change."""
    found = hashlib.sha256()
    for value in values:
        found.update(repr((tuple(value.shape), value.dtype)).encode())
        found.update(value.detach().contiguous().view(torch.uint8).numpy().tobytes() if value.numel() else b"")
    return found.hexdigest()


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

    for name in models.list_models():
        yield (
            name,
            lambda name=name: models.get_model(name, weights=None),
            lambda model: model(torch.randn(2, 3, IMAGE, IMAGE)),
        )


SMALL = {
    "hidden_size": 32, "d_model": 32, "n_embd": 32, "embed_dim": 32, "num_hidden_layers": 2, "n_layer": 2,
    "num_layers": 2, "encoder_layers": 2, "decoder_layers": 2, "num_attention_heads": 4, "n_head": 4, "num_heads": 4,
    "encoder_attention_heads": 4, "decoder_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
    "intermediate_size": 64, "ffn_dim": 64, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "d_ff": 64, "d_kv": 8,
    "vocab_size": 99, "max_position_embeddings": 64, "n_positions": 64, "image_size": IMAGE, "num_experts": 2,
    "num_local_experts": 2, "num_experts_per_tok": 1, "pad_token_id": 0,
}  # fmt: skip


def of_transformers(files: list[str]) -> Runs:
    from transformers import CONFIG_MAPPING, AutoModel

    folders = {file.split("/models/")[1].split("/")[0] for file in files if "/models/" in file}
    for name in CONFIG_MAPPING:
        if name.replace("-", "_") not in folders:
            continue
        for sizes in (SMALL, {"num_hidden_layers": 2}):

            def build(name: str = name, sizes: dict[str, Any] = sizes) -> Any:
                config = CONFIG_MAPPING[name]()
                for part in [config, *(v for v in vars(config).values() if hasattr(v, "hidden_size"))]:
                    for key, value in sizes.items():
                        if isinstance(getattr(part, key, None), int):
                            setattr(part, key, value)
                return AutoModel.from_config(config)

            yield f"{name} {len(sizes)}", build, _run_transformers


def _run_transformers(model: Any) -> Any:
    ids = torch.arange(1, 17).reshape(2, 8)
    channels = getattr(model.config, "num_channels", 3)
    pixels = torch.randn(2, channels, IMAGE, IMAGE)
    given = {
        "input_ids": lambda: model(
            input_ids=ids, **({"decoder_input_ids": ids} if model.config.is_encoder_decoder else {})
        ),
        "pixel_values": lambda: model(pixel_values=pixels),
        "input_features": lambda: model(input_features=torch.randn(2, 80, 64)),
        "input_values": lambda: model(input_values=torch.randn(2, 4000)),
    }
    return list(given[model.main_input_name]().values())


def of_monai(files: list[str]) -> Runs:
    from monai.losses import NACLLoss
    from monai.networks import nets

    def loss(criterion: Any) -> Any:
        return criterion(torch.randn(2, 3, 16, 16, requires_grad=True), torch.randint(0, 3, (2, 16, 16)))

    for distance in ("l1", "l2"):
        yield f"NACLLoss {distance}", lambda d=distance: NACLLoss(classes=3, dim=2, distance_type=d), loss
    image = lambda model: model(torch.randn(1, 1, 64, 64))  # noqa: E731
    yield "UNet", lambda: nets.UNet(2, 1, 2, (4, 8, 16), (2, 2)), image
    yield "SwinUNETR", lambda: nets.SwinUNETR(1, 2, feature_size=12, spatial_dims=2), image
    yield "UNETR", lambda: nets.UNETR(1, 2, 64, 8, 24, 48, 4, spatial_dims=2), image
    yield "ViT", lambda: nets.ViT(1, 64, 16, 24, 48, 2, 4, spatial_dims=2), image
    yield "SegResNet", lambda: nets.SegResNet(2, 8, 1, 2), image
    yield "DenseNet", lambda: nets.DenseNet121(2, 1, 2), image


RUNS = {"timm": of_timm, "torchvision": of_torchvision, "transformers": of_transformers, "monai": of_monai}

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
