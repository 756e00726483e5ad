"""Edits whose worth is known before anybody looks: right and wrong ones, made by rules, to hold a judge against.

| kind | made of |
| --- | --- |
| gold | the right answer |
| alternative | another right answer, where the rules accept one |
| perturbed | the right answer as editors hand it over: compressed, shifted, a little off in colour |
| wrong-move, half-done, one-cell, collateral, guess, untouched, players' slips | the errors of `gamegen.negatives` |
| smeared | the right answer, blurred and full of noise: only its quality is beyond doubt |
| blank | one colour all over |

The exact judge confirms the others; an edit on which the rules and the picture as read disagree is not used.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from PIL import Image

from gamegen.animate import replay
from gamegen.core.stream import Stream
from gamegen.core.verdict import Verdict
from gamegen.judge import verify
from gamegen.negatives import ERRORS, MEANINGS, MOST, TRIES, WIDEST, negatives
from gamegen.perturb import FORMS, MODERATE, PERTURBATIONS, blur, noise
from gamegen.sample import Sample
from gamegen.slips import slips
from renderers.png import encode_indexed

KINDS = ("gold", "alternative", "perturbed", *MEANINGS, "smeared", "blank")
RIGHT = ("gold", "alternative", "perturbed")


@dataclass(frozen=True, slots=True)
class KnownEdit:
    """`deserves` says for each question whether the full score is due; a question that it leaves out is open.

    A perturbed answer is as right as before; how far its look may be off before a judge should mind, nobody can say.
    """

    sample: Sample = field(repr=False)
    kind: str
    image: bytes = field(repr=False)  # PNG
    verdict: Verdict
    deserves: Mapping[str, bool]

    @property
    def id(self) -> str:
        return f"{self.sample.id}#{self.kind}"


def known_edits(sample: Sample) -> Iterator[KnownEdit | None]:
    """The edits of one sample, at most one of each kind; None stands for one that the exact judge does not confirm."""
    rng = Stream(sample.id, "known edits")
    yield _confirmed(sample, "gold", sample["edited_image"])
    other = another_answer(sample, rng)
    if other is not None:
        picture = sample.plugin.renderer.render(other, sample.style)
        yield _confirmed(sample, "alternative", encode_indexed(picture.pixels, picture.palette))
    name = rng.choice(sorted(set(MODERATE).difference(FORMS)))
    yield _confirmed(sample, "perturbed", _png(PERTURBATIONS[name](sample.edited, MODERATE[name], rng)))
    kinds = {error for error, _ in slips(sample.plugin.game.name, sample.problem, sample.solution.after)}
    drawn = negatives(sample, min(MOST, len(ERRORS) + len(kinds)))  # in turn, so that each error has one
    wrong = {negative.error: negative.image for negative in reversed(drawn)}
    for error in filter(wrong.__contains__, MEANINGS):
        yield _confirmed(sample, error, wrong[error])
    smeared = _png(noise(blur(sample.edited, 1.0, rng), 1.0, rng))
    yield KnownEdit(sample, "smeared", smeared, verify(sample, smeared), {"visual_quality": False})
    side = sample.key.pixels
    yield _confirmed(sample, "blank", _png(Image.new("RGB", (side, side), rng.choice(("white", "black", "grey")))))


def another_answer(sample: Sample, rng: Stream) -> Any | None:
    """A position that is right as well, if one is found among other last steps and among changed answers."""
    game, solver, after = sample.plugin.game, sample.plugin.solver, sample.solution.after

    def fits(position: Any) -> bool:
        return position != after and solver.check(sample.problem, position).correct

    for here in dict.fromkeys(reversed(replay(sample)[:-1])):
        for action in rng.shuffled(list(islice(game.actions(here), WIDEST))):
            position = game.apply(here, action)
            if fits(position):
                return position
    for _ in range(TRIES):
        position = game.mutate(after, rng)
        if fits(position):
            return position
    return None


def _confirmed(sample: Sample, kind: str, image: bytes) -> KnownEdit | None:
    verdict = verify(sample, image)
    if verdict.correct != (kind in RIGHT):
        return None
    deserves = {"instruction_following": verdict.correct}
    if kind != "perturbed":
        deserves["visual_consistency"] = verdict.readable and verdict.preserved == 1.0
        deserves["visual_quality"] = kind != "blank"  # all others are drawn like the original
    return KnownEdit(sample, kind, image, verdict, deserves)


def _png(image: Image.Image) -> bytes:
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()
