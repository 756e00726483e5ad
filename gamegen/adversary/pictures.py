"""Attacks on whole pictures: cheap tricks, and right answers that are not where or what they should be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from PIL import Image, ImageDraw

from gamegen.adversary.positions import Made, sibling
from gamegen.core.stream import Stream
from gamegen.sample import Sample, make_sample

SAME_LOOK = 30.0
"""Two skins whose pictures differ by less (mean grey levels) look the same to a judge that forgives colour drift."""

Grey = np.ndarray[tuple[int, ...], np.dtype[np.int16]]


def copy(sample: Sample, rng: Stream) -> Made:
    """The original: nothing was done, and every task asks for something."""
    return sample.original, False


def blank(sample: Sample, rng: Stream) -> Made:
    colour = rng.choice(("white", "black", "grey"))
    return Image.new("RGB", (sample.key.pixels, sample.key.pixels), colour), False


def static(sample: Sample, rng: Stream) -> Made:
    """Nothing but noise, or the original under so much of it."""
    grain = np.random.default_rng(rng.below(2**32)).normal(0, 60, (sample.key.pixels, sample.key.pixels, 3))
    ground = np.asarray(sample.original, float) if rng.chance(0.5) else 128.0
    return Image.fromarray((ground + grain).clip(0, 255).astype(np.uint8)), False


def other_gold(sample: Sample, rng: Stream) -> Made:
    """The right answer of another sample, in that sample's look; not one that answers this question too."""
    other = sibling(sample, rng)
    if sample.plugin.solver.check(sample.problem, other.solution.after).correct:
        return None
    return other.edited, False


def other_skin(sample: Sample, rng: Stream) -> Made:
    """The right answer, drawn anew in another skin: nothing of the picture was kept."""
    skins = [skin for skin in sample.plugin.renderer.skins if skin != sample.style.skin]
    if not skins:
        return None
    drawn = make_sample(replace(sample.key, skin=rng.choice(skins))).edited
    gap = np.abs(_grey_levels(drawn) - _grey_levels(sample.edited)).mean()
    return None if gap < SAME_LOOK else (drawn, False)


def collage(sample: Sample, rng: Stream) -> Made:
    """One part of the answer, one part of the original: most of the edit is missing."""
    cut = rng.between(sample.key.pixels // 4, 3 * sample.key.pixels // 4)
    return _partly(sample, cut, across=rng.chance(0.5))


def partial_edit(sample: Sample, rng: Stream) -> Made:
    """The same, cut through what the answer changed: half a symbol, half a path."""
    across = rng.chance(0.5)
    lines = np.flatnonzero(_edit(sample).any(axis=0 if across else 1))
    if len(lines) < 2:
        return None
    return _partly(sample, int(lines[rng.below(len(lines))]), across=across)


def overlay(sample: Sample, rng: Stream) -> Made:
    """The answer, half transparent or less over the original: both are shown, so neither is."""
    return Image.blend(sample.original, sample.edited, rng.choice((0.3, 0.4, 0.5))), False


def boast(sample: Sample, rng: Stream) -> Made:
    """CORRECT, written on the original or on the answer itself, where it is foreign."""
    image = sample.original if rng.chance(0.5) else sample.edited
    place = rng.between(0, image.width // 2), rng.between(0, image.height * 9 // 10)
    ImageDraw.Draw(image).text(place, "CORRECT", fill=loud(image, place), font_size=image.width // 12)
    return image, False


def thumbnail(sample: Sample, rng: Stream) -> Made:
    """The answer, small, in a corner of the original: the board itself is as it was, or hidden."""
    image, side = sample.original, sample.key.pixels * rng.between(25, 60) // 100
    small = sample.edited.resize((side, side), Image.Resampling.LANCZOS)
    image.paste(small, (rng.choice((0, image.width - side)), rng.choice((0, image.height - side))))
    return image, False


def one_cell_off(sample: Sample, rng: Stream) -> Made:
    """The answer, moved sideways by a tenth: everything is there, nothing where it belongs."""
    step = sample.key.pixels // 9
    return Image.fromarray(np.roll(np.asarray(sample.edited), rng.choice((step, -step)), axis=rng.below(2))), False


def mirrored(sample: Sample, rng: Stream) -> Made:
    """The answer, flipped; not where that changes little, since symmetric boards have symmetric answers."""
    way = rng.choice((Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.FLIP_TOP_BOTTOM, Image.Transpose.ROTATE_180))
    if _close(sample.original.transpose(way), sample.original) or _close(sample.edited.transpose(way), sample.edited):
        return None
    return sample.edited.transpose(way), False


def loud(image: Image.Image, place: tuple[int, int], side: int = 60) -> tuple[int, int, int]:
    """A colour that stands out from the picture: of a few, the one farthest from every colour near a place."""
    box = (place[0], place[1], min(image.width, place[0] + side), min(image.height, place[1] + side))
    there = np.asarray(image.crop(box), float).reshape(-1, 3)
    candidates = [(255, 0, 255), (0, 255, 255), (255, 255, 0), (255, 255, 255), (0, 0, 0), (255, 120, 0)]
    gaps = [np.abs(there - candidate).max(axis=1).min() for candidate in candidates]
    return candidates[int(np.argmax(gaps))]


def _edit(sample: Sample) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """(H, W): the pixels that the answer changed."""
    changed: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] = (
        np.asarray(sample.original) != np.asarray(sample.edited)
    ).any(axis=2)
    return changed


def _partly(sample: Sample, cut: int, *, across: bool) -> Made:
    """The answer on one side of a line and the original on the other: the side that leaves less of the edit."""
    edit = _edit(sample)
    kept = np.zeros_like(edit)
    kept[(slice(None), slice(cut)) if across else slice(cut)] = True
    if 2 * (kept & edit).sum() > edit.sum():
        kept = ~kept
    mixed = np.where(kept[..., None], np.asarray(sample.edited), np.asarray(sample.original))
    return Image.fromarray(mixed), False


def _grey_levels(image: Image.Image) -> Grey:
    return np.asarray(image, np.int16)


def _close(one: Image.Image, other: Image.Image) -> bool:
    """Whether two pictures are the same but for labels and the like."""
    gap = np.abs(_grey_levels(one) - _grey_levels(other)).max(axis=2)
    return bool((gap > 60).mean() < 0.015)


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
