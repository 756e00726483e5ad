"""The training script on a tiny model: continues exactly, normalises over the whole update, exports what it learned."""

from __future__ import annotations

import json
import shutil
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from edit_models.bagel.checkpoint import export, read_save, saves
from edit_models.bagel.loading import Checkpoint
from edit_models.bagel.recipe import Recipe
from edit_models.bagel.train import train
from gamegen.core.errors import BadInput, GamegenError


@pytest.fixture
def recipe(tiny_folder: Path, board_data: Path, tmp_path: Path) -> Recipe:
    return Recipe(
        data=str(board_data),
        model=str(tiny_folder),
        out=str(tmp_path / "run"),
        steps=6,
        warmup=2,
        lr=1e-3,
        tokens=260,
        dtype="fp32",
        save_every=3,
        keep=9,
        seed=3,
    )


def tensors(run: Path | str, step: int) -> dict[str, torch.Tensor]:
    folder = Path(run) / "checkpoints" / f"{step:07d}"
    return {f"{part}.{name}": value for part in ("model", "adam", "ema") for name, value in read_save(folder, part)}


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def losses(run: Path | str) -> list[tuple[float, float]]:
    lines = (Path(run) / "log.jsonl").read_text().splitlines()
    return [(line["text_loss"], line["image_loss"]) for line in map(json.loads, lines) if "text_loss" in line]


def test_a_resumed_run_equals_an_uninterrupted_one_bit_for_bit(recipe: Recipe, tmp_path: Path) -> None:
    straight = train(recipe)
    broken = tmp_path / "broken"
    shutil.copytree(straight, broken)
    shutil.rmtree(broken / "checkpoints" / "0000006")
    train(replace(recipe, out=str(broken)))
    assert [path.name for path in saves(broken / "checkpoints")] == ["0000003", "0000006"]
    a, b = tensors(straight, 6), tensors(broken, 6)
    assert len(a) > 400 and same(a, b)
    assert not same(a, tensors(straight, 3))
    assert losses(straight) == losses(broken) and len(losses(broken)) == 6
    stored = [json.loads((run / "checkpoints/0000006/rank-0.json").read_text()) for run in (straight, broken)]
    assert stored[0] == stored[1] and stored[0]["data"]["next_row"] > 6


def test_a_run_is_not_continued_with_another_recipe(recipe: Recipe) -> None:
    train(replace(recipe, steps=1))
    with pytest.raises(BadInput, match=r"lr 0\.001 -> 0\.5"):
        train(replace(recipe, steps=1, lr=0.5))
    train(replace(recipe, steps=1, keep=1))


def test_accumulated_packs_weigh_every_token_the_same(recipe: Recipe) -> None:
    """The same samples in one large pack or in several small ones give the same update, though their sizes differ."""
    # Three rows fit a pack of 800 tokens; with 260 they come one by one. A mean of their means would differ.
    one = replace(recipe, steps=1, warmup=0, ema=0.0, tokens=800, out=recipe.out + "-one")
    first = train(one)
    rows = json.loads((first / "checkpoints/0000001/rank-0.json").read_text())["data"]
    used = rows["next_row"] - len(rows["waiting"])
    several = train(replace(one, tokens=260, accumulate=used, out=recipe.out + "-several"))
    again = json.loads((several / "checkpoints/0000001/rank-0.json").read_text())["data"]
    assert (again["next_row"] - len(again["waiting"])) == used > 1
    a, b = tensors(first, 1), tensors(several, 1)
    assert losses(first)[0] == pytest.approx(losses(several)[0], rel=1e-5)
    moments = [name for name in a if name.endswith("exp_avg")]
    assert all(torch.allclose(a[name], b[name], atol=1e-6) for name in moments)


def test_export_is_a_checkpoint_with_the_averaged_or_the_last_weights(recipe: Recipe, tmp_path: Path) -> None:
    run = train(recipe)
    averaged = export(run, tmp_path / "out")
    last = export(run, tmp_path / "last", ema=False, dtype=torch.bfloat16)
    assert (averaged.name, last.name) == ("ema.safetensors", "model.safetensors")
    base = Checkpoint(Path(recipe.model))
    assert load_file(averaged).keys() == base.tensors.keys()
    new = Checkpoint(tmp_path / "out").model()
    stored = tensors(run, 6)
    assert all(torch.equal(p, stored[f"ema.{name}"]) for name, p in new.named_parameters())
    assert not torch.equal(new.llm2vae.weight, base.model().llm2vae.weight)
    half = Checkpoint(tmp_path / "last").model()
    assert torch.equal(half.llm2vae.weight, stored["model.llm2vae.weight"].bfloat16())
    with pytest.raises(BadInput, match="no save of step 77"):
        export(run, tmp_path / "never", step=77)


def test_the_average_follows_the_weights(recipe: Recipe) -> None:
    """Replays the average by hand from saves of every step."""
    run = train(replace(recipe, steps=3, save_every=1, ema=0.2))
    name = "llm2vae.weight"
    expected = Checkpoint(Path(recipe.model)).model().llm2vae.weight.detach()
    for step in (1, 2, 3):
        decay = min(0.2, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * tensors(run, step)[f"model.{name}"]
    assert torch.allclose(tensors(run, 3)[f"ema.{name}"], expected, atol=1e-7)


def test_lora_trains_only_thin_matrices_and_merges_on_export(recipe: Recipe, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    run = train(replace(recipe, steps=3, lora=2, lr=1e-2, ema=0.0))
    names = {name for name in tensors(run, 3) if name.startswith("model.")}
    assert names and all(".lora_" in name for name in names)
    export(run, tmp_path / "merged")
    base, new = Checkpoint(Path(recipe.model)).model(), Checkpoint(tmp_path / "merged").model()
    weights = tensors(run, 3)
    stem = "language_model.model.layers.0.mlp_moe_gen.up_proj"
    product = weights[f"model.{stem}.lora_B.default.weight"] @ weights[f"model.{stem}.lora_A.default.weight"]
    changed = new.get_parameter(f"{stem}.weight") - base.get_parameter(f"{stem}.weight")
    assert torch.allclose(changed, 2 * product, atol=1e-6)
    assert torch.equal(new.llm2vae.weight, base.llm2vae.weight)


def test_frozen_groups_stay(recipe: Recipe, tmp_path: Path) -> None:
    run = train(replace(recipe, steps=2, warmup=0, freeze="vision,words"))
    export(run, tmp_path / "out")
    base, new = Checkpoint(Path(recipe.model)).model(), Checkpoint(tmp_path / "out").model()
    moved = {name for name, p in new.named_parameters() if not torch.equal(p, base.get_parameter(name))}
    assert not [name for name in moved if name.startswith(("vit_model", "connector")) or "embed_tokens" in name]
    assert "language_model.model.layers.1.mlp.up_proj.weight" in moved
    with pytest.raises(BadInput, match="did you mean 'vision'"):
        train(replace(recipe, out=recipe.out + "-x", freeze="vison"))


def test_rows_without_reasoning_train_the_picture_alone(recipe: Recipe, board_data: Path, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    table = pq.read_table(board_data / "b.parquet").drop_columns(["reasoning"])
    (tmp_path / "plain").mkdir()
    pq.write_table(table, tmp_path / "plain" / "rows.parquet")
    run = train(replace(recipe, data=str(tmp_path / "plain"), steps=2))
    assert all(text == 0 and image > 0 for text, image in losses(run))


def test_half_precision_learns_too(recipe: Recipe, portable_kernels: None) -> None:
    full = losses(train(replace(recipe, out=recipe.out + "-32", steps=4)))
    half = losses(train(replace(recipe, dtype="bf16", steps=4)))
    for (a, b), (c, d) in zip(full, half, strict=True):
        assert (c, d) == pytest.approx((a, b), rel=0.02)


def test_a_request_to_stop_saves_first(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    import edit_models.bagel.train as script

    monkeypatch.setattr(script, "polite_stop", lambda: nullcontext([15]))
    run = train(recipe)
    assert [path.name for path in saves(run / "checkpoints")] == ["0000001"]


def test_rows_that_cannot_be_judged_are_refused_at_the_start(recipe: Recipe) -> None:
    with pytest.raises(BadInput, match="no task column"):
        train(replace(recipe, sample_every=1))


def test_a_gradient_that_is_not_finite_stops_the_run(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    import edit_models.bagel.train as script

    monkeypatch.setattr(script, "flow_loss", lambda velocity, wanted: velocity.sum() * float("nan"))
    with pytest.raises(GamegenError, match="update 0 is not finite"):
        train(recipe)
