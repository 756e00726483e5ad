"""A small checkpoint with everything a large one has, for experiments on a CPU and for tests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from edit_models.bagel.config import BagelConfig, LanguageConfig, LatentConfig, SizeRule, VisionConfig
from edit_models.bagel.model import Bagel
from edit_models.bagel.tokenizer import write_small_tokenizer


def small_config(
    *, hidden: int = 128, layers: int = 4, pixels: int = 64, patch: int = 4, vit_patch: int = 8
) -> BagelConfig:
    """Square pictures of `pixels`, drawn in tokens of 2 * patch pixels without loss; the vocabulary is set later."""
    heads = hidden // 32
    square, seen = SizeRule(pixels, pixels, 2 * patch), SizeRule(pixels, pixels, vit_patch)
    return BagelConfig(
        language=LanguageConfig(
            vocab=0,
            hidden=hidden,
            layers=layers,
            heads=heads,
            kv_heads=max(1, heads // 2),
            intermediate=hidden * 5 // 2,
            theta=1e4,
        ),
        vision=VisionConfig(
            hidden=hidden // 2,
            layers=2,
            heads=max(1, heads // 2),
            intermediate=hidden,
            patch=vit_patch,
            side=pixels // vit_patch,
        ),
        latent=LatentConfig(
            kind="patch",
            channels=3 * patch**2,
            downsample=patch,
            patch=2,
            side=pixels // (2 * patch),
            scale=2.5,  # pictures of boards are mostly background
            shift=-0.6,
        ),
        vae_size=square,
        vit_size=seen,
        vit_train_size=seen,
    )


def write_small_checkpoint(
    folder: Path, texts: Iterable[str], *, config: BagelConfig, vocab: int = 400, seed: int = 0
) -> BagelConfig:
    """Random weights, a tokenizer trained on `texts`, and the JSON files; returns the final configuration."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    size = write_small_tokenizer(folder, texts, size=vocab)
    config = replace(config, language=replace(config.language, vocab=size))
    model = Bagel(config)
    model.initialise(seed)
    save_file(model.state_dict(), folder / "model.safetensors")
    config.write(folder)
    return config
