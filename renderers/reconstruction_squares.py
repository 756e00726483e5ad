"""The squares of a silhouette and the lines around them: whether something was drawn over them.

A square is one even colour up to its lines. Whoever fills or wipes it may have another shade, may cover the lines with
it, and may leave a rim of what was there. So every pixel is a mixture of the square's colour, the line's and what was
there, with no more of the last two than its place allows. What no such mixture explains, averaged along a line, over a
spot or along a diagonal, was drawn there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import cv2
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from renderers.reading.foreign import Flags
from renderers.reading.register import Box, Floats
from renderers.reconstruction_anew import Anew, filled
from renderers.reconstruction_reading import Look

RIM, WIPED = 0.11, 2.0
"""How deep a rim of what was there may be: a share of a square's side, but so many pixels where it was wiped."""

FEW, DEEPER, BLUR = 4, 0.05, 0.3
"""So many squares tell how deep this hand leaves rims on each side: mostly, and no more than this share of a square's
side and so many pixels deeper."""

SHARP, SOFT, BLURRED, AT_LEAST = 0.7, 2.0, 0.7, 0.5
"""Pixels by which edges are soft, and by which they are in a blurred picture: there, softer edges leave less than this
share of the noise, by so many grey levels (with sigma 2 a tenth to a half; through JPEG, four fifths or more)."""

MARGIN = 5.3 / 512
"""Share of a page's side, around a silhouette, in which there is nothing but page: labels begin beyond."""

SHADE = 60.0
"""Grey levels by which a hand's shade may differ from ours."""

INNER = 0.12
"""Share of a square's side, at its border, that does not tell its shade."""

FLAT = 6.0
"""Grey levels by which a pixel may be off its square's colour and needs no other explanation."""

ROUNDS = 3
"""How often the two shares of a mixture are mended, one after the other."""

LINE, SPOT, SLANT, CALM = (44.0, 2.0), (28.0, 1.6), (17.0, 1.25), 0.9
"""Grey levels that only a stroke leaves, along a line, over a spot and along a diagonal, and how many times the noise
is added: what this share of the pixels has at most.

Of some 1,500 silhouettes, painted and perturbed, at 256 and 512 pixels, none left more than 43, 20 and 16 above that, a
square with an uneven corner, of 3,000 more, 26 over a spot,
but for a few that were sharpened. Painted ones as they are leave 17, 9 and 7 in all; of 37 strokes that were missed at
256 pixels, most through JPEG, the faintest leave 41 over a spot, and most 60 to 150.
"""

BAR_LIGHT, BAR_TINT = (9.7, 2.8), (8.5, 2.7)
"""The same for what is left in lightness and in tint along a bar as wide as a stroke, its sign kept: there most of what
compression leaves is gone, half of it being too much and half too little. The noise is what is left along such bars.
Right answers, painted and perturbed, have up to 0.88 and 0.96 of this."""

FINE = 400
"""Side of a page from which on strokes are longer and wider."""

FINE_SIZES, COARSE_SIZES = (17, 4, 11), (9, 3, 7)
"""Pixels of a line, a spot and a diagonal."""

FINE_BAR, COARSE_BAR = (5, 20), (4, 12)
"""Pixels of a bar."""

LIGHT_AND_TINTS = np.array([[0.299, 0.587, 0.114], [-0.169, -0.331, 0.5], [0.5, -0.419, -0.081]], np.float32)
"""From red, green and blue to lightness and two tints, of which compression spoils the tints only."""

Colours = Mapping[str, Floats]
"""By name, (3,) each: lightness and tints."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Pixels of a silhouette of n x n squares, each with the lines above and left of it, and of the page around."""

    n: int
    cell: int
    line: int
    margin: int

    @property
    def side(self) -> int:
        return self.n * self.cell + self.line + 2 * self.margin

    @property
    def inside(self) -> tuple[slice, slice]:
        return (slice(self.margin, -self.margin),) * 2


def is_struck(look: Look, anew: Anew, name: str, side: int) -> bool:
    """Whether something was drawn over a silhouette of which squares changed, on a page of `side` pixels."""
    sharp = _unexplained(look, anew, name, side, SHARP)
    if not _is_marked(sharp, side):
        return False
    soft = _unexplained(look, anew, name, side, SOFT)
    return _is_marked(soft, side) or _noise(_most(soft)) > BLURRED * _noise(_most(sharp)) - AT_LEAST


def _is_marked(left: Floats, side: int) -> bool:
    off = _most(left)
    noise = _noise(off)
    return any(
        float(_averaged(off, kernel).max()) > least + over * noise
        for kernel, (least, over) in _kernels(*(FINE_SIZES if side >= FINE else COARSE_SIZES))
    ) or any(_is_barred(_averaged(left, bar)) for bar in _bars(*(FINE_BAR if side >= FINE else COARSE_BAR)))


def _is_barred(left: Floats) -> bool:
    """Whether averages along bars (h, w, 3) are more than noise anywhere, in lightness or in tint."""
    light, tint = np.abs(left[..., 0]), np.hypot(left[..., 1], left[..., 2])
    return any(
        float(each.max()) > least + over * float(np.quantile(each, CALM))
        for each, (least, over) in ((light, BAR_LIGHT), (tint, BAR_TINT))
    )


def _averaged(left: Floats, kernel: Floats) -> Floats:
    return np.asarray(cv2.filter2D(left, -1, kernel, borderType=cv2.BORDER_CONSTANT))


def _noise(off: Floats) -> float:
    return float(np.quantile(off, CALM))


@lru_cache(maxsize=2)
def _kernels(line: int, spot: int, slant: int) -> list[tuple[Floats, tuple[float, float]]]:
    """What is averaged over, with the limits for it."""
    along, falling = np.ones((1, line)), np.eye(slant) + np.eye(slant, k=1) + np.eye(slant, k=-1)
    kernels = ((along, LINE), (along.T, LINE), (np.ones((spot, spot)), SPOT), (falling, SLANT), (falling[::-1], SLANT))
    return [((kernel / kernel.sum()).astype(np.float32), limits) for kernel, limits in kernels]


@lru_cache(maxsize=2)
def _bars(wide: int, long: int) -> list[Floats]:
    """What is averaged over along bars: across, down and along both diagonals."""
    at, across = np.arange(long), np.ones((wide, long))
    falling = (np.abs(at[:, None] - at) <= wide // 2).astype(float)
    kernels = (across, across.T, falling, falling[::-1])
    return [(kernel / kernel.sum()).astype(np.float32) for kernel in kernels]


def _unexplained(look: Look, anew: Anew, name: str, side: int, soft: float) -> Floats:
    """(h, w, 3): by how many grey levels the pixels of a silhouette, and around it, are off all that they may be."""
    layout, scale = look.layout, side / look.layout.pixels
    grid = Grid(layout.n, round(layout.cell * scale), max(1, round(layout.line * scale)), round(MARGIN * side))
    box, size = _box(look, name, grid.margin / scale), (grid.side, grid.side)
    seen = np.asarray(cv2.transform(look.drift.undo(look.registration.crop(box, size)), LIGHT_AND_TINTS))
    colours = {
        each: LIGHT_AND_TINTS @ np.array(look.style.colours()[each], np.float32)
        for each in ("page", "frame", "blank", "filled")
    }
    left = _off_page(seen, colours, grid, soft)
    squares = sliding_window_view(seen[grid.inside], (grid.cell + grid.line,) * 2, axis=(0, 1))
    squares = np.moveaxis(squares[:: grid.cell, :: grid.cell], 2, -1)  # (n, n, s, s, 3)
    was, now = (filled(position.view(name)) for position in (anew.before, anew.after))
    for fill, is_fill in (("filled", now), ("blank", ~now)):
        for is_new, chosen in ((True, is_fill & (was != now)), (False, is_fill & (was == now))):
            if chosen.any():
                off = _off_squares(squares[chosen], fill, colours, grid.line, soft, is_new=is_new)
                _lower(left[grid.inside], chosen, off, grid.cell)
    left[~look.registration.covers(box, size)] = 0
    return left


def _box(look: Look, name: str, margin: float) -> Box:
    """A silhouette with its closing lines and a margin."""
    layout = look.layout
    top, left, side = layout.panel(name)
    far = side + layout.line + margin
    x, y, right, bottom = (at / layout.pixels for at in (left - margin, top - margin, left + far, top + far))
    return x, y, right, bottom


def _lower(left: Floats, chosen: Flags, off: Floats, cell: int) -> None:
    """Write by how much squares (K, s, s, 3) are off; lines have what is the least of the squares beside them."""
    size = off.shape[1]
    for (row, col), square in zip(np.argwhere(chosen) * cell, off, strict=True):
        part = left[row : row + size, col : col + size]
        np.copyto(part, square, where=(_most(square) < _most(part))[..., None])


def _off_page(seen: Floats, colours: Colours, grid: Grid, soft: float) -> Floats:
    """(h, w, 3): by how much pixels around a silhouette are off the page, or the line beside; inside of it all that can
    be."""
    panel = np.zeros(seen.shape[:2], np.float32)
    panel[grid.inside] = 1
    left, around = np.full_like(seen, np.inf), panel == 0
    edge, most_edge = colours["frame"] - colours["page"], _softened(panel, soft)[around]
    rest = seen[around] - colours["page"]
    left[around] = _off_mixtures(rest, np.zeros_like(edge), edge, np.zeros_like(most_edge), most_edge)
    return left


def _off_squares(squares: Floats, fill: str, colours: Colours, line: int, soft: float, *, is_new: bool) -> Floats:
    """(K, s, s, 3): by how much pixels of squares that have a fill are off all that they may be."""
    size, own = squares.shape[1], colours[fill]
    if is_new:
        own = _shade(squares, own, line)
    rest = squares - own
    old, edge = colours["blank" if fill == "filled" else "filled"] - own, colours["frame"] - own
    most = RIM * (size - line) if fill == "filled" else WIPED
    depths = _depths(rest, old, line, most) if is_new else np.zeros(4)
    far: Flags = _most(rest) > FLAT
    shares = (np.broadcast_to(share, far.shape)[far] for share in _shares(size - line, line, depths, soft))
    rest[far] = _off_mixtures(rest[far], old, edge, *shares)
    return rest


def _shade(squares: Floats, own: Floats, line: int) -> Floats:
    """(3,): a hand's shade of a colour in squares (K, s, s, 3): of what they mostly have, the nearest to the colour,
    since one may be half hidden under a stroke."""
    size = squares.shape[1]
    inner = slice(line + int(INNER * size), -line - int(INNER * size))
    mostly = np.median(squares[:, inner, inner], axis=(1, 2))
    apart = np.abs(mostly - own).max(axis=1)
    return mostly[apart.argmin()].astype(np.float32) if apart.min() < SHADE else own


def _off_mixtures(rest: Floats, old: Floats, edge: Floats, most_old: Floats, most_edge: Floats) -> Floats:
    """(N, 3): by how much pixels are off all mixtures of what is 0 with two colours (3,), of which there may be so
    much (N,)."""
    on_old, on_edge = rest @ old, rest @ edge
    both, old_size, edge_size = float(old @ edge), max(1.0, float(old @ old)), max(1.0, float(edge @ edge))
    old_share = np.zeros_like(on_old)
    for _ in range(ROUNDS):
        edge_share = np.clip((on_edge - both * old_share) / edge_size, 0, most_edge)
        old_share = np.clip((on_old - both * edge_share) / old_size, 0, most_old)
    return np.asarray(rest - old_share[:, None] * old - edge_share[:, None] * edge)


def _most(off: Floats) -> Floats:
    """(…): the largest of the three values (…, 3), whatever their sign."""
    first, second, third = (np.abs(off[..., channel]) for channel in range(3))
    return np.maximum(np.maximum(first, second), third)


def _depths(rest: Floats, old: Floats, line: int, most: float) -> Floats:
    """(4,): how deep rims may be above, below, left and right of squares (K, s, s, 3)."""
    if len(rest) < FEW:
        return np.full(4, most)
    size, rows = rest.shape[1], 1 + ceil(most)
    inside = rest[:, line : size - line, line : size - line]
    turned = inside.swapaxes(1, 2)
    sides = (inside[:, :rows], inside[:, -rows:], turned[:, :rows], turned[:, -rows:])
    shares = (((side @ old) / max(1.0, float(old @ old))).clip(0, 1) for side in sides)  # (K, rows, L) each
    mostly = np.array([np.median(share.sum(axis=1).mean(axis=1)) for share in shares])
    return np.asarray(np.minimum(mostly + DEEPER * (size - line) + BLUR, most))


def _shares(cell: int, line: int, depths: Floats, soft: float) -> tuple[Floats, Floats]:
    """(s, s) each: how much of a pixel, at most, may be what was there, and the line."""
    at = np.arange(cell + line)
    on_line = (at < line) | (at >= cell)
    above, below, left, right = depths.tolist()
    down, across = (
        np.maximum(near - (at - line), far - (cell - 1 - at)).clip(0, 1)
        for near, far in ((above, below), (left, right))
    )
    inside = ~(on_line[:, None] | on_line)
    rims = np.maximum(down[:, None], across) * inside
    return _softened(rims, soft), _softened(1.0 - inside, soft)


def _softened(shares: Floats, soft: float) -> Floats:
    shares = shares.astype(np.float32)
    return np.asarray(cv2.max(shares, cv2.GaussianBlur(shares, (0, 0), soft, borderType=cv2.BORDER_REPLICATE)))
