"""Cells with borders beside one another: what one of them shows besides its contents and a border like the others'.

One hand draws all borders alike. So the share of border in each pixel of a cell is about what it is in most cells at
that place, or beside it; all the rest is what was in the cell before. A cross over a cell, a bar through its border or
a side that is missing is neither, in whatever colour it is drawn: in the border's own, in that of the contents, or in
the ground's. Light is looked at closely, colour only around each pixel, since compression smears it.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from renderers.reading.hues import Layer
from renderers.reading.redrawn import OPPONENT
from renderers.reading.register import Floats

Levels = NDArray[np.float32]

EDGE = 2
"""Pixels at the edge of a cell that are not looked at: grid lines are there, and what bleeds in from next door."""

NEAR = np.ones((3, 3), np.uint8)
"""The pixels by which a border may be elsewhere than in other cells: hands tremble by 0.03 of a cell."""

SLACK = 0.2
"""By how much more or less of a pixel it may cover."""

SURE = 0.6
"""The share of a pixel that it must cover, at most, where other borders cover all of it."""

DEEPEST = 0.25
"""Share of a cell, at its edge, where a border may be if too few others tell."""

FEWEST = 3
"""So many borders tell what one looks like, even if one of them was drawn upon."""

LIGHT, COLOUR = 50.0, 50.0
"""Levels by which a pixel is otherwise than it may be."""

STROKE = 0.22
"""So many of these, as a share of a cell's side, make a stroke: right answers, however compressed, blurred or painted,
have up to 0.15, and bars of four pixels (of 512) 0.29 and more."""

BADLY = 0.95
"""And beyond what this share of the cells has in which nothing was drawn: bad pictures have such pixels anywhere."""


def strange_pixels(cells: Floats, contents: Floats, shades: Floats, framed: Layer) -> Floats:
    """(M,): how many pixels, as a share of its side, each of the cells (M, n, n, 3) has that are neither of its own
    contents (M, n, n, 3) nor of a border of its shade (M, 3). Cells that are not `framed` (M,) are in a closed line
    with others, which has no place of its own in them."""
    seen, given = _levels(cells), _levels(contents)
    beyond, way = seen - given, (shades @ OPPONENT.T).astype(np.float32)[:, None, None] - given
    cover = np.einsum("mijc,mijc->mij", beyond, way) / np.maximum(np.einsum("mijc,mijc->mij", way, way), 1.0)
    least, most = _anywhere(cells.shape[1])
    if np.count_nonzero(framed) >= FEWEST:
        usual = np.median(cover[framed], axis=0)
        alike = np.minimum(cv2.erode(usual, NEAR) - SLACK, SURE), cv2.dilate(usual, NEAR) + SLACK
        least, most = (np.where(framed[:, None, None], *bounds) for bounds in zip(alike, (least, most), strict=True))
    beyond -= np.clip(cover, least, most)[..., None] * way
    return _count(beyond)


def strange_contents(cells: Floats, contents: Floats) -> Floats:
    """(M,): the same of cells without a border."""
    return _count(_levels(cells) - _levels(contents))


def _count(beyond: Floats) -> Floats:
    """(M,): how many pixels, as a share of its side, each cell has that are too far beyond (M, n, n, 3) what it may
    show, in light or in colour."""
    n = beyond.shape[1]
    inner = beyond[:, EDGE : n - EDGE, EDGE : n - EDGE]
    light, red, blue = (inner[..., channel] for channel in range(3))
    strange = (np.abs(light) > LIGHT) | (red * red + blue * blue > COLOUR**2)
    shares: Floats = np.count_nonzero(strange, axis=(1, 2)) / n
    return shares


def _levels(cells: Floats) -> Levels:
    """Cells (M, n, n, 3) in light and colour, with the mean of colour around each pixel."""
    tall = cv2.transform(np.ascontiguousarray(cells, np.float32).reshape(-1, cells.shape[2], 3), OPPONENT)
    smooth = cv2.blur(tall, (3, 3))  # mixes cells only at their edges, where nobody looks
    smooth[..., 0] = tall[..., 0]
    return np.asarray(smooth).reshape(cells.shape)


def _anywhere(n: int) -> tuple[Levels, Levels]:
    """(n, n) each: the least and most that a border may cover of each pixel, if it may be wherever borders are."""
    rim = int(np.ceil(DEEPEST * n))
    most = np.full((n, n), 1 + SLACK, np.float32)
    most[rim : n - rim, rim : n - rim] = SLACK
    return np.full((n, n), -SLACK, np.float32), most
