"""Letters and digits as coverage, cut from masters that travel with the package; no font is ever opened.

A master is one large glyph in 16 levels. Its ink box is scaled to the wanted cap height, each side of the box is
rounded to a whole pixel, and the ink is averaged into that box by area. Rounding the box is what keeps small digits
crisp: stems and bars start on a pixel, and round letters lose the overshoot that would only be a grey haze.

Everything is whole numbers (the matrix products too: floats hold them exactly), so all machines draw the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gamegen.core.errors import BadInput, unknown
from renderers.inks import Coverage
from renderers.png import decode_indexed

MASTER = 192
"""Cap height of the masters in pixels."""

CHARACTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz()+-.,:/=<>?!*#×"
FACES = ("sans", "bold", "serif", "mono", "round", "plain")
MAX_HEIGHT = 1024

_ATLAS = Path(__file__).parent / "atlas"


@dataclass(frozen=True, slots=True)
class Master:
    """One glyph at MASTER: its ink, where the ink starts from the pen and from the cap line, and the pen's advance."""

    ink: Coverage
    left: int
    top: int
    advance: int


@dataclass(frozen=True, slots=True)
class Face:
    """The masters by character, and the advance of a space."""

    masters: Mapping[str, Master]
    space: int


@dataclass(frozen=True, slots=True)
class Box:
    """Where a glyph's ink falls at some height, in whole pixels from the cap line and the pen."""

    top: int
    bottom: int
    width: int

    def overhang(self, height: int) -> int:
        """Rows of ink above the cap line or below the base line, whichever are more."""
        return max(0, -self.top, self.bottom - height)


@lru_cache(maxsize=4096)
def glyph(char: str, *, face: str, height: int) -> Coverage:
    """One character with capitals `height` pixels high; the ink fills the width.

    The middle row of the array is the middle of the capitals, whatever hangs below, so that centring the array in a
    cell puts all characters on one line. For capitals and digits the array is `height` rows high, give or take an
    overshoot.
    """
    master, box = _master(char, face), _box(char, face, height)
    pad = box.overhang(height)
    canvas = np.zeros((height + 2 * pad, box.width), np.uint8)
    canvas[pad + box.top : pad + box.bottom] = _scaled(master.ink, box.bottom - box.top, box.width)
    canvas.flags.writeable = False
    return canvas


@lru_cache(maxsize=4096)
def text(string: str, *, face: str, height: int) -> Coverage:
    """One line of text; the ink fills the width, the rows are as in `glyph`. Spaces are fine, no characters are not."""
    if not string.strip(" "):
        raise BadInput(f"expected text with something to draw, got {string!r}")
    pen, marks = 0, []
    for char in string:
        if char != " ":
            left = _to_pixels(pen + _master(char, face).left, height)
            marks.append((left, glyph(char, face=face, height=height)))
        pen += _advance(char, face)
    first = min(left for left, _ in marks)
    width = max(left + mark.shape[1] for left, mark in marks) - first
    rows = max(mark.shape[0] for _, mark in marks)
    canvas = np.zeros((rows, width), np.uint8)
    for left, mark in marks:
        top = (rows - mark.shape[0]) // 2
        window = canvas[top : top + mark.shape[0], left - first : left - first + mark.shape[1]]
        np.maximum(window, mark, out=window)
    canvas.flags.writeable = False
    return canvas


def _advance(char: str, face: str) -> int:
    return _face(face).space if char == " " else _master(char, face).advance


def _box(char: str, face: str, height: int) -> Box:
    if not 1 <= height <= MAX_HEIGHT:
        raise BadInput(f"expected a cap height of 1 to {MAX_HEIGHT} pixels, got {height!r}")
    master = _master(char, face)
    rows, cols = master.ink.shape
    top = _to_pixels(master.top, height)
    bottom = max(top + 1, _to_pixels(master.top + rows, height))
    return Box(top, bottom, max(1, _to_pixels(cols, height)))


def _to_pixels(length: int, height: int) -> int:
    """A master length at this cap height, rounded to the nearest pixel."""
    return (2 * length * height + MASTER) // (2 * MASTER)


def _scaled(ink: Coverage, rows: int, cols: int) -> Coverage:
    down, across = _weights(ink.shape[0], rows), _weights(ink.shape[1], cols)
    whole = int(down[0].sum()) * int(across[0].sum())
    summed = (down @ ink @ across.T).astype(np.int64)
    return ((2 * summed + whole) // (2 * whole)).astype(np.uint8)


@lru_cache(maxsize=1024)
def _weights(size: int, wanted: int) -> NDArray[np.float64]:
    """How much of each of `size` pixels goes into each of `wanted`, in whole parts, rows of equal sum.

    Shrinking averages by the shared length; enlarging interpolates between the two nearest middles.
    """
    new, old = np.arange(wanted)[:, None], np.arange(size)[None, :]
    if wanted <= size:
        parts = np.minimum((new + 1) * size, (old + 1) * wanted) - np.maximum(new * size, old * wanted)
    else:
        middle = np.clip((2 * new + 1) * size, wanted, (2 * size - 1) * wanted)
        parts = 2 * wanted - np.abs((2 * old + 1) * wanted - middle)
    weights: NDArray[np.float64] = np.maximum(parts, 0).astype(np.float64)
    return weights


def _master(char: str, face: str) -> Master:
    masters = _face(face).masters
    if char not in masters:
        raise BadInput(f"no glyph for {char!r}; there are {CHARACTERS}")
    return masters[char]


@cache
def _face(name: str) -> Face:
    if name not in FACES:
        raise unknown("face", name, FACES)
    sheet, _ = decode_indexed((_ATLAS / f"{name}.png").read_bytes())
    table = json.loads((_ATLAS / f"{name}.json").read_text(encoding="utf-8"))
    masters = {}
    for char, (x, y, width, height, left, top, advance) in table["glyphs"].items():
        masters[char] = Master(sheet[y : y + height, x : x + width], left, top, advance)
    return Face(masters, table["space"])
