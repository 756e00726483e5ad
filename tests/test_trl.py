"""One real step of TRL's GRPOTrainer on the CPU with our rewards."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from gamegen import create_dataset
from gamegen.adapters.trl import gamegen_dense_reward, gamegen_reward
from gamegen.reward import NEEDED

trl = pytest.importorskip("trl")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
datasets = pytest.importorskip("datasets")


def tiny_tokenizer() -> Any:
    signs = ["<pad>", "<eos>", "<unk>", *map(chr, range(32, 127))]
    model = tokenizers.models.WordLevel({sign: number for number, sign in enumerate(signs)}, unk_token="<unk>")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
    )


def test_a_step_of_grpo_learns_from_our_rewards(tmp_path: Path) -> None:
    samples = create_dataset("tictactoe", size=2, seed=1, level=1, pixels=256)
    golds = {sample.id: base64.b64encode(sample["edited_image"]).decode() for sample in samples}
    seen: dict[str, list[float | None]] = {}

    def strict(prompts: list[Any], completions: list[Any], **columns: Any) -> list[float | None]:
        seen["strict"] = gamegen_reward(prompts, completions, **columns)
        return seen["strict"]

    def dense(prompts: list[Any], completions: list[Any], **columns: Any) -> list[float | None]:
        """Every second completion is replaced by the right picture: so small a model draws none."""
        said = [f"data:image/png;base64,{golds[name]}" for name in columns["id"]]
        mixed = [gold if number % 2 else own for number, (gold, own) in enumerate(zip(said, completions, strict=True))]
        seen["dense"] = gamegen_dense_reward(prompts, mixed, **columns)
        return seen["dense"]

    config = transformers.Qwen2Config(
        vocab_size=128, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=512, pad_token_id=0, eos_token_id=1, bos_token_id=1,
    )  # fmt: skip
    rows = [{"prompt": sample.instruction, **{name: sample[name] for name in NEEDED}} for sample in samples]
    options = trl.GRPOConfig(
        output_dir=str(tmp_path), max_steps=1, per_device_train_batch_size=4, num_generations=4,
        max_completion_length=4, use_cpu=True, bf16=False,
        report_to=[], save_strategy="no", remove_unused_columns=False,
    )  # fmt: skip
    trainer = trl.GRPOTrainer(
        model=transformers.Qwen2ForCausalLM(config),
        processing_class=tiny_tokenizer(),
        reward_funcs=[strict, dense],
        args=options,
        train_dataset=datasets.Dataset.from_list(rows),
    )
    before = {name: weights.detach().clone() for name, weights in trainer.model.named_parameters()}
    trainer.train()
    assert seen == {"strict": [0.0] * 4, "dense": [0.0, 1.0, 0.0, 1.0]}
    assert any(not torch.equal(before[name], weights) for name, weights in trainer.model.named_parameters())
