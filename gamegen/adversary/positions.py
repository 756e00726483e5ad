"""Attacks on positions: a changed answer, drawn as cleanly as the answer itself. The rules say what each deserves."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gamegen.adversary.canvas import canvas, picture
from gamegen.core.errors import BadInput
from gamegen.core.key import Key
from gamegen.core.stream import Stream
from gamegen.painters import legal_actions, paint, right_answer
from gamegen.sample import Sample, make_sample
from renderers.board import BoardRenderer

Made = tuple[Image.Image, bool] | None

TRIES = 12

SIBLINGS, KEPT, APART = 16, 400, -7
"""Other samples of a task and level whose answers are tried; how many are kept, which is all those of one game, since
making them takes longer than judging them; and their seed, which nobody attacks."""


def gold(sample: Sample, rng: Stream) -> Made:
    """The right answer itself."""
    return picture(canvas(sample).after), True


def painted(sample: Sample, rng: Stream) -> Made:
    """A right answer, drawn onto the original by another hand than the renderer's."""
    image = paint(sample, right_answer(sample, rng), rng)
    return None if image is None else (image, True)


def mutation(sample: Sample, rng: Stream) -> Made:
    """The right answer with one cell changed."""
    return shown(sample, sample.plugin.game.mutate(sample.solution.after, rng))


def two_mutations(sample: Sample, rng: Stream) -> Made:
    game = sample.plugin.game
    return shown(sample, game.mutate(game.mutate(sample.solution.after, rng), rng))


def lazy_mutation(sample: Sample, rng: Stream) -> Made:
    """The picture as it was, with one cell changed: a guess."""
    return shown(sample, sample.plugin.game.mutate(sample.problem.position, rng))


def wrong_move(sample: Sample, rng: Stream) -> Made:
    """A legal action, but any."""
    game = sample.plugin.game
    actions = legal_actions(sample)
    return shown(sample, game.apply(sample.problem.position, rng.choice(actions))) if actions else None


def swapped_cells(sample: Sample, rng: Stream) -> Made:
    """The right answer with what two of its cells show exchanged: two digits, a piece and an empty square…"""
    symbols = _symbols(sample)
    if symbols is None:
        return None
    one, other = _two_cells(symbols, rng)
    symbols[one], symbols[other] = symbols[other], symbols[one]
    return _recoded(sample, symbols)


def cloned_cell(sample: Sample, rng: Stream) -> Made:
    """The right answer with what one cell shows drawn in another one too: an extra piece, a wall erased, a clue
    changed, a second start."""
    symbols = _symbols(sample)
    if symbols is None:
        return None
    one, other = _two_cells(symbols, rng)
    symbols[one] = symbols[other]
    return _recoded(sample, symbols)


def other_gold_same_look(sample: Sample, rng: Stream) -> Made:
    """The right answer of another sample, in this sample's look."""
    return shown(sample, sibling(sample, rng).solution.after)


def shown(sample: Sample, position: Any) -> tuple[Image.Image, bool]:
    """A position in the sample's look, and whether the rules call it right."""
    image = sample.plugin.renderer.render(position, sample.style).image()
    return image, sample.plugin.solver.check(sample.problem, position).correct


def sibling(sample: Sample, rng: Stream) -> Sample:
    """Another sample of the same task and level, one of a few."""
    return _made(replace(sample.key, seed=APART, index=rng.below(SIBLINGS)))


def _symbols(sample: Sample) -> NDArray[np.intp] | None:
    """(R, C): what each cell of the answer shows, or None if it is not made of cells."""
    renderer = sample.plugin.renderer
    if not isinstance(renderer, BoardRenderer):
        return None
    return renderer.encode(sample.solution.after, sample.style).copy()


def _recoded(sample: Sample, symbols: NDArray[np.intp]) -> Made:
    """The answer with other symbols in its cells and the same highlights, if any; None if that is no position."""
    renderer, after = sample.plugin.renderer, sample.solution.after
    assert isinstance(renderer, BoardRenderer)
    try:
        position = renderer.decode(symbols, sample.problem, sample.style)
    except BadInput:
        return None
    if hasattr(after, "marks"):
        position = replace(position, marks=after.marks)
    return None if position == after else shown(sample, position)


def _two_cells(symbols: NDArray[np.intp], rng: Stream) -> tuple[tuple[int, int], tuple[int, int]]:
    """Two cells that show different things, if a few tries find them."""
    for _ in range(TRIES):
        one, other = ((rng.below(symbols.shape[0]), rng.below(symbols.shape[1])) for _ in range(2))
        if symbols[one] != symbols[other]:
            break
    return one, other


@lru_cache(maxsize=KEPT)
def _made(key: Key) -> Sample:
    return make_sample(key)


ATTACKS = (
    gold,
    painted,
    mutation,
    two_mutations,
    lazy_mutation,
    wrong_move,
    swapped_cells,
    cloned_cell,
    other_gold_same_look,
)
