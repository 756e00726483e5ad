"""Highlights of cells: coloured frames inside their grid lines, and what beside them is a stain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, lru_cache, partial

import cv2
import numpy as np
from numpy.typing import NDArray

from gamegen.core.cell import Cell
from gamegen.core.errors import UnreadableImage
from gamegen.core.problem import P, Problem
from gamegen.core.rendering import Picture, Pixels, Style
from renderers.board import EDGES, Board, BoardRenderer, Seen, smooth_tiles
from renderers.page import Frame, scaled
from renderers.reading.classify import smooth_board
from renderers.reading.hues import FAINTEST, MARGIN, Levels
from renderers.reading.outlines import Outlines, grown, over_cells, read_outlines
from renderers.reading.pages import Page
from renderers.reading.plain_hues import crossed_cell
from renderers.reading.redrawn import SMALLEST, Redrawn
from renderers.reading.register import AGAIN, WHOLE, Floats, Registration
from renderers.reading.sharpening import sharpness, unsharpened
from renderers.reading.stains import stained_cell
from renderers.reading.tiles import Tiles
from renderers.reading.traces import find_traces

SHARPENED, CRISP = 1.35, 1.1
"""How much harder, on average, edges may be than in the picture that was given, new highlights included; and how much
harder they are wherever a picture was sharpened so much that colours turn."""

SHADOW, SHADOWY, NOISE = 0.2, 0.25, 24.0
"""Share of a side, at its ends, where no shadow of a frame is looked for; the share of a frame's ink that makes one, on
all four sides; and by how many grey levels it may be of another colour."""

MIDDLE, FRINGED = 0.25, 1.08
"""Share of a cell, at its border, where highlights are; and how much harder edges inside of that are in pictures that
were sharpened."""

PLAIN_HUE, CLEAR_HUE = 0.018, 0.07
"""A border must be nearer by so much to its colour than to another (cosine): hue turned by 15 degrees makes orange of
red, by 10 it does not. Sharpening turns the hue of thin lines: then it must be nearer by the second."""

CLEAN = 0.2
"""Share of a cell, at its border, where colour may come from a neighbour's highlight."""

DEEPEST, BESIDE = 0.3, 0.16
"""Share of a cell, from its border, into which its own highlight reaches, and a neighbour's at most: colour farther
inside hides nothing, it is there to be read."""

RINGED, ALONG = 75.0, 0.25
"""Levels by which the sides of a cell without a highlight may all be off in the same way, and the share of each, at its
ends, that does not count. Of 1,069 right answers, perturbed as much as any, one has 67 and the others have at most 37;
half a highlight has 66 and more, even where compression took its colour."""

Draw = Callable[[NDArray[np.intp]], Pixels]
"""Gives the clean picture with highlights of these colours (R, C), -1 for none."""


def draw_frames(
    canvas: Pixels, board: Board, marks: NDArray[np.uint8], colours: Mapping[str, str], *, line: int, width: int
) -> None:
    """Frame the cells (R, C) whose mark is the code of a colour (`colours`: name -> code), `width` pixels wide."""
    frame, n = board.frame, board.frame.cell
    area = canvas[frame.top : frame.bottom, frame.left : frame.right].reshape(frame.rows, n, frame.cols, n)
    for name, code in colours.items():
        rows, cols = np.nonzero(marks == ord(code))
        if len(rows):
            ink = board.inks.solid(name)
            area[rows, line : line + width, cols, line:] = ink
            area[rows, n - width :, cols, line:] = ink
            area[rows, line:, cols, line : line + width] = ink
            area[rows, line:, cols, n - width :] = ink


def frame_width(cell: int, hundredths: int, pixels: int, *, widest: float = 0.012) -> int:
    """The width of a frame in hundredths of the cell, but no wider than a share of the picture."""
    return max(1, min(round(cell * hundredths / 100), round(pixels * widest)))


def read_frames(
    seen: Seen,
    style: Style,
    marks: Floats,
    shades: Floats,
    ground: NDArray[np.intp],
    *,
    faintest: Levels = FAINTEST,
    draw: Draw | None = None,
    tints: Floats | None = None,
) -> Outlines:
    """The highlights on a board, as `read_outlines` sees them.

    If `draw` gives clean pictures with highlights, then those that are in doubt are known by their whole cells.
    """
    frame, sharpened = seen.frame, seen.crispness > SHARPENED
    width, closer = frame_width(frame.cell, style.number("frame"), style.pixels), partial(_closer, seen)
    again = None
    if draw and frame.cell >= SMALLEST:
        again = cache(partial(_redrawn, seen, draw, marks, width))
    return read_outlines(
        smooth_board(seen.board) if sharpened else seen.board,
        marks,
        shades,
        ground,
        width=width / frame.cell,
        closer=closer,
        faintest=faintest,
        lead=CLEAR_HUE if sharpened and _has_fringes(seen) else PLAIN_HUE,
        known=seen.known if again else None,
        again=again,
        tints=tints,
    )


def softened(seen: Seen, draw: Draw, palette: Floats) -> Registration | None:
    """The picture as it was before it was sharpened, in the colours of the palette (P, 3); None if it was not."""
    if seen.crispness <= CRISP or not _has_fringes(seen):
        return None
    (high, wide), rows = seen.board.shape[:2], seen.frame.rows
    given = draw(np.full((rows, rows), -1))

    def lay(picture: Pixels) -> Floats:
        return seen.drift.undo(Registration(place, 1.0, picture).crop(seen.frame.box, (wide, high)))

    found, image = seen.registration.matrix, seen.registration.image
    place = found if np.abs(found - np.eye(3)).max() < AGAIN else np.eye(3)
    amount = sharpness(seen.board, given, lay, rows)
    if not amount:
        return None
    there = Registration(np.linalg.inv(found), 1.0, given).part(WHOLE, (image.shape[1], image.shape[0]))
    return Registration(found, seen.registration.likeness, unsharpened(image, there, amount, palette))


def _closer(seen: Seen) -> Floats:
    """The board in as many pixels as it was drawn in."""
    frame = seen.frame
    return seen.drift.undo(seen.registration.crop(frame.box, (frame.cols * frame.cell, frame.rows * frame.cell)))


def _redrawn(seen: Seen, draw: Draw, marks: Floats, width: int) -> Redrawn:
    """The board and clean ones with borders, so many pixels wide, of the first of the colours (K, 3) and of none."""
    frame = seen.frame
    pictures = [draw(np.full((frame.rows, frame.cols), number)) for number in (0, -1)]
    boards = [picture[frame.top : frame.bottom, frame.left : frame.right] for picture in pictures]
    return Redrawn(_closer(seen), np.stack(boards), marks, frame.rows, width)


def _has_fringes(seen: Seen) -> bool:
    """Whether edges are harder in the middles of cells, too, where no highlight is."""
    rows, n = seen.frame.rows, len(seen.board) // seen.frame.rows
    middle = slice(round(MIDDLE * n), n - round(MIDDLE * n))
    now, before = (
        cv2.norm(
            np.ascontiguousarray(
                cv2.filter2D(part, -1, EDGES).reshape(rows, n, -1, n, 3)[:, middle, :, middle]
            ).reshape(-1),
            cv2.NORM_L1,
        )
        for part in (seen.board, seen.known)
    )
    return bool(now > FRINGED * before)


def demand_no_shadows(seen: Seen, outlines: Outlines, shades: Floats, ground: NDArray[np.intp]) -> None:
    """Raise UnreadableImage if where a cell's frame would be there is a shadow of one, too faint to be a highlight.

    The cells' own colours are `shades` (S, 3), of which `ground` (R, C) numbers each one's.
    """
    (rows, cols), n = ground.shape, len(seen.board) // len(ground)
    along = slice(round(SHADOW * n), round((1 - SHADOW) * n))
    board = seen.board.reshape(rows, n, cols, n, 3)
    sides = [board[:, end, :, along].mean(axis=2) for end in (1, n - 2)]
    sides += [board[:, along, :, end].mean(axis=1) for end in (1, n - 2)]
    drawn = np.stack(sides) - shades[ground]  # (4, R, C, 3)
    if not ((np.abs(drawn).max(axis=3).min(axis=0) > NOISE) & (outlines.colours < 0)).any():
        return
    for mark in outlines.own.marks:
        way = (mark - shades)[ground]  # (R, C, 3)
        share = (drawn * way).sum(axis=3) / (way * way).sum(axis=2)
        off = np.abs(drawn - share[..., None] * way).max(axis=3)
        faint = (share.min(axis=0) > SHADOWY) & (off.max(axis=0) < NOISE) & (outlines.colours < 0)
        if faint.any():
            row, col = np.argwhere(faint)[0]
            raise UnreadableImage(f"the border of cell ({row}, {col}) is so faint that it may not be meant")


def without_ink(seen: Seen, outlines: Outlines) -> Seen:
    """The picture with the ink in highlighted cells replaced by what was there: what it hides is believed unchanged."""
    marked = outlines.colours >= 0
    if not marked.any():
        return seen
    n = seen.board.shape[0] // seen.frame.rows
    deep, shallow = (_rims(seen.frame.rows, seen.frame.cols, n, round(share * n)) for share in (DEEPEST, BESIDE))
    hidden = ((grown(outlines.own.layer(), 1) & deep) | (outlines.ink & shallow)) & over_cells(marked, n)
    return replace(seen, board=cv2.copyTo(seen.known, hidden.view(np.uint8), seen.board.copy()))


@lru_cache(maxsize=64)
def _rims(rows: int, cols: int, n: int, width: int) -> NDArray[np.bool_]:
    """(R*n, C*n): the pixels of all cells that are so near to their cell's border."""
    rim = np.ones((n, n), bool)
    rim[width : n - width, width : n - width] = False
    return np.tile(rim, (rows, cols))


@lru_cache(maxsize=64)
def middles(tiles: Tiles) -> Tiles:
    """Only the middles of tiles, where no highlight reaches."""
    return Tiles(tiles.images, inset=round(CLEAN * tiles.images.shape[1]), meaning=tiles.meaning)


def stain_beside(
    outlines: Outlines,
    plain: Seen,
    symbols: NDArray[np.intp],
    after: Picture,
    *,
    renderer: BoardRenderer[P],
    problem: Problem[P],
    style: Style,
) -> str:
    """As `BoardRenderer.find_stain`, but what highlights drew is no stain.

    `plain` is the picture without their ink, and `after` the clean picture of what was read.
    """
    odd = crossed_cell(outlines.plain, outlines.colours) or ringed_cell(plain, outlines.colours, style)
    if odd is not None:
        return f"cell ({odd.row}, {odd.col})"
    frame = plain.frame
    tiles = smooth_tiles(renderer, style, frame.rows, frame.cols)
    n = tiles.images.shape[1]
    drawn = grown(outlines.ink, MARGIN) | over_cells(outlines.colours >= 0, n)
    by_right = drawn.reshape(frame.rows, n, frame.cols, n).transpose(0, 2, 1, 3)
    changed = symbols != renderer.encode(problem.position, style)
    cell = stained_cell(plain.cells, tiles, symbols, changed, inset=round(CLEAN * n), excused=by_right)
    if cell is not None:
        return f"cell ({cell.row}, {cell.col})"
    marked = changed | (outlines.colours >= 0)
    after = _as_drawn(after, outlines)
    return find_traces(plain.registration, plain.drift, plain.page, after, marked, own_places=False)


def ringed_cell(seen: Seen, colours: NDArray[np.intp], style: Style) -> Cell | None:
    """A cell without a highlight, of these colours (R, C), that has something along all of its sides where one would
    be, though in no colour that can be told."""
    frame, rows, n = seen.frame, seen.frame.rows, len(seen.board) // seen.frame.rows
    line = scaled(style.number("line_width"), style.pixels) / frame.cell * n
    width = frame_width(frame.cell, style.number("frame"), style.pixels) / frame.cell * n
    first, inner, last = max(1, round(line)), round(line + width), n - max(1, round(width))
    near, far, along = (
        slice(first, max(first + 1, inner)),
        slice(last, n),
        slice(round(ALONG * n), n - round(ALONG * n)),
    )
    beyond = (seen.board - seen.known).reshape(rows, n, -1, n, 3)
    sides = [beyond[:, end, :, along].mean(axis=(1, 3)) for end in (near, far)]
    sides += [beyond[:, along, :, end].mean(axis=(1, 3)) for end in (near, far)]
    off = np.stack(sides)  # (4, R, C, 3)
    off -= np.median(off, axis=(1, 2), keepdims=True)  # where lines lean in, they do so in all cells
    way = off.mean(axis=0)
    way /= np.maximum(np.linalg.norm(way, axis=2, keepdims=True), 1.0)
    least = np.where(colours < 0, np.einsum("srcx,rcx->src", off, way).min(axis=0), 0.0)
    where = np.unravel_index(int(least.argmax()), least.shape)
    return Cell(int(where[0]), int(where[1])) if least[where] > RINGED else None


def _as_drawn(after: Picture, outlines: Outlines) -> Picture:
    """A picture with its highlights in the shades that they were drawn in.

    Thin lines look paler than they are: what may be the colour itself, thinly drawn, is left to be that.
    """
    if not len(outlines.own.places):
        return after
    palette = after.palette.copy()
    for mark, shade in zip(outlines.own.marks, outlines.shades, strict=True):
        if np.ptp(shade) > np.ptp(mark):
            palette[(after.palette == mark).all(axis=1)] = shade.round().clip(0, 255)
    return replace(after, palette=palette)


def closely(seen: Seen, n: int) -> Seen:
    """A board in cells of so many pixels, or of as many as the picture has, if these are more."""
    frame = seen.frame
    n = min(frame.cell, n)
    if n * frame.rows <= len(seen.board):
        return seen
    raw = seen.registration.crop(frame.box, (frame.cols * n, frame.rows * n))
    return replace(seen, board=seen.drift.undo(raw), known=known_at(seen.page, frame, n))


def known_at(page: Page, frame: Frame, n: int) -> Floats:
    """(R*n, C*n, 3): the board of a page as it was given, in cells of `n` pixels."""
    picture = page.picture
    board = picture.palette[picture.pixels[frame.top : frame.bottom, frame.left : frame.right]].astype(np.float32)
    return np.asarray(cv2.resize(board, (frame.cols * n, frame.rows * n), interpolation=cv2.INTER_AREA))
