"""Jewel2 in pictures: seven cut stones, each of its own shape and colour, with facets that catch the light.

Facets meet by averaging their tones, so a pixel is always one colour with a step of light or of shade in it, and seven
stones with all their marks fit into one palette. Marks (bars and a star) are the strongest light, edged with shade.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.errors import UnreadableImage
from gamegen.core.problem import Problem
from gamegen.core.rendering import Pixels, Style
from gamegen.games.jewel2 import BOMB, COLUMN, EMPTY, PLAIN, ROW, THINGS, Position
from renderers.board import MOST_RECOLOURING, Seen, given_board, reading_tiles, smooth_tiles
from renderers.distance import Point
from renderers.inks import FULL, Coverage, Inks, Layer, Tile, compose
from renderers.page import Frame
from renderers.placed import Numbers, PlacedRenderer
from renderers.reading.classify import LOWEST_CONFIDENCE, Named, classify
from renderers.reading.colour import demand_colours, drift_between
from renderers.reading.compared import WHOLE
from renderers.reading.register import Floats, Landmarks, Registration, Scan, register
from renderers.reading.tiles import Tiles, join_cells, split_cells
from renderers.reading.traces import SIDE
from renderers.shapes import polygon, rectangle, star
from renderers.stones import STONES, Stone

Tones = NDArray[np.int64]

LIGHTEST, DARKEST, RIM = 10, -6, -4
"""The ends of the tone scale, and the tone of a stone's edge; 0 is the stone's own colour."""

SHADE_AT_DARKEST = 13
"""Parts of FULL that are shade in the darkest tone."""

EDGE_LEVELS = 3
"""A stone's outline is drawn in coverages that are multiples of this, to save palette entries."""

FACETS = 0.93
"""Facets fill this much of the outline; what is left is the rim."""

LOOKS, SURE = 4, 0.98
"""Rounds of laying a picture onto what it seems to show, and the likeness that ends them."""

MUCH_NEARER = 0.7
"""A stone of another size is believed to be another one than seemed only if it is so much nearer."""

STILL, SAME_DRIFT = 1e-3, 8e-3
"""A board found so near to where it was looked at (a quarter of a pixel of 512), and colours mended so nearly the same
way (by two grey levels), need no second look."""

SAME_INK, FEW_PIXELS = 24, 0.05
"""Labels are where they were if only a few of their pixels, as a share of all, differ by so many grey levels."""

COLOUR = 0.5
"""The weight of colour against light and shape when stones are told apart."""

_PALING = (COLOUR * np.eye(3) + (1 - COLOUR) / 3).astype(np.float32)
"""What each colour of a paled picture is made of."""

BARE = "bare"
"""A tile whose stone was wiped off, though our own empty cells look otherwise: what editors make of an empty cell."""

_EMPTY, _BARE = THINGS.index(EMPTY), len(THINGS)
_MEANS = np.array([*range(len(THINGS)), _EMPTY])
_MARKS = PLAIN + ROW + COLUMN + BOMB
_GEM = np.zeros(128, np.intp)
_GEM[[ord(thing[0]) for thing in THINGS if thing[1] == PLAIN]] = [THINGS.index(t) for t in THINGS if t[1] == PLAIN]
_MARK = np.zeros(128, np.intp)
_MARK[[ord(mark) for mark in _MARKS]] = range(len(_MARKS))


class Jewel2Renderer(PlacedRenderer[Position]):
    name = "jewel2"
    reading_cell, reading_side = 24, 256
    meaning = _MEANS
    glances = True

    def size(self, position: Position) -> tuple[int, int]:
        return position.height, position.width

    def symbols(self, style: Style) -> Sequence[str]:
        return (*THINGS, BARE)

    def paint(self, symbol: str, n: int, style: Style, inks: Inks) -> Tile:
        gap, corner = style.number("tile_gap") / 100, style.number("tile_corner") / 100
        tile = rectangle(n, box=(gap, gap, 1 - gap, 1 - gap), radius=corner)
        if symbol == EMPTY:
            return compose(inks, n, [(tile, "empty")], "page")
        if symbol == BARE:
            return compose(inks, n, [(tile, "cell")], "page")
        radius = style.number("gem_size") / 200
        return compose(inks, n, [(tile, "cell"), *_stone(n, symbol[0], symbol[1], radius)], "page")

    def encode(self, position: Position, style: Style) -> NDArray[np.intp]:
        return _numbers(position)

    def decode(self, symbols: NDArray[np.intp], problem: Problem[Position], style: Style) -> Position:
        return Position(tuple("".join([THINGS[number] for number in row]) for row in symbols.tolist()))

    def ground(self, symbol: int, style: Style) -> int:
        return _EMPTY if symbol in (_EMPTY, _BARE) else _BARE

    def looks(self, symbol: int, cell: Cell, seen: Seen, bank: Pixels) -> Sequence[Numbers]:
        """An emptied cell may be a tile whose stone was wiped off."""
        own = super().looks(symbol, cell, seen, bank)
        if symbol not in (_EMPTY, _BARE):
            return own
        return [*own, bank[_BARE if symbol == _EMPTY else _EMPTY].astype(np.intp)]

    def shown_as(self, symbols: NDArray[np.intp], seen: Seen, style: Style) -> NDArray[np.intp]:
        return _or_bare(symbols, seen.cells, style)

    def look(self, image: Pixels, problem: Problem[Position], style: Style) -> Seen:
        """A cascade leaves few cells as they were, so the picture is laid onto what it seems to show, in rounds.

        The first round supposes that the board lies where it lay; if it does, there is no other. Nothing but the
        picture and the skin's own tiles decides what is seen; a picture that is not like what it seems to show is
        refused as ever. Stones that were laid a little off must not move the board: labels tell that it lies still.
        """
        given = given_board(self, problem, style)
        scan = Scan(image)
        demand_colours(scan.image, given.page.picture)
        here = Registration(np.eye(3), 0.0, scan.image)
        seen = self._laid(here, problem.position, problem, style)
        for _ in range(LOOKS):
            guess = self.decode(seen.named.symbols, problem, style)
            registration = register(scan, _landmarks(guess, style), start=seen.registration.matrix)
            side = min(SIDE, *scan.image.shape[:2])
            if _moved(here, registration) >= STILL and _shows_labels(here, given.page.at(side).pixels, given.frame):
                return self._laid(here, guess, problem, style, before=seen)
            settled = guess == seen.guess and _moved(seen.registration, registration) < STILL
            seen = self._laid(registration, guess, problem, style, before=seen)
            if settled or registration.likeness > SURE:
                break
        return seen

    def name_cells(self, seen: Seen, problem: Problem[Position], style: Style) -> Named:
        """Stones differ in shape and light as well as in colour, and colour is what editors lose first.

        A cell that could be two things may be one of them, a little larger or smaller.
        """
        assert isinstance(seen, Laid)  # what `look` made
        unsure = seen.named.confidence < LOWEST_CONFIDENCE
        if not unsure.any():
            return seen.named
        tiles = _sized_tiles(style, seen.frame.rows, seen.frame.cols)
        again = classify(_paled(seen.cells[unsure][None]), tiles)
        named = seen.named
        symbols, confidence, distance = named.symbols.copy(), named.confidence.copy(), named.distance.copy()
        found = again.symbols[0] == symbols[unsure]
        found |= again.distance[0] < MUCH_NEARER * distance[unsure]
        symbols[unsure] = np.where(found, again.symbols[0], symbols[unsure])
        confidence[unsure] = np.where(found, again.confidence[0], 0.0)
        distance[unsure] = np.where(found, again.distance[0], distance[unsure])
        return replace(named, symbols=symbols, confidence=confidence, distance=distance)

    def _laid(
        self,
        registration: Registration,
        guess: Position,
        problem: Problem[Position],
        style: Style,
        *,
        before: Laid | None = None,
    ) -> Laid:
        """The picture's cells, colours mended by those of the board that it is believed to show.

        `before` is the last round, whose cells will do if neither place nor colours have changed.
        """
        given = given_board(self, problem, style)
        frame, known = given.frame, given.cells
        if before is not None and _moved(before.registration, registration) < STILL:
            raw, drift = before.raw, before.drift
            if not drift.is_none:
                drift = drift_between(raw, _believed(raw, guess, style))
            if np.abs(drift.fit - before.drift.fit).max() < SAME_DRIFT:
                laid = replace(before, registration=registration, drift=drift, guess=guess)
                vars(laid).update(cells=before.cells, named=before.named)
                return laid
        else:
            raw = registration.crop(frame.box, (known.shape[1], known.shape[0]))
            drift = drift_between(raw, _believed(raw, guess, style))
        if drift.recolouring(raw) > MOST_RECOLOURING:
            raise UnreadableImage("the board has been redrawn in other colours")
        tiles, likely = _pale_tiles(style, frame.rows, frame.cols), self.encode(problem.position, style)
        return Laid(registration, drift, drift.undo(raw), known, frame, given.page, raw, guess, likely, tiles)


def _believed(raw: Floats, guess: Position, style: Style) -> Floats:
    """(R*n, C*n, 3): the board that a picture is believed to show, its empty cells as ours or bare, whichever they look
    more like: colours drift by neither."""
    numbers = _numbers(guess)
    numbers = _or_bare(numbers, split_cells(raw, *numbers.shape), style)
    return join_cells(reading_tiles(renderer, style, *numbers.shape)[numbers])


def _or_bare(numbers: NDArray[np.intp], cells: Floats, style: Style) -> NDArray[np.intp]:
    """(R, C): the same symbols, but that empty cells (R, C, n, n, 3) are bare ones where they look more like these."""
    tiles = reading_tiles(renderer, style, *numbers.shape)
    empty = numbers == _EMPTY
    seen = cells[empty].mean(axis=(1, 2))
    ours, bare = (np.abs(seen - tiles[number].mean(axis=(0, 1))).sum(axis=1) for number in (_EMPTY, _BARE))
    numbers = numbers.copy()
    numbers[empty] = np.where(bare < ours, _BARE, _EMPTY)
    return numbers


@lru_cache(maxsize=64)
def _numbers(position: Position) -> NDArray[np.intp]:
    """(R, C) symbol numbers, asked for several times a picture."""
    text = np.frombuffer("".join(position.rows).encode(), np.uint8).reshape(position.height, position.width, 2)
    numbers: NDArray[np.intp] = _GEM[text[..., 0]] + _MARK[text[..., 1]]
    numbers.setflags(write=False)
    return numbers


@dataclass(frozen=True, eq=False)
class Laid(Seen):
    """A picture as one round sees it."""

    raw: Floats  # (R*n, C*n, 3): the cells with their colour drift
    guess: Position
    likely: NDArray[np.intp]  # (R, C): symbols as the editor was given them
    tiles: Tiles  # paled

    @cached_property
    def named(self) -> Named:
        return classify(_paled(self.cells), self.tiles, known=self.likely)


def _moved(one: Registration, other: Registration) -> float:
    """How far apart two places of a board are at most."""
    return float(np.abs(one.matrix - other.matrix).sum(axis=1).max())


def _shows_labels(registration: Registration, clean: Pixels, frame: Frame) -> bool:
    """Whether the labels, and all else beside the board, are exactly where a clean picture (side, side, 3) has them."""
    side, scale = len(clean), len(clean) / frame.pixels
    rows, cols = (
        slice(int(start * scale), int(stop * scale) + 1)
        for start, stop in ((frame.top, frame.bottom), (frame.left, frame.right))
    )
    counts = []
    for other in (registration.part(WHOLE, (side, side)), np.full_like(clean, clean[0, 0])):
        gap = cv2.absdiff(other, clean)
        gap[rows, cols] = 0
        counts.append(np.count_nonzero(gap > SAME_INK))
    return bool(counts[0] < FEW_PIXELS * counts[1])


@lru_cache(maxsize=64)
def _pale_tiles(style: Style, rows: int, cols: int) -> Tiles:
    tiles = smooth_tiles(renderer, style, rows, cols)
    return Tiles(np.ascontiguousarray(_paled(tiles.images[None])[0]), meaning=tiles.meaning, inset=tiles.inset)


@lru_cache(maxsize=8)
def _sized_tiles(style: Style, rows: int, cols: int) -> Tiles:
    """The same, and each also a pixel larger and smaller."""
    pale = _pale_tiles(style, rows, cols)
    n, images = pale.images.shape[1], []
    for side in (n, n - 1, n + 1):
        size, start = side / n, (n - side) // 2 + (side / n - 1) / 2
        way = np.array([[size, 0, start], [0, size, start]])
        images += [cv2.warpAffine(tile, way, (n, n), borderMode=cv2.BORDER_REPLICATE) for tile in pale.images]
    return Tiles(np.stack(images), meaning=np.tile(pale.meaning, 3), inset=pale.inset)


@lru_cache(maxsize=64)
def _landmarks(position: Position, style: Style) -> Landmarks:
    return Landmarks(renderer.render(position, style).grey())


def _paled(cells: Floats) -> Floats:
    """Cells (R, C, n, n, 3) with less colour in them."""
    rows, cols = cells.shape[:2]
    return split_cells(cv2.transform(join_cells(cells), _PALING), rows, cols)


def _stone(n: int, gem: str, mark: str, radius: float) -> list[Layer]:
    """The stone in its colour, then its light, then its shade."""
    stone = STONES[gem]
    outline = polygon(n, points=_placed(stone.outline, radius))
    outline = ((outline + EDGE_LEVELS // 2) // EDGE_LEVELS * EDGE_LEVELS).astype(np.uint8)
    tones = _tones(n, stone, radius)
    if mark != PLAIN:
        border, middle = _mark(n, mark, radius)
        tones = _over(_over(tones, border, DARKEST), middle, LIGHTEST)
    light = _scaled(np.maximum(tones, 0), FULL, LIGHTEST)
    shade = _scaled(np.maximum(-tones, 0) * outline.astype(np.int64), SHADE_AT_DARKEST, -DARKEST * FULL)
    return [(outline, f"gem_{gem.lower()}"), (np.minimum(light, outline), "light"), (shade, "shade")]


@lru_cache(maxsize=64)
def _tones(n: int, stone: Stone, radius: float) -> Tones:
    """The facets' tones, averaged where they meet; the rim's tone where there is none."""
    summed = np.zeros((n, n), np.int64)
    for facet in stone.facets:
        part = polygon(n, points=_placed(facet.points, radius * FACETS)).astype(np.int64)
        summed = (summed * (FULL - part) + facet.tone * FULL * part) // FULL
    inside = polygon(n, points=_placed(stone.outline, radius * FACETS)).astype(np.int64)
    return np.rint((summed * inside + RIM * FULL * (FULL - inside)) / (FULL * FULL)).astype(np.int64)


def _mark(n: int, mark: str, radius: float) -> tuple[Coverage, Coverage]:
    """A mark's dark border and its light middle."""
    if mark == BOMB:
        return star(n, radius=0.7 * radius, grow=0.12 * radius), star(n, radius=0.7 * radius)
    length, width, edge = 0.8 * radius, 0.19 * radius, 0.13 * radius

    def bar(more: float) -> Coverage:
        across, down = (length + more, width + more) if mark == ROW else (width + more, length + more)
        return rectangle(n, box=(0.5 - across, 0.5 - down, 0.5 + across, 0.5 + down))

    return bar(edge), bar(0.0)


def _over(tones: Tones, coverage: Coverage, tone: int) -> Tones:
    part = coverage.astype(np.int64)
    return np.rint((tones * (FULL - part) + tone * part) / FULL).astype(np.int64)


def _scaled(values: Tones, times: int, by: int) -> Coverage:
    return ((2 * values * times + by) // (2 * by)).astype(np.uint8)


def _placed(points: tuple[Point, ...], radius: float) -> tuple[Point, ...]:
    return tuple((0.5 + radius * x, 0.5 + radius * y) for x, y in points)


renderer = Jewel2Renderer()
