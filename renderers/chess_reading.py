"""Chessmen that are hard to name: those that were cut out and pasted, and those in highlighted squares.

A pasted man is a little larger or smaller, beside the middle, with a rim of his old square, and may be as near to the
tile of another man as to his own. He is then compared with pasted men of every kind. In a highlighted square the border
hides a part of the man: there the middle alone must tell who he is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.errors import UnreadableImage
from gamegen.core.rendering import Style
from gamegen.games.chess import Diagram
from renderers.board import BoardRenderer, Seen, reading_tiles, smooth_tiles
from renderers.frames import closely, middles, read_frames, without_ink
from renderers.laid import Look
from renderers.overdrawn import compared_tiles, overdrawn
from renderers.reading.classify import (
    LOWEST_CONFIDENCE,
    NOISE,
    Named,
    classify,
    demand,
    demand_single,
    smooth,
    strength,
)
from renderers.reading.framed import Framed, is_stroke, strange_contents
from renderers.reading.hand import Hand
from renderers.reading.hues import FAINTEST, Hues, from_grey
from renderers.reading.outlines import Outlines
from renderers.reading.redrawn import OPPONENT
from renderers.reading.register import Floats
from renderers.reading.tiles import split_cells

SCALES = (0.95, 1.0, 1.05)
"""How much larger a pasted man may be."""

APART = 2
"""Pixels that he may be off, each way, beside those by which tiles are tried anyhow."""

PALER = 0.68
"""The share of the strength of others of their side that men must have who took another. Of 1,100 right ones,
painted and perturbed, none has less than 0.83; half of one has 0.5."""

KINDS = 13
"""What a square of one shade can show: twelve men or nothing."""

ONE_HUE = 0.986
"""Cosine between the hues of two highlights in one colour, on squares of one shade: one hand's are within 5 degrees,
even sharpened or compressed; half of the next colour turns one by 14."""

MOST = 6
"""Squares that are looked at so closely, at most: castling changes four, and a bad picture may cast doubt on others."""

CLOSER = 2
"""How many times larger highlighted squares are looked at, at most, if something may be drawn over them."""

STROKE = 0.65
"""So many strange pixels, as a share of a square's side at reading size, make a stroke: right answers have 0.57 at
most, where a border lies on the foot of a man, and 0.3 if they were sharpened, strokes 1.2 and more."""

SAME = 12.0
"""Grey levels within which a pixel of a tile is its square's own."""


def settle_pasted(
    named: Named, seen: Seen, given: NDArray[np.intp], style: Style, renderer: BoardRenderer[Diagram]
) -> Named:
    """Name those squares again that changed and could show two men, if they are few enough to be worth the while."""
    doubtful = (named.symbols != given) & (named.confidence < LOWEST_CONFIDENCE)
    if not 0 < np.count_nonzero(doubtful) <= MOST:
        return named
    symbols, confidence, distance = named.symbols.copy(), named.confidence.copy(), named.distance.copy()
    inset = smooth_tiles(renderer, style, 8, 8).inset + 1
    for cell in zip(*np.nonzero(doubtful), strict=True):
        gaps = _gaps(seen.cells[cell], _pasted(renderer, style, sum(cell) % 2), inset)
        first, second = np.argsort(gaps)[:2]
        symbols[cell] = first + sum(cell) % 2 * len(gaps)
        distance[cell] = gaps[first]
        confidence[cell] = 1 - (gaps[first] + NOISE) / (gaps[second] + NOISE)
    return replace(named, symbols=symbols, confidence=confidence, distance=distance)


def read_highlights(
    seen: Seen, style: Style, marks: Floats, shades: Floats, ground: NDArray[np.intp], faintest: Floats
) -> Outlines:
    """The highlights, as `read_frames` sees them; or, where they are in doubt, in more pixels and without the tint of
    the squares, which turns the hue of thin lines."""
    try:
        return read_frames(seen, style, marks, shades, ground, faintest=faintest)
    except UnreadableImage:
        tints = (shades - shades.mean(axis=1, keepdims=True))[ground.ravel()]
        closer = read_frames(_closely(seen), style, marks, shades, ground, faintest=faintest, tints=tints)
        return closer.laid_on(Hues.of(seen.board, marks, len(ground), faintest).without(tints))


def demand_one_hue(outlines: Outlines, shades: NDArray[np.intp]) -> None:
    """Raise UnreadableImage if the hue of a highlight is unlike that of most others of its colour on its shade, which
    `shades` (8, 8) numbers: then it may be meant to be of another colour."""
    own = outlines.own
    framed = np.flatnonzero(np.bincount(own.cells))
    if len(framed) < 2:
        return
    ways = from_grey(np.stack([np.bincount(own.cells, channel).take(framed) for channel in own.pixels.T], axis=1))
    kinds = 2 * outlines.colours.take(framed) + shades.take(framed)
    of_kind = np.equal.outer(kinds, kinds)
    alike = np.where(of_kind, ways @ ways.T, 0.0)
    usual = np.where(of_kind, alike.sum(axis=1), -1.0).argmax(axis=1)  # of each one's kind the one most like all others
    odd = np.flatnonzero(alike[np.arange(len(framed)), usual] < ONE_HUE)
    if len(odd):
        row, col = divmod(int(framed[odd[0]]), 8)
        raise UnreadableImage(f"the border of cell ({row}, {col}) may be of one colour or of another")


def demand_men_inside(
    outlines: Outlines,
    plain: Seen,
    named: Named,
    given: NDArray[np.intp],
    style: Style,
    renderer: BoardRenderer[Diagram],
) -> None:
    """Raise UnreadableImage if the middle of a highlighted square, where no ink hides anything, shows another man than
    the whole square, or two at once."""
    marked = outlines.colours >= 0
    if not marked.any():
        return
    tiles = middles(smooth_tiles(renderer, style, 8, 8))
    allowed = np.equal.outer(given // KINDS, np.arange(len(tiles.images)) // KINDS)
    inside = classify(plain.cells[marked][None], tiles, allowed=allowed[marked][None], known=given[marked][None])
    same = inside.symbols[0] == named.symbols[marked]
    confidence, distance = np.ones((8, 8)), np.zeros((8, 8))
    confidence[marked], distance[marked] = inside.confidence[0] * same, inside.distance[0]
    found = Named(named.symbols, confidence, distance)
    demand(found)
    demand_single(plain.cells, tiles, found, before=given, allowed=allowed)


def demand_as_strong(
    plain: Seen, named: Named, given: NDArray[np.intp], style: Style, renderer: BoardRenderer[Diagram]
) -> None:
    """Raise UnreadableImage if a man who took another is much paler than those of his side who stayed: how much the
    square has changed does not tell then."""
    tiles, symbols = smooth_tiles(renderer, style, 8, 8), named.symbols
    is_man, is_white = symbols % KINDS > 0, symbols % KINDS <= KINDS // 2
    new = is_man & (symbols != given) & (given % KINDS > 0)
    if not new.any():
        return
    ground = tiles.images[symbols // KINDS * KINDS]
    shown, meant = (strength(each, ground, tiles.inset) for each in (plain.cells, tiles.images[symbols]))
    share = shown / np.maximum(meant, 1.0)
    for side in (is_white, ~is_white):
        old = share[is_man & ~new & side]
        usual = min(1.0, float(np.median(old))) if len(old) else 1.0
        pale = new & side & (share < PALER * usual)
        if pale.any():
            row, col = np.argwhere(pale)[0]
            raise UnreadableImage(f"the man in cell ({row}, {col}) is drawn so faintly that he may not be meant")


def overdrawn_man(
    seen: Seen,
    named: Named,
    given: NDArray[np.intp],
    outlines: Outlines,
    style: Style,
    renderer: BoardRenderer[Diagram],
) -> Cell | None:
    """A square without a highlight that changed, and shows more than the man on it, or something though it is empty.

    On nearly empty boards most squares tell nothing about a picture that was sharpened; those with men do."""
    tiles, symbols = compared_tiles(renderer, style, seen.frame), named.symbols
    bare, men = outlines.colours < 0, given % KINDS > 0

    def looks(cell: Cell) -> Iterator[Look]:
        yield Look.of(tiles[symbols[cell]], tiles[symbols[cell] // KINDS * KINDS])

    changed, telling = (symbols != given) & bare, (symbols == given) & bare & men
    return overdrawn(seen, given, symbols, changed, tiles, looks, telling=telling)


def scrawled_square(seen: Seen, plain: Seen, outlines: Outlines, hand: Callable[[int], Hand]) -> Cell | None:
    """A highlighted square that shows more than its man and its highlight: `plain` is the picture without highlights,
    and `hand` that of the given one, in squares of so many pixels.

    What is suspect is looked at again in more pixels, if there are more."""
    marked = outlines.colours >= 0
    if not marked.any():
        return None
    look = _Highlights.of(seen, plain, outlines, hand)
    if (is_open := look.framed.is_open()).any():
        return Cell(*np.argwhere(marked)[is_open.argmax()].tolist())
    if not look.framed.suspect().any():
        return None
    closer = _closely(seen)
    if closer is not seen:
        outlines = outlines.laid_on(Hues.of(closer.board, outlines.own.marks, seen.frame.rows, FAINTEST))
        look = _Highlights.of(closer, without_ink(closer, outlines), outlines, hand)
    strange, share = look.framed.strange(closely=True), len(seen.board) / len(closer.board)
    if not is_stroke(share * float(strange.max()), share * look.strange_bare(), enough=STROKE):
        return None
    return Cell(*np.argwhere(marked)[strange.argmax()].tolist())


@dataclass(frozen=True, slots=True, eq=False)
class _Highlights:
    """Highlighted squares, and what is strange in the others."""

    framed: Framed
    bare: tuple[Floats, Floats]  # (M, n, n, 3) each: squares without a highlight, and what they should show
    explained: float

    @classmethod
    def of(cls, seen: Seen, plain: Seen, outlines: Outlines, hand: Callable[[int], Hand]) -> _Highlights:
        marked = outlines.colours >= 0
        mixing = hand(len(seen.board) // seen.frame.rows).mixing(light_of(plain.board))
        contents = split_cells(cv2.filter2D(seen.known, -1, mixing.kernel, delta=mixing.base), 8, 8)
        cells, ink = split_cells(seen.board, 8, 8), outlines.own_shades
        framed = Framed(cells[marked], contents[marked], ink[marked], outlines.framed[marked], mixing.explains)
        return cls(framed, (cells[~marked], contents[~marked]), mixing.explains)

    def strange_bare(self) -> Floats:
        """(M,): as `Framed.strange`, of the squares without a highlight."""
        return strange_contents(*self.bare, self.explained, closely=True)


def _closely(seen: Seen) -> Seen:
    return closely(seen, CLOSER * len(seen.board) // seen.frame.rows)


def light_of(board: Floats) -> Floats:
    """(h, w): how light each pixel of a board (h, w, 3) is."""
    return np.asarray(cv2.transform(board, OPPONENT[:1]))


def _gaps(cell: Floats, men: Floats, inset: int) -> Floats:
    """(K,): root mean square distance of a square (n, n, 3) to each of the men (K, ways, n, n, 3), however he lies."""
    part = np.ascontiguousarray(cell[inset:-inset, inset:-inset], np.float32)
    edge = max(0, inset - APART)
    around = men[:, :, edge : men.shape[2] - edge, edge : men.shape[3] - edge]
    gaps = [[cv2.matchTemplate(np.ascontiguousarray(way), part, cv2.TM_SQDIFF).min() for way in man] for man in around]
    nearest: Floats = np.sqrt(np.maximum(np.min(gaps, axis=1), 0) / part.size)
    return nearest


@lru_cache(maxsize=16)
def _pasted(renderer: BoardRenderer[Diagram], style: Style, shade: int) -> Floats:
    """(K, ways, n, n, 3): what squares of a shade may show, nothing first, pasted in all ways."""
    tiles = reading_tiles(renderer, style, 8, 8)
    own, other = np.split(tiles, 2)[:: 1 - 2 * shade]
    looks = []
    for here, there in zip(own, other, strict=True):
        apart = (np.abs(there - other[0]).max(axis=2) > SAME).astype(np.float32)
        cut = cv2.GaussianBlur(cv2.dilate(apart, np.ones((3, 3), np.uint8)), (3, 3), 0)[..., None]
        looks.append([_scaled(each, scale) for each in (here, own[0] + cut * (there - own[0])) for scale in SCALES])
    return smooth(np.array(looks, np.float32))


def _scaled(tile: Floats, scale: float) -> Floats:
    """A tile (n, n, 3) whose contents are larger, about its middle."""
    middle = (1 - scale) * (len(tile) - 1) / 2
    to = np.array([[scale, 0, middle], [0, scale, middle]])
    large = cv2.warpAffine(np.asarray(tile, np.float32), to, tile.shape[:2], borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(large)
