"""Words to token numbers. Markers inside a user's text stay plain text, so they cannot end it early."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from edit_models.bagel.sequence import Markers, Text
from gamegen.core.errors import BadInput, MissingExtra

NAMES = ("<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>")


class Tokenizer:
    def __init__(self, path: Path) -> None:
        """Reads `tokenizer.json`, or `vocab.json` and `merges.txt`, from the folder `path`."""
        try:
            from tokenizers import Tokenizer as Backend
        except ImportError:
            raise MissingExtra("tokenizers", "bagel") from None
        if (path / "tokenizer.json").exists():
            self.backend = Backend.from_file(str(path / "tokenizer.json"))
        elif (path / "vocab.json").exists() and (path / "merges.txt").exists():
            from transformers import AutoTokenizer

            self.backend = AutoTokenizer.from_pretrained(path).backend_tokenizer
        else:
            raise BadInput(f"a BAGEL checkpoint folder needs tokenizer.json: not found in {path}")
        numbers = [self.backend.token_to_id(name) for name in NAMES]
        missing = [name for name, number in zip(NAMES, numbers, strict=True) if number is None]
        if missing:
            raise BadInput(f"the tokenizer in {path} does not know {', '.join(missing)}")
        self.markers = Markers(*numbers)
        self.backend.encode_special_tokens = True  # a marker written by a user is text

    def text(self, words: str, *, learn: bool = False) -> Text:
        """A text piece between its markers; with `learn`, each of its tokens is to be predicted."""
        ids = self.backend.encode(words, add_special_tokens=False).ids
        return Text((self.markers.start, *ids, self.markers.end), predict="each" if learn else "nothing")

    def words(self, ids: Iterable[int]) -> str:
        return self.backend.decode(list(ids), skip_special_tokens=True)


def write_small_tokenizer(folder: Path, texts: Iterable[str], *, size: int) -> int:
    """Trains a byte-level tokenizer on these texts, writes it, and returns its vocabulary size.

    Unlike a large model's, it may join words: the phrases of a puzzle world repeat, and short sequences train faster.
    """
    from tokenizers import Tokenizer as Backend
    from tokenizers import decoders, models, pre_tokenizers, trainers

    backend = Backend(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(NAMES),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator(texts, trainer)
    backend.save(str(folder / "tokenizer.json"))
    return backend.get_vocab_size()
