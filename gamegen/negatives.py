"""Hard negatives: minimal wrong edits of a sample, each with a named error, for preference pairs and judge calibration.

They are made of positions, so every game has them: the slips that its players make (`slips`), legal actions that do not
answer the question, solutions that stop too early, and answers in which one thing was changed. Each is refused by the
solver and reads back as the position it shows; what the rules happen to accept, or a reader could not tell, is not a
negative.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from gamegen.animate import replay
from gamegen.core.errors import BadInput, UnreadableImage
from gamegen.core.rendering import Picture
from gamegen.core.stream import Stream
from gamegen.sample import Sample
from gamegen.slips import MEANINGS as SLIPS
from gamegen.slips import slips
from renderers.png import encode_indexed

MOST = 16
"""Negatives of one sample at most: small boards have no more different ones of every kind."""

TRIES = 48
"""Candidates drawn for one negative of one error before the next error has its turn."""

WIDEST = 200
"""Legal actions looked at in one position."""


@dataclass(frozen=True, slots=True)
class Negative:
    """One wrong result."""

    error: str  # one of MEANINGS
    position: str  # as the game's parse reads it
    reason: str  # why the rules refuse it
    image: bytes = field(repr=False)  # PNG, in the sample's own look


def negatives(sample: Sample, count: int) -> list[Negative]:
    """`count` different wrong results, the same on every machine; fewer only if the errors have no more to give.

    The errors take turns, in an order that the sample's own stream draws.
    """
    if not 1 <= count <= MOST:
        raise BadInput(f"a sample has 1 to {MOST} negatives, not {count!r}")
    rng = sample.key.stream("negatives")
    forge = _Forge(sample)
    waiting = rng.shuffled([*ERRORS, *SLIPS])
    found: list[Negative] = []
    while waiting and len(found) < count:
        error = waiting.pop(0)
        negative = forge.draw(error, rng)
        if negative is not None:
            found.append(negative)
            waiting.append(error)
    return found


class _Forge:
    """Makes negatives of one sample, no position twice."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.before = sample.problem.position
        self.after = sample.solution.after
        self.taken = {str(self.after)}

    @cached_property
    def positions(self) -> list[Any]:
        """The positions on the way to the answer, the first and the last one too, none twice in a row."""
        way = replay(self.sample)
        return [here for number, here in enumerate(way) if not number or here != way[number - 1]]

    @cached_property
    def slips(self) -> dict[str, list[Any]]:
        """The slips that are not drawn yet, by error."""
        found: dict[str, list[Any]] = {}
        for error, position in slips(self.sample.plugin.game.name, self.sample.problem, self.after):
            found.setdefault(error, []).append(position)
        return found

    @cached_property
    def answer(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """(H, W): the pixels that the answer changed."""
        return _difference(self.sample.original_picture, self.sample.edited_picture)

    def draw(self, error: str, rng: Stream) -> Negative | None:
        """A negative of this error that was not drawn before; None if none was found in so many tries."""
        for _ in range(TRIES):
            position = ERRORS[error](self, rng) if error in ERRORS else _slip(self, error, rng)
            if position is None:
                return None
            if str(position) in self.taken or (error not in ON_THE_WAY and position in self.positions):
                continue
            picture = self.sample.plugin.renderer.render(position, self.sample.style)
            if error in ("one-cell", "collateral") and error != self._change(picture):
                continue
            self.taken.add(str(position))
            negative = self._shown(error, position, picture)
            if negative is not None:
                return negative
        return None

    def _change(self, picture: Picture) -> str:
        """Whether a changed answer is spoilt where the answer is, or elsewhere."""
        spoilt = _difference(picture, self.sample.edited_picture) & self.answer
        return "one-cell" if spoilt.any() else "collateral"

    def _shown(self, error: str, position: Any, picture: Picture) -> Negative | None:
        """The negative, if the rules refuse it and a reader sees it as it is."""
        plugin, problem, style = self.sample.plugin, self.sample.problem, self.sample.style
        check = plugin.solver.check(problem, position)
        if check.correct:
            return None
        try:
            reading = plugin.renderer.read(picture.rgb(), problem, style)
            if reading.position != position or reading.stain:
                return None
        except UnreadableImage:
            return None
        reason = style.told(check.reason)
        return Negative(error, str(position), reason, encode_indexed(picture.pixels, picture.palette))


def _difference(one: Picture, other: Picture) -> np.ndarray[Any, np.dtype[np.bool_]]:
    different: np.ndarray[Any, np.dtype[np.bool_]] = (one.rgb() != other.rgb()).any(axis=2)
    return different


def _wrong_move(forge: _Forge, rng: Stream) -> Any | None:
    """Right up to some point of the solution, then another legal action."""
    game = forge.sample.plugin.game
    here = rng.choice(forge.positions[:-1])
    actions = list(islice(game.actions(here), WIDEST))
    return game.apply(here, rng.choice(actions)) if actions else None


def _half_done(forge: _Forge, rng: Stream) -> Any | None:
    """The solution, broken off after some of its actions."""
    between = forge.positions[1:-1]
    return rng.choice(between) if between else None


def _one_changed(forge: _Forge, rng: Stream) -> Any | None:
    return forge.sample.plugin.game.mutate(forge.after, rng)


def _guess(forge: _Forge, rng: Stream) -> Any | None:
    return forge.sample.plugin.game.mutate(forge.before, rng)


def _untouched(forge: _Forge, rng: Stream) -> Any | None:
    return None if str(forge.before) in forge.taken else forge.before


def _slip(forge: _Forge, error: str, rng: Stream) -> Any | None:
    left = forge.slips.get(error, [])
    return left.pop(rng.below(len(left))) if left else None


ERRORS: dict[str, Callable[[_Forge, Stream], Any | None]] = {
    "wrong-move": _wrong_move,
    "half-done": _half_done,
    "one-cell": _one_changed,
    "collateral": _one_changed,
    "guess": _guess,
    "untouched": _untouched,
}
"""Named errors and what draws a position for each; a changed answer is `one-cell` or `collateral` by where it is."""

ON_THE_WAY = ("half-done", "untouched")
"""Errors whose positions are on the way to the answer; those of the others never are."""

MEANINGS = {
    "wrong-move": "by the rules, but not what was asked: a legal action instead of a right one",
    "half-done": "the right way, left before its end",
    "one-cell": "the right answer with one of its own parts wrong",
    "collateral": "the right answer, and one thing changed that had to stay",
    "guess": "one thing changed at random, the question not answered",
    "untouched": "the original picture, nothing done",
    **SLIPS,
}
"""What each error is called for."""
