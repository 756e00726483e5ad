"""Second stage: triples that repeat an earlier one go; the first stays, and the order with it.

Exact: in lower case and without punctuation, two descriptions have the same set of words. Semantic: the descriptions,
or the instructions, are more similar than the threshold, by the cosine of their vectors; the paper takes 0.7.

The stage is a pure function of the triples: it is done as a whole, and only if they have changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gamegen.core.errors import BadInput
from gamegen.journal import write_journal
from realworld.ngrams import NGrams
from realworld.recipe import Dedup
from realworld.run import Run, Triple, fingerprint
from realworld.stage import Done, Progress

BLOCK = 1024
"""Triples that are compared at a time, with all that were kept before them."""

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    def encode(self, texts: Sequence[str]) -> Vectors:
        """(N, D), each row of length 1 or 0."""
        ...


@dataclass(frozen=True, slots=True)
class Repeat:
    """Why a triple goes."""

    drop: str
    of: str  # the id of the triple that it repeats
    similarity: float


def drop_repeats(run: Run, options: Dedup, progress: Progress) -> Done:
    triples = list(run.triples())
    if not triples:
        raise BadInput(f"{run.folder} has no triples yet; `gamegen real triples` writes them")
    plan = {
        "stage": "dedup",
        "threshold": options.threshold,
        "embedder": options.embedder or NGrams.name,
        "of": fingerprint(
            *(part for triple in triples for part in (triple.id, triple.description, triple.instruction))
        ),
    }
    if run.plan("dedup") == plan and list(run.results("dedup")) == [triple.id for triple in triples]:
        return Done(0, len(triples), {})
    results = {}
    verdicts = repeats(triples, open_embedder(options.embedder), options.threshold)
    for triple, repeat in zip(triples, verdicts, strict=True):
        texts = {name: value for name, value in asdict(triple).items() if name != "id"}
        results[triple.id] = {**asdict(repeat), **texts} if repeat else texts
        progress(len(results), len(triples))
    write_journal(run.journal("dedup"), plan, results)
    return Done(len(results), 0, {})


def open_embedder(name: str) -> Embedder:
    if not name:
        return NGrams()
    from edit_models.embeddings import SentenceModel

    model: Embedder = SentenceModel(name)
    return model


def repeats(triples: Sequence[Triple], embedder: Embedder, threshold: float) -> Iterator[Repeat | None]:
    """For each triple, in order, which kept one it repeats and how much; None if it stays.

    Only kept ones count, so of A like B like C, where A and C differ, A and C stay.
    """
    seen: dict[frozenset[str], str] = {}
    sides = [
        ("description", _Kept([t.description for t in triples], embedder)),
        ("instruction", _Kept([t.instruction for t in triples], embedder)),
    ]
    kept: list[int] = []
    for start in range(0, len(triples), BLOCK):
        block = triples[start : start + BLOCK]
        for _, side in sides:
            side.look(start, len(block), kept)
        inside: list[int] = []  # of this block, those that stay
        for place, triple in enumerate(block):
            words = word_set(triple.description)
            repeat = Repeat("same words in the description", seen[words], 1.0) if words in seen else None
            if repeat is None:
                repeat = _nearest(sides, triples, kept, inside, start, place, threshold)
            if repeat is None:
                inside.append(place)
                seen[words] = triple.id
            yield repeat
        kept += [start + place for place in inside]


def word_set(text: str) -> frozenset[str]:
    return frozenset(re.sub(r"[^\w\s]", "", text.lower()).split())


class _Kept:
    """One side of all triples as vectors, and how near each of a block comes to what was kept before it."""

    def __init__(self, texts: Sequence[str], embedder: Embedder) -> None:
        self.vectors = np.ascontiguousarray(embedder.encode(texts), dtype=np.float32)
        self.best: NDArray[np.float32] = np.zeros(0, np.float32)  # of the block, by place
        self.who: NDArray[np.int64] = np.zeros(0, np.int64)  # index into what was kept
        self.inside: Vectors = np.zeros((0, 0), np.float32)  # the block with itself

    def look(self, start: int, count: int, kept: Sequence[int]) -> None:
        block = self.vectors[start : start + count]
        self.inside = block @ block.T
        self.best, self.who = np.full(count, -1.0, np.float32), np.zeros(count, np.int64)
        for first in range(0, len(kept), BLOCK * 8):
            near = block @ self.vectors[kept[first : first + BLOCK * 8]].T
            place = near.argmax(axis=1)
            value = near[np.arange(count), place]
            better = value > self.best
            self.best[better], self.who[better] = value[better], first + place[better]


def _nearest(
    sides: Sequence[tuple[str, _Kept]],
    triples: Sequence[Triple],
    kept: Sequence[int],
    inside: Sequence[int],
    start: int,
    place: int,
    threshold: float,
) -> Repeat | None:
    """The kept triple that is most similar on the first side that is too similar."""
    for name, side in sides:
        value, of = float(side.best[place]), int(side.who[place])
        other = kept[of] if kept else -1
        if inside:
            row = side.inside[place, inside]
            most = int(row.argmax())
            if float(row[most]) > value:
                value, other = float(row[most]), start + inside[most]
        if value > threshold:
            return Repeat(f"similar {name}", triples[other].id, round(value, 4))
    return None
