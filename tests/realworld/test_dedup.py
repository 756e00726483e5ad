"""Repeats among triples: by words, n-grams and a sentence model; against a comparison of everything with everything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gamegen.core.errors import BadInput
from realworld import dedup
from realworld.dedup import Repeat, open_embedder, repeats, word_set
from realworld.ngrams import NGrams
from realworld.run import Triple


def triple(number: int, description: str, instruction: str = "") -> Triple:
    """Without an instruction, one that is like no other."""
    return Triple(f"t{number}", "Pose Adjustment", description, instruction or f"{number:x}" * 40, "effect")


def test_word_sets_ignore_case_order_repeats_and_punctuation() -> None:
    assert (
        word_set("A cat, a DOG; the cat's bed.")
        == word_set("the cats dog a bed CAT")
        == {"a", "cat", "dog", "the", "cats", "bed"}
    )


def test_the_first_stays_and_each_drop_names_what_it_repeats() -> None:
    texts = [
        triple(0, "A tall red candle burns in a brass holder on a dark table"),
        triple(1, "On a dark table, in a brass holder, burns a tall red candle."),
        triple(2, "A tall red candle burns in a brass holder on the dark table of a monk"),
        triple(3, "Two dogs sleep", "Ring the bell of the house door"),
        triple(4, "A harbour full of boats", "Ring the house door's bell"),
        triple(5, "A harbour of stone", "Let the tide go out"),
    ]
    found = list(repeats(texts, NGrams(), 0.7))
    assert [repeat is None for repeat in found] == [True, False, False, True, False, True]
    assert found[1] == Repeat("same words in the description", "t0", 1.0)
    assert found[2] and found[2].drop == "similar description" and found[2].of == "t0" and 0.7 < found[2].similarity < 1
    assert found[4] and found[4].drop == "similar instruction" and found[4].of == "t3"


class Given:
    """An embedder whose vectors are given, two texts a number."""

    name = "given"

    def __init__(self, size: int, seed: int) -> None:
        draws = np.random.default_rng(seed).normal(size=(2, size, 6)).astype(np.float32)
        self.vectors = list(draws / np.linalg.norm(draws, axis=2, keepdims=True))

    def encode(self, texts: Sequence[str]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        return self.vectors[0] if texts[0].startswith("d") else self.vectors[1]


@pytest.mark.parametrize("block", [1, 7, 64])
def test_blocks_find_what_comparing_everything_finds(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dedup, "BLOCK", block)
    size = 200
    for seed in range(5):
        texts = [Triple(f"t{n}", "Pose Adjustment", f"d{n}", f"i{n}", "e") for n in range(size)]
        given = Given(size, seed)
        kept: list[int] = []
        expected: list[Repeat | None] = []
        for n in range(size):
            repeat = None
            for name, vectors in zip(("description", "instruction"), given.vectors, strict=True):
                near = vectors[kept] @ vectors[n] if kept else np.zeros(0)
                if near.size and near.max() > 0.7 and repeat is None:
                    repeat = Repeat(f"similar {name}", f"t{kept[int(near.argmax())]}", float(near.max()))
            expected.append(repeat)
            kept += [] if repeat else [n]
        found = list(repeats(texts, given, 0.7))
        assert [each and (each.drop, each.of) for each in found] == [each and (each.drop, each.of) for each in expected]
        pairs = [(one, other) for one, other in zip(found, expected, strict=True) if one and other]
        assert all(one.similarity == pytest.approx(other.similarity, abs=1e-4) for one, other in pairs)
        assert 0 < len(kept) < size


def test_ngrams_are_the_same_everywhere_and_of_length_one() -> None:
    vectors = NGrams().encode(["A cat sat on a mat.", "", "the of and"])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 0])
    places = [82, 158, 162, 207, 216]
    assert np.flatnonzero(vectors[0])[:5].tolist() == places, "vectors of earlier runs are other ones now"


def test_a_sentence_model_embeds(tmp_path: Path) -> None:
    """Mean pooling over real tokens: padding by longer neighbours changes nothing."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *"abcdefghijklmnopqrstuvwxyz",
        *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz"),
    ]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizer(vocab={word: number for number, word in enumerate(words)}).save_pretrained(tmp_path)
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    transformers.BertModel(config).save_pretrained(tmp_path)
    model = open_embedder(str(tmp_path))
    texts = ["a cat", "a very long sentence about something else", "a cat", "dog"]
    together = model.encode(texts)
    assert together.shape == (4, 16) and np.linalg.norm(together, axis=1) == pytest.approx([1] * 4)
    apart = np.concatenate([model.encode([text]) for text in texts])
    assert together == pytest.approx(apart, abs=1e-5)
    found = list(repeats([triple(n, f"{text} {n}") for n, text in enumerate(texts)], model, 0.9999))
    assert len(found) == 4
    with pytest.raises(BadInput, match="cannot be loaded as a sentence embedding model"):
        open_embedder(str(tmp_path / "none"))
