"""Ink: whether a coloured border was drawn in full, or so thinly that the ground shows through."""

from __future__ import annotations

import numpy as np

from renderers.reading.fit import median, medians
from renderers.reading.hues import Hues, Layer, Numbers
from renderers.reading.register import Floats

OPAQUE, FAINT = 0.6, 0.54
"""Share of ink in the middle of a line that is surely meant, and that may be a blurred one."""

ENOUGH_INK = 0.68
"""Blur spreads ink and takes none away: the share of a clean frame's ink that a blurred one must have."""

EVEN = 0.6
"""One hand draws all highlights alike: the share of ink that one must have of what most of its colour and ground have.
Trembling, compressed ones have 0.8 and more, those in the finest grids 0.65, and one through which half of the ground
shows 0.5."""

DARK = 128.0
"""On a ground darker than this a darker shade of a colour looks just like a faint one."""

DEPTH = 0.3
"""How far into a cell its border may reach, as a share of its side."""

CORNER = 0.15
"""Share of a side, at both ends, that is the corner and belongs to no side."""


def faint_frames(hues: Hues, colours: Numbers, bordered: Layer, shades: Floats, ground: Numbers, width: float) -> Layer:
    """(R, R): which borders have so little ink that the ground shows through, judged by their two best sides; or much
    less than others, judged by their two worst, since a neighbour's border may bleed into a side."""
    n = hues.grid.n
    depth, corner = max(2, round(DEPTH * n)), round(CORNER * n)
    along = slice(corner, n - corner)
    framed = hues.some(hues.names == colours.take(hues.cells))
    marked = np.flatnonzero(colours >= 0)  # (K,), in the flat cells
    first = np.cumsum(colours >= 0) - 1
    cells = np.zeros((len(marked), n, n), np.float32)  # (K, n, n)
    places = first.take(framed.cells) * n**2 + framed.grid.within.take(framed.places)
    cells.reshape(-1)[places] = _ink(framed, shades, ground.take(framed.cells))
    turned = np.ascontiguousarray(cells.transpose(0, 2, 1))
    strips = [part[:, some, along] for part in (cells, turned) for some in (slice(depth), slice(n - depth, n))]
    across = np.stack(strips)  # (4, K, depth, along)
    sides = medians(np.stack([across.max(axis=2), across.sum(axis=2)]))  # (2, 4, K)
    ranked = np.sort(sides, axis=1)
    peak, amount = ranked[:, 2:].mean(axis=1)
    faint = (peak < OPAQUE) & ((peak < FAINT) | (amount < ENOUGH_INK * width * n)) & (amount > 0)
    kinds = (colours * len(shades) + ground).take(marked)
    closed = bordered.take(marked)  # on all sides: of a line around several cells each has a part
    faint[closed] |= _is_uneven(ranked[0, :2, closed].mean(axis=1), kinds[closed])
    found = np.zeros(colours.shape, bool)
    found.reshape(-1)[marked] = faint
    return found


def _is_uneven(ink: Floats, kinds: Numbers) -> Layer:
    """(K,): which of the borders with so much ink (K,) have much less than most others of their kind (K,)."""
    usual = np.zeros(kinds.max(initial=0) + 1)
    for kind in np.flatnonzero(np.bincount(kinds)):
        usual[kind] = median(ink[kinds == kind])
    uneven: Layer = ink < EVEN * usual.take(kinds)
    return uneven


def _ink(hues: Hues, shades: Floats, ground: Numbers) -> Floats:
    """(N,): how much of each coloured pixel is ink, and not the ground behind it, which is of one of the shades (S, 3).

    A pixel is taken to be p x ground + q x mark, in any shade: then q / (p + q) is ink. On a dark ground, where a shade
    tells nothing, q itself is; and what is lighter than both is a lighter shade of the mark, so that this is ink, too.
    """
    mark, behind = hues.marks[:, None], shades[None]
    mm, gg, mg = (
        (one * other).sum(axis=2, keepdims=True) for one, other in ((mark, mark), (behind, behind), (mark, behind))
    )
    both = np.maximum(mm * gg - mg * mg, 1e-6)
    ways = (mark * gg - behind * mg) / both, (behind * mm - mark * mg) / both  # (marks, shades, 3) each
    pairs = hues.names * len(shades) + ground
    q, p = (
        np.einsum("ij,ij->i", hues.pixels, way.astype(np.float32).reshape(-1, 3).take(pairs, axis=0)) for way in ways
    )
    light = shades.mean(axis=1).astype(np.float32).take(ground)
    lighter = np.maximum(p - np.maximum(1 - q, 0.0), 0.0) * light / 255
    share: Floats = np.where(light < DARK, q + lighter, q / np.maximum(q + np.maximum(p, 0.0), 1e-6))
    return share.clip(0.0, 1.0)
