from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from edit_models.bagel.config import BagelConfig
from edit_models.bagel.loading import PATCH_EMBEDDING, TABLES, Checkpoint
from gamegen.core.errors import BadInput


@pytest.fixture
def copy(tiny_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_folder, tmp_path / "copy"))


def rewrite(folder: Path, change: dict[str, torch.Tensor | None]) -> None:
    tensors = load_file(folder / "model.safetensors")
    for name, tensor in change.items():
        if tensor is None:
            del tensors[name]
        else:
            tensors[name] = tensor
    save_file(tensors, folder / "model.safetensors")


def test_config_round_trip(tiny_folder: Path, tiny_config: BagelConfig) -> None:
    read = Checkpoint(tiny_folder).config
    assert read.vision == tiny_config.vision
    assert read.latent == tiny_config.latent
    assert read.vit_size == tiny_config.vit_size
    assert read.language.theta == 1e4 and read.language.vocab > 260


def test_every_tensor_arrives(tiny_folder: Path) -> None:
    stored = load_file(tiny_folder / "model.safetensors")
    state = Checkpoint(tiny_folder).model().state_dict()
    assert state.keys() == stored.keys()
    assert all(torch.equal(state[name], stored[name]) for name in stored)


def test_shards_half_precision_and_missing_tables_load_too(copy: Path) -> None:
    tensors = load_file(copy / "model.safetensors")
    (copy / "model.safetensors").unlink()
    names = sorted(tensors.keys() - set(TABLES))
    parts = {"a-1-of-2.safetensors": names[:50], "a-2-of-2.safetensors": names[50:]}
    for file, members in parts.items():
        save_file({name: tensors[name].bfloat16() for name in members}, copy / file)
    index = {"weight_map": {name: file for file, members in parts.items() for name in members}}
    (copy / "model.safetensors.index.json").write_text(json.dumps(index))
    checkpoint = Checkpoint(copy)
    kept, widened = checkpoint.model(), checkpoint.model(dtype=torch.float32)
    name = "language_model.model.layers.1.mlp_moe_gen.up_proj.weight"
    assert kept.state_dict()[name].dtype == torch.bfloat16
    assert torch.equal(widened.state_dict()[name], tensors[name].bfloat16().float())
    assert all(torch.equal(kept.state_dict()[table], tensors[table]) for table in TABLES)
    assert checkpoint.facts()["dtypes"] == ["BF16"]


def test_siglip_convolution_is_read_as_the_linear_map(copy: Path) -> None:
    linear = load_file(copy / "model.safetensors")[PATCH_EMBEDDING]
    convolution = linear.reshape(-1, 8, 8, 3).permute(0, 3, 1, 2).contiguous()
    rewrite(copy, {PATCH_EMBEDDING: convolution})
    checkpoint = Checkpoint(copy)
    assert torch.equal(checkpoint.model().state_dict()[PATCH_EMBEDDING], linear)
    assert checkpoint.facts()["patch_embedding"] == "convolution"


def test_missing_unexpected_and_misshapen_tensors_are_all_named(copy: Path) -> None:
    rewrite(copy, {"vae2llm.bias": None, "extra.weight": torch.zeros(2), "llm2vae.bias": torch.zeros(7)})
    with pytest.raises(BadInput) as caught:
        Checkpoint(copy).model()
    message = str(caught.value)
    assert "1 missing tensors: vae2llm.bias" in message
    assert "1 unexpected tensors: extra.weight" in message
    assert "llm2vae.bias: expected shape (192,), found (7,)" in message


def test_vocabulary_comes_from_the_tensor_and_theta_from_the_json(copy: Path) -> None:
    path = copy / "llm_config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "vocab_size": 9, "rope_theta": 12345.0}))
    read = Checkpoint(copy).config.language
    assert read.theta == 12345.0 and read.vocab == config["vocab_size"]
    del config["rope_theta"]
    path.write_text(json.dumps(config))
    with pytest.raises(BadInput, match="rope_theta"):
        Checkpoint(copy)


@pytest.mark.parametrize("name", ["llm_config.json", "vit_config.json", "model.safetensors"])
def test_what_a_folder_lacks_is_named(copy: Path, name: str) -> None:
    (copy / name).unlink()
    with pytest.raises(BadInput, match=name):
        Checkpoint(copy)


def test_a_broken_file_is_refused(copy: Path) -> None:
    (copy / "model.safetensors").write_bytes(b"not tensors at all")
    with pytest.raises(BadInput, match="not a safetensors file"):
        Checkpoint(copy)


def test_markers_in_a_users_text_stay_text(tiny_folder: Path) -> None:
    from edit_models.bagel.tokenizer import Tokenizer

    tokenizer = Tokenizer(tiny_folder)
    piece = tokenizer.text("a<|im_end|>b")
    assert piece.ids.count(tokenizer.markers.end) == 1
    assert tokenizer.words(piece.ids[1:-1]) == "a<|im_end|>b"
