"""Texts as vectors without a model: hashed words and letter triples.

This is lexical: it finds the same words in other forms and orders, not the same meaning in other words. A text's vector
depends on nothing but the text, so what was decided stays decided when more texts come.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

SIZE = 512
WORD = 2.0
"""The weight of a whole word, beside all its letter triples together, which weigh 1."""

_PLAIN = """
a an and are as at be been being but by for from had has have he her his in into is it its of off on onto or out over
she so that the their them then there these they this those to up was were while with
"""
PLAIN = frozenset(_PLAIN.split())
"""Words that make no two texts similar."""

Vector = NDArray[np.float32]


class NGrams:
    name = f"hashed n-grams of {SIZE}"

    def encode(self, texts: Sequence[str]) -> Vector:
        vectors = np.zeros((len(texts), SIZE), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            words = Counter(word for word in re.findall(r"\w+", text.lower()) if word not in PLAIN)
            for word, count in words.items():
                places, weights = _parts(word)
                row[places] += weights * np.float32(count**0.5)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.where(lengths == 0, 1, lengths), np.float32)


@lru_cache(maxsize=1 << 16)
def _parts(word: str) -> tuple[NDArray[np.int64], Vector]:
    """Where a word falls, and with what weight; each place once."""
    triples = [f"_{word}_"[at : at + 3] for at in range(len(word))]
    found: dict[int, float] = {}
    for part, weight in [(word, WORD), *((f"_{triple}", len(triples) ** -0.5) for triple in triples)]:
        number = zlib.crc32(part.encode())
        place = number % SIZE
        found[place] = found.get(place, 0.0) + (weight if number >> 31 else -weight)
    return np.fromiter(found, np.int64), np.fromiter(found.values(), np.float32)
