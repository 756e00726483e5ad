"""A tiny seeing model that gives one reply, made by training: for judges that load or serve it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gamegen.stored import read_dataset
from scoring.dual import kind_of, seen_values
from scoring.prompts import QUESTIONS, load_prompt

REPLY = '{"score":4}'
SPECIAL = ["<pad>", "<s>", "</s>", "<image>", REPLY]
TEMPLATE = (
    "{% for m in messages %}<s>{% for c in m.content %}{% if c.type == 'text' %}{{ c.text }}{% else %}<image>"
    "{% endif %}{% endfor %}</s>{% endfor %}{% if add_generation_prompt %}<s>{% endif %}"
)


def _processor() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import CLIPImageProcessor, LlavaProcessor, PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate([*SPECIAL[:4], *letters])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_tokens([REPLY])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        extra_special_tokens={"image_token": "<image>"},
    )
    return LlavaProcessor(
        image_processor=CLIPImageProcessor(size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28}),
        tokenizer=fast,
        patch_size=14,
        vision_feature_select_strategy="default",
        chat_template=TEMPLATE,
        num_additional_image_tokens=1,
    )


def _model(words: int) -> Any:
    from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig, LlavaForConditionalGeneration

    size: dict[str, Any] = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1}
    text = LlamaConfig(**size, num_attention_heads=2, vocab_size=words, bos_token_id=1, eos_token_id=2, pad_token_id=0)
    vision = CLIPVisionConfig(**size, num_attention_heads=2, image_size=28, patch_size=14, projection_dim=16)
    return LlavaForConditionalGeneration(
        LlavaConfig(text_config=text, vision_config=vision, image_token_index=3, vision_feature_layer=-1)
    )


@pytest.fixture(scope="session")
def tiny_judge(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A seeing model trained on the questions of one sample until it gives its one reply."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")

    from edit_models.vlm.local import _piece

    torch.manual_seed(0)
    processor = _processor()
    model = _model(len(processor.tokenizer))
    stored = next(iter(read_dataset(dataset)))
    values = seen_values(stored, stored.row["edited_image"])
    answer = processor.tokenizer(REPLY + "</s>", add_special_tokens=False, return_tensors="pt").input_ids
    assert answer.shape == (1, 2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-2)
    for step in range(24):
        parts = load_prompt(QUESTIONS[step % 3]).fill(*kind_of(stored), values)
        asked = processor.apply_chat_template(
            [{"role": "user", "content": [_piece(part) for part in parts]}],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        )
        tokens = torch.cat([asked["input_ids"], answer], dim=1)
        labels = torch.cat([torch.full_like(asked["input_ids"], -100), answer], dim=1)
        model(input_ids=tokens, labels=labels, pixel_values=asked["pixel_values"]).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    path = tmp_path_factory.mktemp("judge") / "tiny-judge"
    model.save_pretrained(path)
    processor.save_pretrained(path)
    return path
