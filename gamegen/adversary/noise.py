"""Attacks on doubt: wrong answers in pictures so bad, or so cleverly spoilt, that a judge might believe a guess."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gamegen.adversary.canvas import canvas, gap, picture
from gamegen.adversary.positions import Made, cloned_cell, shown
from gamegen.core.stream import Stream
from gamegen.judge import verify
from gamegen.perturb import MODERATE, PERTURBATIONS
from gamegen.sample import Sample

SHOWS, ENOUGH, AROUND = 40, 8, 0.03
"""Grey levels by which a wrong answer still differs from the right one in a murky picture, and in how many pixels; the
share of the picture's side by which these may be away from where it is wrong."""

MURK = {name: 1.0 for name in PERTURBATIONS if name not in ("pad", "letterbox", "bend")}
"""What makes a picture worse, and how strongly: bars around it do not, and bent ones are an attack of their own."""

STEPS, LOUDEST, GRAIN = 4, 40, 8
"""Rounds of the search, grey levels of its noise at most, and the side of its grains in pixels of 512."""


def murky_mutation(sample: Sample, rng: Stream) -> Made:
    """A wrong answer, blurred, compressed or distorted as strongly as any editor may: wrong is wrong, if it shows."""
    wrong = _wrong(sample, rng)
    return None if wrong is None else _murky(sample, wrong, rng, MURK)


def murky_clone(sample: Sample, rng: Stream) -> Made:
    """The same of what one cell shows drawn in another one, too."""
    made = cloned_cell(sample, rng)
    return None if made is None or made[1] else _murky(sample, made[0], rng, MURK)


def _murky(sample: Sample, wrong: Image.Image, rng: Stream, strengths: Mapping[str, float]) -> Made:
    """The picture after one of these perturbations, if it still shows that it is wrong."""
    name, seed = rng.choice(tuple(strengths)), rng.below(2**32)
    pictures = (wrong, picture(canvas(sample).after))
    murky, right = (PERTURBATIONS[name](image, strengths[name], Stream("murk", seed)) for image in pictures)
    shows = gap(*(np.asarray(image.convert("RGB")) for image in (murky, right))) > SHOWS
    return (murky, False) if np.count_nonzero(shows & _beside(wrong, sample, murky.size)) >= ENOUGH else None


def _beside(wrong: Image.Image, sample: Sample, size: tuple[int, int]) -> NDArray[np.bool_]:
    """(h, w): where, and beside where, a wrong answer differs from the right one, in a picture of this size: what was
    reduced to few colours may differ anywhere."""
    differs = (gap(np.asarray(wrong), canvas(sample).after) > 0).astype(np.uint8)
    reach = 2 * round(AROUND * wrong.width) + 1
    near = cv2.resize(cv2.dilate(differs, np.ones((reach, reach), np.uint8)), size, interpolation=cv2.INTER_NEAREST)
    beside: NDArray[np.bool_] = near > 0
    return beside


def double_exposure(sample: Sample, rng: Stream) -> Made:
    """The right answer and a wrong one, half of each: it shows both, so neither."""
    wrong = _wrong(sample, rng)
    return None if wrong is None else (Image.blend(picture(canvas(sample).after), wrong, 0.5), False)


def murky_exposure(sample: Sample, rng: Stream) -> Made:
    """The same, blurred, compressed or distorted, but so little that everything must still be read.

    Not sharpened, though: that makes nearly whole what is half.
    """
    made = double_exposure(sample, rng)
    mild = {name: strength for name, strength in MODERATE.items() if name in MURK and name != "sharpen"}
    return None if made is None else _murky(sample, made[0], rng, mild)


def adversarial_noise(sample: Sample, rng: Stream) -> Made:
    """A wrong answer under noise where it differs from the right one, made by a search so as to please the judge.

    Each round keeps the picture in which the judge sees more of what is right, or is surer of what it sees. The noise
    is too weak to turn one symbol into another, so the answer stays wrong.
    """
    wrong = _wrong(sample, rng)
    return None if wrong is None else (_searched(sample, wrong, rng), False)


def _searched(sample: Sample, wrong: Image.Image, rng: Stream) -> Image.Image:
    pixels, right = np.asarray(wrong), canvas(sample).after
    where = gap(pixels, right)
    left, top, width, height = cv2.boundingRect(where)
    box = slice(top, top + height), slice(left, left + width)
    drawn, spoilt = pixels[box].astype(np.int16), where[box][..., None] > 0
    towards = np.sign(right[box] - drawn) * (LOUDEST // 2)
    grains = np.random.default_rng(rng.below(2**32))
    noise, best, liked = np.zeros_like(drawn), wrong, _pleased(sample, wrong)
    for _ in range(STEPS):
        tried = (0.5 * (noise + towards) + _grain(grains, height, width, sample.key.pixels)).clip(-LOUDEST, LOUDEST)
        noisy = pixels.copy()
        noisy[box] = (drawn + np.where(spoilt, tried, 0)).clip(0, 255)
        image = picture(noisy)
        pleased = _pleased(sample, image)
        if pleased > liked:
            noise, best, liked = tried.astype(np.int16), image, pleased
    return best


def _grain(grains: np.random.Generator, height: int, width: int, side: int) -> NDArray[np.int64]:
    """(height, width, 3): coarse noise for a picture of this side, which no blur takes away."""
    size = max(2, round(GRAIN * side / 512))
    coarse = grains.integers(-LOUDEST, LOUDEST + 1, (-(-height // size), -(-width // size), 3))
    return coarse.repeat(size, axis=0).repeat(size, axis=1)[:height, :width]


def _pleased(sample: Sample, image: Image.Image) -> tuple[bool, float, float]:
    verdict = verify(sample, image)
    return verdict.correct, sum(verdict.parts.values()), verdict.confidence


def _wrong(sample: Sample, rng: Stream) -> Image.Image | None:
    image, right = shown(sample, sample.plugin.game.mutate(sample.solution.after, rng))
    return None if right else image


ATTACKS = (murky_mutation, murky_clone, double_exposure, murky_exposure, adversarial_noise)
