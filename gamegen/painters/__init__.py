"""Right answers drawn by hand: the original's pixels, and the difference painted onto them with Pillow.

A painter knows what has to be drawn and where the cells lie, and nothing of how our renderers draw. Its pictures are
what a careful person would hand in, so a judge that refuses one is at fault.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from typing import Any

from PIL import Image

from gamegen.core.stream import Stream
from gamegen.painters import blocks, drawn, pasted
from gamegen.painters.hand import Hand
from gamegen.sample import Sample

Painter = Callable[[Hand, Sample, Any], bool]
"""Draws a position onto the hand's picture; false if this hand cannot."""

PAINTERS: dict[str, Painter] = {
    "chess": pasted.chess,
    "jewel2": pasted.jewels,
    "maze": drawn.maze,
    "pacman": pasted.pac_man,
    "reconstruction": blocks.reconstruction,
    "sokoban": pasted.boxes,
    "spaceinvaders": pasted.invaders,
    "sudoku": drawn.sudoku,
    "tictactoe": drawn.tictactoe,
    "wordsearch": drawn.words,
}

WIDEST = 200
"""Legal actions looked at in one position."""

TRIES = 6
"""Legal actions tried when another right answer than the solver's is looked for."""


def paint(sample: Sample, position: Any, rng: Stream, *, strength: float = 1.0) -> Image.Image | None:
    """The position, drawn onto the sample's original by a hand of `strength` times the usual freedom.

    None if nobody could paint it from what the original shows, and for games without a painter.
    """
    painter = PAINTERS.get(sample.plugin.game.name)
    if painter is None:
        return None
    hand = Hand(sample, rng, strength)
    return hand.image if painter(hand, sample, position) else None


def right_answer(sample: Sample, rng: Stream) -> Any:
    """The solver's answer or, as often, another one that the rules accept, where a single action may be one."""
    game, problem = sample.plugin.game, sample.problem
    if rng.chance(0.5):
        for action in rng.shuffled(legal_actions(sample))[:TRIES]:
            position = game.apply(problem.position, action)
            if sample.plugin.solver.check(problem, position).correct:
                return position
    return sample.solution.after


@lru_cache(maxsize=2)
def legal_actions(sample: Sample) -> tuple[Any, ...]:
    """The first actions in the sample's own position; in some games it takes as long to list them as to judge."""
    return tuple(islice(sample.plugin.game.actions(sample.problem.position), WIDEST))
