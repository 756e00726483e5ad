"""Labels of rows and columns, read for what they say: each must be more like itself than like any other, and be there.

Where labels are, and how large, is taken from the ink in the clean picture: large boards name every so many rows only,
in labels that may be wider than a cell. What is drawn over them beside that is found as on the rest of the page, see
`traces`.
"""

from __future__ import annotations

from functools import cached_property

import cv2
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from gamegen.core.rendering import Pixels
from renderers.page import LABEL_BAND, Frame
from renderers.reading.register import Floats

GONE, SPOILT, ANOTHER = 0.35, 0.09, 0.02
"""Likeness below which a label is gone; by which one may be less like itself than most are; and by which another may
lead. Both are so small only in a clean picture."""

SURE, LESS, HARDLY = 0.93, 0.12, 0.05
"""If all but two labels are so much like themselves, none may be less so by that much and more like another, unless it
hardly is: others lead by up to 0.03 over small ones that lie between pixels."""

AS_BEFORE = 40.0
"""Labels that nowhere differ by more grey levels need no reading."""

TOUCHED, FEW = 80.0, 2
"""In a picture whose other pixels are untouched, so many that differ by more grey levels make another label: a small 9
and a 0 have three."""

INK, LINE = 24.0, 0.9
"""Grey levels by which a label differs from the page, soft edges included; the share of a band, along or across it,
that a line inks, but no label."""

STAYED = 4
"""Of the nine places to which a label may be moved, the one where it was."""


_GREY = np.full((1, 3), 1 / 3, np.float32)


class Labels:
    """The labels of the rows, `down` a clean page (side, side, 3), or of the columns; what they look like is worked out
    once, where it is asked for."""

    def __init__(self, page: Pixels, frame: Frame, *, down: bool) -> None:
        scale = len(page) / frame.pixels
        beside, first, count = (frame.left, frame.top, frame.rows) if down else (frame.top, frame.left, frame.cols)
        width = frame.pixels * LABEL_BAND
        across = slice(max(0, int((beside - width) * scale)), int(beside * scale) - 1)
        self._band = (slice(None), across) if down else (across, slice(None))
        self._down, self._clean = down, page[self._band]
        self._middles = (first + (np.arange(count, dtype=np.float32) + 0.5) * frame.cell) * scale

    def differ(self, seen: Pixels, *, is_untouched: bool = False) -> bool:
        """Whether one of them is gone from a page (side, side, 3), or another one; if the rest of the page
        `is_untouched`, they must be, too."""
        band = seen[self._band]
        if cv2.absdiff(band, self._clean).max() <= AS_BEFORE:
            return False
        drawn = _brightness(band, self._down)
        off = np.abs(drawn - self._grey)
        if is_untouched and self._wanted is not None and np.count_nonzero(off[:, self._wanted[2]] > TOUCHED) >= FEW:
            return True
        return bool(off.max() > AS_BEFORE) and self._misnamed(drawn)

    def _misnamed(self, drawn: Floats) -> bool:
        """The same of a band (H, W) in grey, running down."""
        if self._wanted is None:
            return False
        middles, half, across, want = self._wanted
        return _unlike_themselves((_unit(_patches(drawn, middles, half, across)) @ want.T).max(axis=1))

    @cached_property
    def _grey(self) -> Floats:
        return _brightness(self._clean, self._down)

    @cached_property
    def _wanted(self) -> tuple[Floats, int, slice, Floats] | None:
        """The middles (N,) of labels, half the height and the columns of pixels that they have, and how they look
        (N, pixels); None if there are none."""
        ink = np.abs(self._grey - np.median(self._grey)) > INK
        ink &= (ink.mean(axis=0) < LINE) & (ink.mean(axis=1) < LINE)[:, None]
        rows, columns = (np.flatnonzero(ink.any(axis=axis)) for axis in (1, 0))
        middles, half = _places(rows, self._middles)
        if not half:
            return None
        across = slice(int(columns[0]), int(columns[-1]) + 1)
        want = _unit(_patches(self._grey, middles, half, across)[:, STAYED])
        inked = want.any(axis=1)
        return (middles[inked], half, across, want[inked]) if inked.any() else None


def _brightness(band: Pixels, down: bool) -> Floats:
    """(H, W): a band of labels in grey, running down."""
    grey = cv2.transform(band, _GREY).astype(np.float32)
    return grey if down else np.ascontiguousarray(grey.T)


def _unlike_themselves(likeness: Floats) -> bool:
    """Whether a label is hardly like itself, or more like another, by how much each of (N, N) is like each."""
    own = likeness.diagonal()
    lead = likeness.max(axis=1) - own
    ordered = np.sort(own)
    usual, third = float(np.median(own)), float(ordered[min(2, (len(own) - 1) // 2)])
    another = lead > ANOTHER + 2 * (1 - third)
    another |= (lead > HARDLY) & (own < usual - LESS) & (third > SURE)
    return bool(ordered[0] < max(GONE, usual - SPOILT - 4 * (1 - third)) or another.any())


def _places(inked: NDArray[np.intp], middles: Floats) -> tuple[Floats, int]:
    """The middles of rows that may have a label, and half the height of the highest one, rounded up; 0 if none is.

    `inked` are the lines of pixels with ink. Where labels are higher than their rows, only every so many rows have one,
    and no label reaches beyond those: what is looked at must not, either, or a row without one would show its
    neighbour's edge for a label.
    """
    step = (middles[-1] - middles[0]) / max(1, len(middles) - 1)
    for every in range(1, len(middles) + 1):
        some, room = middles[::every], every * step / 2
        borders = np.rint(np.append(some - room, some[-1] + room)).astype(np.intp)
        if not np.isin(borders, inked).any():
            within = inked[(inked > borders[0]) & (inked < borders[-1])]
            away = np.abs(within[:, None] + 0.5 - some).min(axis=1)
            return some, min(int(room), int(np.ceil(away.max() + 0.5))) if len(within) else 0
    return middles, 0


def _patches(band: Floats, middles: Floats, half: int, across: slice) -> Floats:
    """(labels, 9, pixels): what is within `half` of each label's middle, moved by a pixel or not."""
    large = cv2.copyMakeBorder(band, half + 1, half + 1, 1, 1, cv2.BORDER_REPLICATE)
    padded = large[:, across.start : across.stop + 2]
    windows = sliding_window_view(padded, (2 * half + 2, padded.shape[1]))[middles.astype(np.intp), 0]
    moved = sliding_window_view(windows, (2 * half, padded.shape[1] - 2), axis=(1, 2))
    return moved.reshape(len(middles), 9, -1)


def _unit(patches: Floats) -> Floats:
    """Each patch (…, pixels) without its mean and of length 1; all 0 if it is blank."""
    centred = patches - patches.mean(axis=-1, keepdims=True)
    length = np.sqrt(np.einsum("...i,...i->...", centred, centred))[..., None]
    unit: Floats = np.where(length > 5.0 * np.sqrt(patches.shape[-1]), centred / np.maximum(length, 1e-6), 0.0)
    return unit
