"""Labels of rows and columns, read for what they say: each must be more like itself than like any other, and be there.

What is drawn over them beside that is found as on the rest of the page, see `traces`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from gamegen.core.rendering import Pixels
from renderers.page import LABEL_BAND, Frame
from renderers.reading.register import Floats

GONE, SURE, ANOTHER, SLIGHT = 0.35, 0.93, 0.12, 0.02
"""Likeness below which a label is gone; from which, if most labels have it, all must be plain; by which one may be less
like itself than most, or half as much as another may lead; and by which either may be in a clean picture."""

AS_BEFORE = 40.0
"""Labels that nowhere differ by more grey levels need no reading."""

STAYED = 4
"""Of the nine places to which a label may be moved, the one where it was."""

MARGIN, EDGE = 4, 0.15
"""What does not count of a label's place, for the lines around it: pixels across, and the share of a cell along."""


def labels_differ(seen: Pixels, known: Pixels, frame: Frame) -> bool:
    """Whether a row's or column's label is gone, or another one."""
    scale = len(known) / frame.pixels
    band, cell, edge = frame.pixels * LABEL_BAND, frame.cell, EDGE * frame.cell
    long, wide = int((cell - 2 * edge) * scale), int((band - 2 * MARGIN) * scale)
    for down, count in ((True, frame.rows), (False, frame.cols)):
        beside, first = (frame.left, frame.top) if down else (frame.top, frame.left)
        start = int((beside - band + MARGIN) * scale)
        starts = [int((first + number * cell + edge) * scale) for number in range(count)]
        strips = list(_strips(seen, known, start, wide, down))
        if (np.maximum(*strips) - np.minimum(*strips)).max() <= AS_BEFORE:
            continue
        drawn, clean = (each.mean(axis=2, dtype=np.float32) for each in strips)
        if np.abs(drawn - clean).max() > AS_BEFORE and _misnamed(drawn, clean, starts, long):
            return True
    return False


def _strips(seen: Pixels, known: Pixels, start: int, wide: int, down: bool) -> Iterator[Pixels]:
    """The band of labels in both pictures, running down, and what is beside it as far as labels may be misplaced."""
    for image in (seen, known):
        turned = image if down else image.transpose(1, 0, 2)
        yield turned[:, max(0, start - 1) : start + wide + 1]


def _misnamed(seen: Floats, known: Floats, starts: list[int], long: int) -> bool:
    """The same for bands (H, W) of labels one below the other, each `long` pixels from its start on."""
    want = _unit(_patches(known, starts, long))[:, STAYED]
    inked = np.abs(want).sum(axis=1) > 0
    if not inked.any():
        return False
    likeness = (_unit(_patches(seen, starts, long))[inked] @ want[inked].T).max(axis=1)
    own = likeness.diagonal()
    usual, lead = float(np.median(own)), likeness.max(axis=1) - own
    another = lead > min(2 * ANOTHER, SLIGHT + 2 * (1 - usual))
    another |= (lead > 0) & (own < usual - ANOTHER) & (usual > SURE)
    worst, next_worst = np.sort(np.append(own, usual))[:2]
    one_spoilt = worst < max(GONE, usual - SLIGHT - 4 * (1 - next_worst))
    return bool(one_spoilt or another.any())


def _patches(band: Floats, starts: list[int], long: int) -> Floats:
    """(labels, 9, pixels): each label's place, moved by a pixel or not."""
    padded = np.pad(band, ((1, 1), (0, 0)), mode="edge")
    tall = np.stack([padded[start : start + long + 2] for start in starts])
    moved = sliding_window_view(tall, (long, band.shape[1] - 2), axis=(1, 2))
    return moved.reshape(len(starts), 9, -1)


def _unit(patches: Floats) -> Floats:
    """Each patch (…, pixels) without its mean and of length 1; all 0 if it is blank."""
    centred = patches - patches.mean(axis=-1, keepdims=True)
    length = np.sqrt(np.einsum("...i,...i->...", centred, centred))[..., None]
    unit: Floats = np.where(length > 5.0 * np.sqrt(patches.shape[-1]), centred / np.maximum(length, 1e-6), 0.0)
    return unit
