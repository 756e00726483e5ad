"""The edges of cubes drawn anew: whether a bar was drawn along one, where the dark of the edge hides most of it, or
over one, in the colour of a side.

An edge is a line, a little wider in another hand. Without everything as thin as lines, only the sides of cubes are
left, and what was drawn over them that is thicker. And wherever an edge should be, something as dark is near.
"""

from __future__ import annotations

import cv2
import numpy as np

from gamegen.core.rendering import Pixels
from renderers.reading.foreign import Flags, most

WIDER = 2
"""Pixels by which an edge in another hand, soft rims included, is wider than ours at most."""

THINNEST = 4
"""Pixels of what is dark and no line, even in the smallest pages: there edges meet in knots of three."""

BESIDE = np.ones((5, 5), np.uint8)
"""Where the sides of a cube in another hand may end."""

LOUD, OVER, NOISY = 60.0, 2.5, 0.98
"""What is thick is off all sides around it by so many grey levels, but always so many times what this quantile of what
nobody changed is off. Of 130 views in other hands, perturbed, one that was sharpened at full strength had more than 16
pixels off by 60 in a window, but was off by 32 everywhere; bars along edges have 32 to 80."""

REACH, AREA = 3 / 256, 5 / 256
"""How far from where it should be an edge may be, and the side of a window in which most are missing, as shares of the
page's side."""

MISSING = 68.0
"""Grey levels by which nothing is as dark as an edge, on average in a window, above the same quantile of what nobody
changed. Of 86 views in other hands, perturbed, none had more than 53; a bar over the tip of a cube has 82."""


def thick_edges(seen: Pixels, meant: Pixels, whole: Pixels, line: int) -> Flags:
    """(h, w): what in a part of a view (h, w, 3) is thicker than lines, and not `meant`; where `whole` (h, w) is 0,
    nothing is drawn anew."""
    lines, knots = line + WIDER, max(THINNEST, line + WIDER)
    high = cv2.dilate(cv2.max(*_without_lines(meant, lines)), BESIDE)
    low = cv2.erode(cv2.min(*_without_lines(meant, knots)), BESIDE)
    lighter = (cv2.subtract(each, high) for each in _without_lines(seen, lines))
    darker = (cv2.subtract(low, each) for each in _without_lines(seen, knots))
    off = [most(cv2.max(one, other)) for one, other in zip(lighter, darker, strict=True)]
    least = np.asarray(cv2.min(*off))
    return np.asarray(least > max(LOUD, OVER * float(np.quantile(least[whole == 0], NOISY))))


def missing_edges(seen: Pixels, meant: Pixels, whole: Pixels, side: int) -> Flags:
    """(h, w): where, in a part of a page of `side` pixels, nothing is as dark as an edge nearby; arguments as above."""
    reach, window = 2 * round(REACH * side) + 1, round(AREA * side)
    near = np.ones((reach, reach), np.uint8)
    darkest, meant_darkest = (cv2.erode(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), near) for image in (seen, meant))
    missing = cv2.blur(cv2.subtract(darkest, meant_darkest), (window, window))
    return np.asarray(missing > MISSING + float(np.quantile(missing[whole == 0], NOISY)))


def _without_lines(image: Pixels, width: int) -> tuple[Pixels, Pixels]:
    """(h, w, 3) each: an image without what is thinner than so many pixels, dark lines first or light ones."""
    square = np.ones((width, width), np.uint8)
    orders = ((cv2.MORPH_CLOSE, cv2.MORPH_OPEN), (cv2.MORPH_OPEN, cv2.MORPH_CLOSE))
    one, other = (
        np.asarray(cv2.morphologyEx(cv2.morphologyEx(image, first, square), then, square)) for first, then in orders
    )
    return one, other
