"""The sizes of a BAGEL model, and where a checkpoint says them.

A checkpoint folder holds `llm_config.json` and `vit_config.json` (Hugging Face fields). Three numbers are
taken from the tensors themselves, because published JSON files disagree with them: the vocabulary, the
number of ViT layers (the last one is cut off) and the sides of the two position tables.
A small model of ours adds `gamegen.json`: its autoencoder and the sizes it wants pictures in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from gamegen.core.errors import BadInput

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class LanguageConfig:
    """Qwen2 with query/key norms; every layer exists twice, for understanding and for generation."""

    vocab: int = 152064
    hidden: int = 3584
    layers: int = 28
    heads: int = 28
    kv_heads: int = 4
    intermediate: int = 18944
    theta: float = 1e6
    eps: float = 1e-6

    @property
    def head_dim(self) -> int:
        return self.hidden // self.heads


@dataclass(frozen=True, slots=True)
class VisionConfig:
    """SigLIP that takes pictures of any size whose sides are multiples of the patch."""

    hidden: int = 1152
    layers: int = 26
    heads: int = 16
    intermediate: int = 4304
    patch: int = 14
    side: int = 70  # rows and columns of the learned position table
    eps: float = 1e-6

    @property
    def patch_width(self) -> int:
        return 3 * self.patch**2


@dataclass(frozen=True, slots=True)
class LatentConfig:
    """Which autoencoder, and how its latent is cut into tokens."""

    kind: str = "flux"  # or "patch": lossless, for small experiments
    channels: int = 16
    downsample: int = 8
    patch: int = 2
    side: int = 64  # rows and columns of the position table, in tokens
    scale: float = 0.3611  # latents are stored as scale * (z - shift), which gives them a variance near 1
    shift: float = 0.1159

    @property
    def token_width(self) -> int:
        return self.channels * self.patch**2

    @property
    def pixels(self) -> int:
        """Side of the square of pixels behind one token."""
        return self.downsample * self.patch


@dataclass(frozen=True, slots=True)
class SizeRule:
    """How large a picture is fed: long side at most, short side at least, both multiples of the stride."""

    longest: int
    shortest: int
    stride: int


@dataclass(frozen=True, slots=True)
class BagelConfig:
    language: LanguageConfig = field(default_factory=LanguageConfig)
    vision: VisionConfig = field(default_factory=VisionConfig)
    latent: LatentConfig = field(default_factory=LatentConfig)
    vae_size: SizeRule = SizeRule(1024, 512, 16)
    vit_size: SizeRule = SizeRule(980, 378, 14)  # when editing
    vit_train_size: SizeRule = SizeRule(518, 224, 14)

    @classmethod
    def read(cls, folder: Path, shapes: Shapes) -> Self:
        """The configuration of the checkpoint in `folder`, whose tensors have these shapes."""
        own = _json(folder / "gamegen.json") if (folder / "gamegen.json").exists() else {}
        latent = LatentConfig(**own.get("latent", {}))
        return cls(
            language=_language(_json(folder / "llm_config.json"), shapes),
            vision=_vision(_json(folder / "vit_config.json"), shapes),
            latent=replace(latent, side=_side(shapes, "latent_pos_embed.pos_embed", latent.side)),
            **{name: SizeRule(**rule) for name, rule in own.get("sizes", {}).items()},
        )

    def write(self, folder: Path) -> None:
        """The three JSON files `read` wants."""
        language, vision = self.language, self.vision
        files = {
            "llm_config.json": {
                "architectures": ["Qwen2ForCausalLM"],
                "model_type": "qwen2",
                "vocab_size": language.vocab,
                "hidden_size": language.hidden,
                "num_hidden_layers": language.layers,
                "num_attention_heads": language.heads,
                "num_key_value_heads": language.kv_heads,
                "intermediate_size": language.intermediate,
                "rope_theta": language.theta,
                "rms_norm_eps": language.eps,
                "hidden_act": "silu",
                "qk_norm": True,
                "tie_word_embeddings": False,
            },
            "vit_config.json": {
                "model_type": "siglip_vision_model",
                "hidden_size": vision.hidden,
                "num_hidden_layers": vision.layers + 1,
                "num_attention_heads": vision.heads,
                "intermediate_size": vision.intermediate,
                "patch_size": vision.patch,
                "image_size": vision.patch * vision.side,
                "layer_norm_eps": vision.eps,
            },
            "gamegen.json": {
                "latent": asdict(self.latent),
                "sizes": {name: asdict(getattr(self, name)) for name in SIZES},
            },
        }
        for name, content in files.items():
            (folder / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


SIZES = ("vae_size", "vit_size", "vit_train_size")


def _language(data: Mapping[str, Any], shapes: Shapes) -> LanguageConfig:
    where = "llm_config.json"
    if data.get("rope_scaling"):
        raise BadInput(f"{where}: rope_scaling {data['rope_scaling']!r} is not supported")
    rope = data.get("rope_parameters") or {}
    theta = data.get("rope_theta", rope.get("rope_theta"))
    if theta is None:
        raise BadInput(f"{where}: expected rope_theta, found neither it nor rope_parameters.rope_theta")
    hidden, heads = _number(data, "hidden_size", where), _number(data, "num_attention_heads", where)
    if hidden % heads:
        raise BadInput(f"{where}: hidden_size {hidden} is not a multiple of num_attention_heads {heads}")
    return LanguageConfig(
        vocab=_shape(shapes, "language_model.model.embed_tokens.weight")[0],
        hidden=hidden,
        layers=_number(data, "num_hidden_layers", where),
        heads=heads,
        kv_heads=_number(data, "num_key_value_heads", where),
        intermediate=_number(data, "intermediate_size", where),
        theta=float(theta),
        eps=float(data.get("rms_norm_eps", 1e-6)),
    )


def _vision(data: Mapping[str, Any], shapes: Shapes) -> VisionConfig:
    where = "vit_config.json"
    layers = {int(name.split(".")[4]) for name in shapes if name.startswith("vit_model.vision_model.encoder.layers.")}
    declared = _number(data, "num_hidden_layers", where)
    if len(layers) not in (declared, declared - 1):
        raise BadInput(f"{where} declares {declared} layers, expected that or one fewer, found {len(layers)}")
    patch = _number(data, "patch_size", where)
    return VisionConfig(
        hidden=_number(data, "hidden_size", where),
        layers=len(layers),
        heads=_number(data, "num_attention_heads", where),
        intermediate=_number(data, "intermediate_size", where),
        patch=patch,
        side=_side(shapes, "vit_model.vision_model.embeddings.position_embedding.weight", 0),
        eps=float(data.get("layer_norm_eps", 1e-6)),
    )


def _json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(f"a BAGEL checkpoint folder needs {path.name}: not found in {path.parent}") from None
    except ValueError as error:
        raise BadInput(f"{path} is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise BadInput(f"{path}: expected a JSON object, found {type(data).__name__}")
    return data


def _number(data: Mapping[str, Any], name: str, where: str) -> int:
    value = data.get(name)
    if not isinstance(value, int) or value < 1:
        raise BadInput(f"{where}: expected {name} to be a positive whole number, found {value!r}")
    return value


def _shape(shapes: Shapes, name: str) -> tuple[int, ...]:
    if name not in shapes:
        raise BadInput(f"not a BAGEL checkpoint: tensor {name} is missing")
    return shapes[name]


def _side(shapes: Shapes, name: str, default: int) -> int:
    if default and name not in shapes:
        return default
    rows = _shape(shapes, name)[0]
    side = round(rows**0.5)
    if side * side != rows:
        raise BadInput(f"{name}: expected a square number of rows, found {rows}")
    return side
