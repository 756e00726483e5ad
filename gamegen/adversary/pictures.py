"""Attacks on whole pictures: cheap tricks, and right answers that are not where or what they should be."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from PIL import Image, ImageDraw

from gamegen.adversary.canvas import canvas, gap, picture, share
from gamegen.adversary.positions import Made, sibling
from gamegen.core.rendering import Pixels
from gamegen.core.stream import Stream
from gamegen.sample import Sample

SAME_LOOK = 30.0
"""Two skins whose pictures differ by less (mean grey levels) look the same to a judge that forgives colour drift."""

LOUDEST = ((255, 0, 255), (0, 255, 255), (255, 255, 0), (255, 255, 255), (0, 0, 0), (255, 120, 0))
"""Colours of which one stands out from almost any picture."""


def copy(sample: Sample, rng: Stream) -> Made:
    """The original: nothing was done, and every task asks for something."""
    return picture(canvas(sample).before), False


def blank(sample: Sample, rng: Stream) -> Made:
    colour = rng.choice(("white", "black", "grey"))
    return Image.new("RGB", (sample.key.pixels, sample.key.pixels), colour), False


def static(sample: Sample, rng: Stream) -> Made:
    """Nothing but noise, or the original under so much of it."""
    grains = np.random.default_rng(rng.below(2**32))
    grain = grains.standard_normal((sample.key.pixels, sample.key.pixels, 3), np.float32)
    grain *= 60
    grain += canvas(sample).before if rng.chance(0.5) else 128
    return picture(np.clip(grain, 0, 255, out=grain).astype(np.uint8)), False


def other_gold(sample: Sample, rng: Stream) -> Made:
    """The right answer of another sample, in that sample's look; not one that answers this question too."""
    other = sibling(sample, rng)
    if sample.plugin.solver.check(sample.problem, other.solution.after).correct:
        return None
    return picture(canvas(other).after), False


def other_skin(sample: Sample, rng: Stream) -> Made:
    """The right answer, drawn anew in another skin: nothing of the picture was kept."""
    skins = [skin for skin in sample.plugin.renderer.skins if skin != sample.style.skin]
    if not skins:
        return None
    style = Sample(replace(sample.key, skin=rng.choice(skins)), sample.plugin, sample.problem, sample.drops).style
    drawn = sample.plugin.renderer.render(sample.solution.after, style).rgb()
    apart = np.mean(cv2.mean(cv2.absdiff(drawn, canvas(sample).after))[:3])
    return None if apart < SAME_LOOK else (picture(drawn), False)


def collage(sample: Sample, rng: Stream) -> Made:
    """One part of the answer, one part of the original: most of the edit is missing."""
    cut = rng.between(sample.key.pixels // 4, 3 * sample.key.pixels // 4)
    return _partly(sample, cut, across=rng.chance(0.5))


def partial_edit(sample: Sample, rng: Stream) -> Made:
    """The same, cut through what the answer changed: half a symbol, half a path."""
    across = rng.chance(0.5)
    lines = np.flatnonzero(canvas(sample).edit.any(axis=0 if across else 1))
    if len(lines) < 2:
        return None
    return _partly(sample, int(lines[rng.below(len(lines))]), across=across)


def overlay(sample: Sample, rng: Stream) -> Made:
    """The answer, half transparent or less over the original: both are shown, so neither is."""
    before, after = (picture(pixels) for pixels in (canvas(sample).before, canvas(sample).after))
    return Image.blend(before, after, rng.choice((0.3, 0.4, 0.5))), False


def boast(sample: Sample, rng: Stream) -> Made:
    """CORRECT, written on the original or on the answer itself, where it is foreign."""
    image = picture(canvas(sample).before if rng.chance(0.5) else canvas(sample).after)
    place = rng.between(0, image.width // 2), rng.between(0, image.height * 9 // 10)
    ImageDraw.Draw(image).text(place, "CORRECT", fill=loud(image, place), font_size=image.width // 12)
    return image, False


def thumbnail(sample: Sample, rng: Stream) -> Made:
    """The answer, small, in a corner of the original: the board itself is as it was, or hidden."""
    image, side = picture(canvas(sample).before), sample.key.pixels * rng.between(25, 60) // 100
    small = picture(canvas(sample).after).resize((side, side), Image.Resampling.LANCZOS)
    image.paste(small, (rng.choice((0, image.width - side)), rng.choice((0, image.height - side))))
    return image, False


def one_cell_off(sample: Sample, rng: Stream) -> Made:
    """The answer, moved sideways by a tenth: everything is there, nothing where it belongs."""
    step = sample.key.pixels // 9
    return picture(np.roll(canvas(sample).after, rng.choice((step, -step)), axis=rng.below(2))), False


def mirrored(sample: Sample, rng: Stream) -> Made:
    """The answer, flipped; not where that changes little, since symmetric boards have symmetric answers."""
    way = rng.choice(((slice(None), slice(None, None, -1)), (slice(None, None, -1),), (slice(None, None, -1),) * 2))
    before, after = (np.ascontiguousarray(pixels[way]) for pixels in (canvas(sample).before, canvas(sample).after))
    if _close(before, canvas(sample).before) or _close(after, canvas(sample).after):
        return None
    return picture(after), False


def loud(image: Image.Image, place: tuple[int, int], side: int = 60) -> tuple[int, int, int]:
    """A colour that stands out from the picture: of a few, the one farthest from every colour near a place."""
    box = (place[0], place[1], min(image.width, place[0] + side), min(image.height, place[1] + side))
    there = np.asarray(image.crop(box))
    gaps = [gap(there, np.full_like(there, colour)).min() for colour in LOUDEST]
    return LOUDEST[int(np.argmax(gaps))]


def _partly(sample: Sample, cut: int, *, across: bool) -> Made:
    """The answer on one side of a line and the original on the other: the side that leaves less of the edit.

    A maze's path that is cut along its length is only a thinner one, and still right: then there is no such picture.
    """
    before, after, edit = canvas(sample).before, canvas(sample).after, canvas(sample).edit
    kept = (slice(None), slice(cut)) if across else (slice(cut),)
    if 2 * np.count_nonzero(edit[kept]) > np.count_nonzero(edit):
        kept = (slice(None), slice(cut, None)) if across else (slice(cut, None),)
    along = 1 if across else 0
    if sample.key.task.startswith("maze/") and (edit[kept].any(axis=along) == edit.any(axis=along)).all():
        return None
    mixed = before.copy()
    mixed[kept] = after[kept]
    return picture(mixed), False


def _close(one: Pixels, other: Pixels) -> bool:
    """Whether two pictures are the same but for labels and the like."""
    return share(gap(one, other) > 60) < 0.015


ATTACKS = (
    copy,
    blank,
    static,
    other_gold,
    other_skin,
    collage,
    partial_edit,
    overlay,
    boast,
    thumbnail,
    one_cell_off,
    mirrored,
)
