"""The full model, built without memory, has exactly the tensors of the public BAGEL-7B-MoT checkpoint."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

import torch

from edit_models.bagel.autoencoder import diffusers_name, flux_skeleton
from edit_models.bagel.config import BagelConfig, LatentConfig
from edit_models.bagel.model import Bagel

KEYS = json.loads((Path(__file__).parent / "keys.json").read_text(encoding="utf-8"))


def test_model_names_and_shapes() -> None:
    with torch.device("meta"):
        state = Bagel(BagelConfig()).state_dict()
    found: dict[str, list[list[int]]] = defaultdict(list)
    for name, tensor in state.items():
        found[re.sub(r"layers\.\d+\.", "layers.*.", name)].append(list(tensor.shape))
    assert found == {name: [shape] * count for name, (count, shape) in KEYS["model"].items()}
    assert len(state) == 1223
    assert sum(tensor.numel() for tensor in state.values()) == 14_607_260_128


def test_autoencoder_names_and_shapes() -> None:
    expected = flux_skeleton(LatentConfig()).state_dict()
    renamed = {diffusers_name(name): shape for name, shape in KEYS["autoencoder"].items()}
    assert len(KEYS["autoencoder"]) == len(renamed) == 244
    assert renamed.keys() == expected.keys()
    for name, shape in renamed.items():
        squeezed = shape[:2] if shape[2:] == [1, 1] and expected[name].ndim == 2 else shape
        assert squeezed == list(expected[name].shape), name
