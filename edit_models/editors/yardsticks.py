"""Editors whose score is known beforehand; a benchmark that scores them otherwise is broken.

`oracle` answers right, `copy` changes nothing, `noise` draws none of it, and `wrong` makes a clean edit that the rules
refuse. All but `oracle` must score 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from PIL import Image

from edit_models.editors.protocol import Edit
from gamegen.core.errors import BadInput, GamegenError
from gamegen.core.stream import Stream
from gamegen.images import load_rgb
from gamegen.sample import Sample, make_sample

MUTATIONS = 32
"""How many careless changes `wrong` tries where no legal action is wrong."""


class Copy:
    """Returns the input."""

    def edit_row(self, row: Mapping[str, Any], *, seed: int) -> Edit:
        return Edit(_stored(row, "original_image"))


class Oracle:
    """Returns the stored answer, with its reasoning."""

    def edit_row(self, row: Mapping[str, Any], *, seed: int) -> Edit:
        return Edit(_stored(row, "edited_image"), str(row.get("reasoning") or ""))


class Noise:
    """Returns random pixels of the input's size."""

    def edit_row(self, row: Mapping[str, Any], *, seed: int) -> Edit:
        shape = load_rgb(row["original_image"]).shape
        return Edit(Image.fromarray(np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)))


class Wrong:
    """Plays something the rules allow but the task does not ask for; if there is no such thing, slips in one cell."""

    def edit_row(self, row: Mapping[str, Any], *, seed: int) -> Edit:
        if not row.get("id") or not row.get("task"):
            raise BadInput("a wrong edit can only be made for rows of ours, which name their task")
        sample = make_sample(str(row["id"]))
        refused = None
        for position in _tries(sample, Stream("wrong", seed)):
            check = sample.plugin.solver.check(sample.problem, position)
            if check.correct or position == sample.problem.position:
                continue
            if check.legal:
                return _drawn(sample, position)
            refused = refused or position
        if refused is None:
            raise GamegenError(f"{sample.id}: every edit tried is a right one")
        return _drawn(sample, refused)


def _tries(sample: Sample, rng: Stream) -> Iterator[Any]:
    game, before = sample.plugin.game, sample.problem.position
    for action in rng.shuffled(list(game.actions(before))):
        yield game.apply(before, action)
    for _ in range(MUTATIONS):
        yield game.mutate(sample.solution.after, rng)


def _drawn(sample: Sample, position: Any) -> Edit:
    return Edit(sample.plugin.renderer.render(position, sample.style).image())


def _stored(row: Mapping[str, Any], column: str) -> Image.Image:
    return Image.fromarray(load_rgb(row[column]))
