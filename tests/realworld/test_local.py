"""A tiny language model on this machine, taught one reply, writes triples."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from edit_models.vlm.local import LocalModel
from gamegen.__main__ import main
from realworld.asking import prompt_named
from realworld.recipe import Triples
from realworld.run import Run
from realworld.triples import load_seeds, orders

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

TRIPLE = {
    "description": "A candle burns on a dark table.",
    "instruction": "Wait for four hours.",
    "effect": "Only a short stump of the candle is left.",
}
ASKED = Triples(model="m", count=1, batch=1, examples=1, categories="Pose Adjustment")
REPLY = json.dumps({"triples": [TRIPLE]})
TEMPLATE = "{% for m in messages %}<s>{{ m.content }}</s>{% endfor %}{% if add_generation_prompt %}<s>{% endif %}"


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A language model of one layer, trained on one request until it gives its reply, which is one token."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    torch.manual_seed(0)
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate(["<pad>", "<s>", "</s>", *letters])}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_tokens([REPLY])
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="<pad>", bos_token="<s>", eos_token="</s>", chat_template=TEMPLATE
    )
    model: Any = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
            vocab_size=len(tokenizer), bos_token_id=1, eos_token_id=2, pad_token_id=0, max_position_embeddings=8192,
        )
    )  # fmt: skip
    text = prompt_named("triples").fill("real", "", {**orders(ASKED, load_seeds(None))[0].work.values()})[0]
    asked = tokenizer.apply_chat_template(
        [{"role": "user", "content": text}], add_generation_prompt=True, tokenize=False
    )
    tokens = tokenizer(asked + REPLY + "</s>", add_special_tokens=False, return_tensors="pt").input_ids
    labels = torch.full_like(tokens, -100)
    labels[:, -2:] = tokens[:, -2:]
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-2)
    for _ in range(10):
        model(input_ids=tokens, labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    folder = tmp_path_factory.mktemp("writer") / "tiny-writer"
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_a_local_model_writes_triples(writer: Path, tmp_path: Path) -> None:
    options = ["--count", "1", "--batch", "1", "--examples", "1", "--categories", "Pose Adjustment"]
    options += ["--temperature", "0", "--max-tokens", "8"]
    assert main(["real", "triples", str(tmp_path / "run"), "--model", str(writer), *options]) == 0
    (triple,) = Run.open(tmp_path / "run").triples()
    assert {name: getattr(triple, name) for name in TRIPLE} == TRIPLE
    assert Run.open(tmp_path / "run").plan("triples")["parameters"]["weights"]


def test_sampling_follows_the_question_alone(writer: Path) -> None:
    hot = LocalModel(str(writer), max_new_tokens=12, temperature=50.0)

    def ask(text: str) -> str:
        return asyncio.run(hot.ask([text]))

    assert ask("one") != ask("two")
    assert ask("one") == ask("one")


def test_a_model_that_reads_only_is_shown_no_pictures(
    writer: Path, finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    (run / "reasoning.jsonl").unlink()
    assert main(["real", "reason", str(run), "--model", str(writer)]) == 2
    assert capsys.readouterr().err.endswith("tiny-writer reads text only; this needs a model that sees pictures\n")
    assert main(["real", "reason", str(run), "--model", str(run)]) == 2
    assert "cannot be loaded as a model that answers in words" in capsys.readouterr().err
